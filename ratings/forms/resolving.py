"""An adjudicator's decision: a level of the criterion, or none, and why."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

UNDECIDED = "none"


class DecisionForm(forms.Form):
    score = forms.ChoiceField(
        widget=forms.RadioSelect,
        label=_("Decision"),
        error_messages={"required": _("Choose a level, or say that it cannot be decided.")},
    )
    reason = forms.CharField(
        max_length=4000,
        label=_("Why"),
        widget=forms.Textarea(attrs={"rows": 4}),
        error_messages={"required": _("Write the reason; one sentence is enough.")},
    )

    def __init__(self, *args: Any, levels: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        undecided = (UNDECIDED, _("It cannot be decided"))
        self.fields["score"].choices = [*levels, undecided]  # type: ignore[attr-defined]

    def clean_score(self) -> float | None:
        given = self.cleaned_data["score"]
        return None if given == UNDECIDED else float(given)
