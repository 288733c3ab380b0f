from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ratings", "0004_practice_comes_first")]
    operations = [
        # Files in waiting said where they belong in their kind; none of them lives for a day.
        migrations.RunSQL("DELETE FROM ratings_upload", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="upload",
            name="parameters",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="upload",
            name="result",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="upload",
            name="finished_at",
            field=models.DateTimeField(null=True),
        ),
    ]
