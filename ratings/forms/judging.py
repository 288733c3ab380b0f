"""Judges' forms: consent, flags, and the rating page's posted fields."""

from collections.abc import Mapping

from django import forms
from django.utils.translation import gettext_lazy as _

from ratings.models import Consent, Flag
from ratings.services.answers import CANNOT, is_field
from ratings.services.judging import Change

_AGREE = _("Tick this box to start, or choose «Not now».")


class ConsentForm(forms.Form):
    information = forms.BooleanField(error_messages={"required": _AGREE})
    independence = forms.BooleanField(error_messages={"required": _AGREE})
    conflicts_declared = forms.BooleanField(error_messages={"required": _AGREE})
    conflicts = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))
    exposure = forms.ChoiceField(
        choices=Consent.Exposure.choices,
        widget=forms.RadioSelect,
        error_messages={"required": _("Choose one of the three answers.")},
    )


class FlagForm(forms.Form):
    kind = forms.ChoiceField(choices=Flag.Kind.choices)
    note = forms.CharField(required=False, max_length=4000)


def posted_changes(data: Mapping[str, str]) -> dict[str, Change]:
    """Return the rating fields of a form post; `was-<field>` is what the page was made with."""
    names = {name for name in data if is_field(name)}
    names |= {name.removeprefix("was-") for name in data if is_field(name.removeprefix("was-"))}
    return {
        name: Change(_lines(data.get(f"was-{name}", "")), _lines(_value(data, name)))
        for name in names
    }


def _value(data: Mapping[str, str], name: str) -> str:
    """The page has two radio groups, so that Tab reaches the reasons; they are one answer."""
    value = data.get(name, "")
    if name.endswith("-answer") and value == "cannot":
        return CANNOT + data.get(name.removesuffix("answer") + "reason", "")
    return value


def sent_changes(fields: Mapping[str, object]) -> dict[str, Change]:
    """Return the rating fields of a script's save: `{name: [initial, value]}`."""
    changes = {}
    for name, pair in fields.items():
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(p, str) for p in pair):
            changes[name] = Change(_lines(pair[0]), _lines(pair[1]))
    return changes


def _lines(text: str) -> str:
    """Browsers post line ends as CR LF; texts are kept with LF. NUL cannot be stored."""
    return text.replace("\r\n", "\n").replace("\0", "")
