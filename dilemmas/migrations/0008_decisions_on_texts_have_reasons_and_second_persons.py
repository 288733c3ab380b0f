import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from dilemmas.guards import AlterGuarded, InstallGuards, dilemmas_guards


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("dilemmas", "0007_responses_keep_other_columns"),
    ]
    operations = [
        AlterGuarded(
            [
                migrations.AddField(
                    model_name="blinding",
                    name="finder",
                    field=models.CharField(blank=True, default="", max_length=40),
                    preserve_default=False,
                ),
                migrations.AddField(
                    model_name="blinding",
                    name="reason",
                    field=models.TextField(blank=True, default=""),
                    preserve_default=False,
                ),
                migrations.AlterField(
                    model_name="blinding",
                    name="state",
                    field=models.CharField(
                        choices=[
                            ("clean", "Clean"),
                            ("held", "Held"),
                            ("edited", "Edited"),
                            ("accepted", "Accepted"),
                            ("held_back", "Held Back"),
                        ],
                        max_length=10,
                    ),
                ),
                migrations.RemoveConstraint(model_name="blinding", name="known_blinding_state"),
                migrations.AddConstraint(
                    model_name="blinding",
                    constraint=models.CheckConstraint(
                        condition=models.Q(
                            state__in=("clean", "held", "edited", "accepted", "held_back")
                        ),
                        name="known_blinding_state",
                    ),
                ),
                migrations.AddConstraint(
                    model_name="blinding",
                    constraint=models.CheckConstraint(
                        condition=~models.Q(state="held_back") | ~models.Q(reason=""),
                        name="held_back_for_a_reason",
                    ),
                ),
                migrations.AddField(
                    model_name="rubric",
                    name="author",
                    field=models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ]
        ),
        migrations.CreateModel(
            name="BlindingConfirmation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("actor", models.CharField(max_length=32)),
                ("at", models.DateTimeField()),
                (
                    "blinding",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="confirmation",
                        to="dilemmas.blinding",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=~models.Q(actor=""), name="confirmed_by_somebody"
                    ),
                ],
            },
        ),
        InstallGuards(dilemmas_guards),
    ]
