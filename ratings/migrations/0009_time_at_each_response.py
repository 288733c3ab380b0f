from django.db import migrations, models

from dilemmas.guards import AlterGuarded


class Migration(migrations.Migration):
    dependencies = [("ratings", "0008_answers_without_a_score_are_found")]
    operations = [
        AlterGuarded(
            [
                migrations.AddField(
                    model_name="draft",
                    name="active_ms",
                    field=models.PositiveBigIntegerField(default=0),
                ),
                migrations.AddField(
                    model_name="submission",
                    name="opened_at",
                    field=models.DateTimeField(null=True),
                ),
                migrations.AddField(
                    model_name="submission",
                    name="active_ms",
                    field=models.PositiveBigIntegerField(null=True),
                ),
            ]
        ),
    ]
