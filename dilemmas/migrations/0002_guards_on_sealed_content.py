from django.db import migrations

from dilemmas.guards import InstallGuards, dilemmas_guards


class Migration(migrations.Migration):
    dependencies = [("dilemmas", "0001_first_tables")]
    operations = [InstallGuards(dilemmas_guards)]
