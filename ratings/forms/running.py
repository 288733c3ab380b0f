"""Forms of an open panel: a reason, and an answer to a judge's note."""

from django import forms
from django.utils.translation import gettext_lazy as _

from ratings.models import FlagReply


class ReasonForm(forms.Form):
    reason = forms.CharField(max_length=2000, label=_("Reason"))


class ReminderRuleForm(forms.Form):
    days = forms.IntegerField(
        min_value=0,
        max_value=60,
        label=_("Days of silence"),
        help_text=_("From 7 to 60; 0 is never."),
    )


class ReplyForm(forms.Form):
    state = forms.ChoiceField(
        choices=[
            (FlagReply.State.ANSWERED, _("Answered")),
            (FlagReply.State.LOOKING, _("Somebody looks at it")),
            (FlagReply.State.SETTLED, _("Settled, nothing to say")),
        ],
        label=_("State"),
    )
    text = forms.CharField(
        required=False,
        max_length=4000,
        label=_("To the judge"),
        help_text=_(
            "Only this judge reads it. What all should know is a clarification. Say nothing of "
            "scores, conditions or other judges."
        ),
        widget=forms.Textarea(attrs={"rows": 2}),
    )
