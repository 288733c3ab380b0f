from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from awb_panel.accounts.models import User
from ratings.views.entering import owner_token


class Command(BaseCommand):
    help = "Print the one-time address that makes the first owner, while there is none."

    def handle(self, *args: Any, **options: Any) -> None:
        if User.objects.filter(is_owner=True).exists():
            self.stdout.write("There is an owner already. Sign in at " + settings.SITE_URL)
            return
        address = f"{settings.SITE_URL}/installation/owner/{owner_token()}/"
        self.stdout.write(f"Make yourself the owner (valid for a day): {address}")
