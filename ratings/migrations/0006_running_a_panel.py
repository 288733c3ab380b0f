import django.db.models.deletion
from django.db import migrations, models

from dilemmas.guards import InstallGuards
from ratings.guards import ratings_guards


class Migration(migrations.Migration):
    dependencies = [
        ("dilemmas", "0008_decisions_on_texts_have_reasons_and_second_persons"),
        ("ratings", "0005_imports_run_as_jobs"),
    ]

    operations = [
        migrations.CreateModel(
            name="FlagReply",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("looking", "Looking"),
                            ("answered", "Answered"),
                            ("settled", "Settled"),
                        ],
                        max_length=10,
                    ),
                ),
                ("text", models.TextField(blank=True)),
                ("actor", models.CharField(blank=True, max_length=32)),
                ("at", models.DateTimeField()),
                (
                    "flag",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="replies",
                        to="ratings.flag",
                    ),
                ),
            ],
            options={
                "ordering": ("flag", "id"),
            },
        ),
        migrations.CreateModel(
            name="Reopening",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("after_number", models.PositiveIntegerField()),
                ("reason", models.TextField()),
                ("actor", models.CharField(blank=True, max_length=32)),
                ("at", models.DateTimeField()),
                (
                    "slot",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reopenings",
                        to="ratings.slot",
                    ),
                ),
            ],
            options={
                "ordering": ("slot", "id"),
            },
        ),
        migrations.CreateModel(
            name="Replacement",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "judge",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="replacement_of",
                        to="ratings.judge",
                    ),
                ),
                (
                    "left_by",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="replaced_by",
                        to="ratings.judge",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Withdrawal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("reason", models.TextField()),
                ("actor", models.CharField(blank=True, max_length=32)),
                ("at", models.DateTimeField()),
                (
                    "panel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="withdrawals",
                        to="ratings.panel",
                    ),
                ),
                (
                    "response",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="withdrawals",
                        to="dilemmas.response",
                    ),
                ),
            ],
            options={
                "ordering": ("panel", "id"),
                "constraints": [
                    models.UniqueConstraint(fields=("panel", "response"), name="one_withdrawal"),
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True),
                        name="withdrawn_for_a_reason",
                    ),
                ],
            },
        ),
        InstallGuards(ratings_guards),
    ]
