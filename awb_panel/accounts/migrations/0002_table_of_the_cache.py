from django.core.management import call_command
from django.db import migrations


def create(apps, schema_editor):
    """Rate limits live in the cache, and the cache in the database, shared by all processes."""
    call_command("createcachetable", database=schema_editor.connection.alias, verbosity=0)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_first_tables")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
