from django.db import migrations, models

from dilemmas.guards import AlterGuarded


class Migration(migrations.Migration):
    dependencies = [("dilemmas", "0004_criteria_name_the_levels_of_their_boundary")]
    operations = [
        AlterGuarded(
            [
                migrations.AddField(
                    model_name="rubrictext",
                    name="instructions",
                    field=models.TextField(blank=True, default=""),
                    preserve_default=False,
                ),
            ]
        ),
    ]
