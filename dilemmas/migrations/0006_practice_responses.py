from django.db import migrations, models

from dilemmas.guards import AlterGuarded

_KINDS = ("response", "control", "practice")


class Migration(migrations.Migration):
    dependencies = [("dilemmas", "0005_rubrics_have_instructions")]
    operations = [
        AlterGuarded(
            [
                migrations.RemoveConstraint(model_name="response", name="known_response_kind"),
                migrations.AlterField(
                    model_name="response",
                    name="kind",
                    field=models.CharField(
                        choices=[(kind, kind.capitalize()) for kind in _KINDS],
                        default="response",
                        max_length=10,
                    ),
                ),
                migrations.AddConstraint(
                    model_name="response",
                    constraint=models.CheckConstraint(
                        condition=models.Q(kind__in=_KINDS), name="known_response_kind"
                    ),
                ),
            ]
        )
    ]
