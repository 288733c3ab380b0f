from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from awb_panel.accounts.models import User
from ratings import words
from ratings.services.erasing import erase
from ratings.services.errors import Refused


class Command(BaseCommand):
    help = "Erase a person: address, language, sign-in. What they rated stays under their code."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("email")
        parser.add_argument("--yes", action="store_true", help="do it; without, only say what")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email=options["email"].strip().lower()).first()
        if user is None:
            raise CommandError("There is nobody with this address.")
        seats = ", ".join(f"{seat.panel.slug} {seat.code}" for seat in user.judges.all())
        if not options["yes"]:
            self.stdout.write(f"Would erase {user.email}; seats: {seats or 'none'}. Add --yes.")
            return
        try:
            erased = erase(user=user, actor="", at=timezone.now())
        except Refused as refused:
            raise CommandError(words.sentence(refused)) from refused
        self.stdout.write(
            f"Erased. Seats kept under their codes: {erased.seats}; invitations without an "
            f"address now: {erased.invitations}."
        )
