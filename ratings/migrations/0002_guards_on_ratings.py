from django.db import migrations

from dilemmas.guards import InstallGuards
from ratings.guards import ratings_guards


class Migration(migrations.Migration):
    dependencies = [
        ("ratings", "0001_first_tables"),
        ("dilemmas", "0002_guards_on_sealed_content"),
    ]
    operations = [InstallGuards(ratings_guards)]
