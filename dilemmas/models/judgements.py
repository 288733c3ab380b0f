"""Scores by a model judge or any automatic measure: imported, never computed here."""

from django.db import models

from dilemmas.models.responses import Response


class ModelJudgement(models.Model):
    """One score of one repetition; any real number, or none where the judge gave none."""

    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="judgements")
    judge = models.CharField(max_length=200)
    repetition = models.PositiveIntegerField(default=1)
    criterion = models.CharField(max_length=100)
    score = models.FloatField(null=True)
    reason = models.TextField(blank=True)
    model_version = models.CharField(max_length=200, blank=True)
    prompt_sha256 = models.CharField(max_length=64, blank=True)
    text_sha256 = models.CharField(max_length=64, blank=True)
    judged_on = models.CharField(max_length=40, blank=True)
    sealed_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("response", "judge", "repetition", "criterion"), name="one_model_judgement"
            ),
        )

    def __str__(self) -> str:
        return f"{self.judge} {self.criterion}"
