from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email
from django.forms import ValidationError
from django.utils import timezone

from ratings.services.errors import Refused
from ratings.services.invitations import create_owner


class Command(BaseCommand):
    help = "Make an address the owner of this installation (creates panels, sees no scores)."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            validate_email(options["email"])
            owner = create_owner(email=options["email"], at=timezone.now())
        except ValidationError:
            raise CommandError(f"{options['email']} is not an e-mail address.") from None
        except Refused:
            raise CommandError("This person judges a panel, so cannot be the owner.") from None
        self.stdout.write(f"{owner.email} is an owner. Sign in with a code sent to that address.")
