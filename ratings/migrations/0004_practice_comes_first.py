from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("ratings", "0003_evidence_clarifications_and_guesses")]
    operations = [
        migrations.AlterModelOptions(
            name="batch", options={"ordering": ("judge", "-phase", "number")}
        ),
    ]
