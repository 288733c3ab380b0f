from django.db import migrations, models

from dilemmas.guards import AlterGuarded


class Migration(migrations.Migration):
    dependencies = [("dilemmas", "0002_guards_on_sealed_content")]
    operations = [
        AlterGuarded(
            [
                migrations.AddField(
                    model_name="dilemmatext",
                    name="actors",
                    field=models.TextField(blank=True),
                ),
                migrations.AddField(
                    model_name="dilemmatext",
                    name="costs",
                    field=models.TextField(blank=True),
                ),
                migrations.AddField(
                    model_name="dilemmaversion",
                    name="required_axes",
                    field=models.JSONField(blank=True, default=list),
                ),
                migrations.AddField(
                    model_name="dilemmaversion",
                    name="required_components",
                    field=models.JSONField(blank=True, default=list),
                ),
            ]
        ),
    ]
