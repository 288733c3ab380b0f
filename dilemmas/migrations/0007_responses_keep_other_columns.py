from django.db import migrations, models

from dilemmas.guards import AlterGuarded


class Migration(migrations.Migration):
    dependencies = [("dilemmas", "0006_practice_responses")]
    operations = [
        AlterGuarded(
            [
                migrations.AddField(
                    model_name="responsepart",
                    name="extra",
                    field=models.JSONField(blank=True, default=dict),
                ),
            ]
        ),
    ]
