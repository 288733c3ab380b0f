from django.db import migrations, models

from dilemmas.guards import AlterGuarded


class Migration(migrations.Migration):
    dependencies = [("dilemmas", "0003_dilemmas_say_actors_costs_and_masks")]
    operations = [
        AlterGuarded(
            [
                migrations.AddField(
                    model_name="criterion",
                    name="boundary_lower",
                    field=models.FloatField(null=True),
                ),
                migrations.AddField(
                    model_name="criterion",
                    name="boundary_upper",
                    field=models.FloatField(null=True),
                ),
            ]
        ),
    ]
