"""Coordinators' forms: strings become domain values; nothing is written here."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.core.validators import validate_email
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from awb_panel.accounts.models import User
from dilemmas.models import Collection, ResponseSet, RubricVersion
from dilemmas.services.reading import ImportRefused
from ratings.models.people import Role
from ratings.services.invitations import Guest
from ratings.services.protocols import (
    DEFAULTS,
    LONGEST_DECLARATION,
    MARKDOWN,
    MOST_REPEATS,
    ORDERS,
    RATIONALES,
)
from ratings.services.studies import RESERVED, parse_scale

_LANGUAGES = settings.LANGUAGES


class PanelForm(forms.Form):
    title = forms.CharField(max_length=200, label=_("Title"))
    slug = forms.SlugField(
        max_length=80,
        required=False,
        label=_("Address"),
        help_text=_(
            "Small letters, figures and hyphens, as part of the panel's address. If you leave it "
            "empty, it is made from the title."
        ),
    )
    response_set = forms.ModelChoiceField(ResponseSet.objects.none(), label=_("Responses"))
    rubric_version = forms.ModelChoiceField(RubricVersion.objects.none(), label=_("Rubric"))
    content_language = forms.ChoiceField(
        choices=_LANGUAGES,
        label=_("Language of the texts"),
        help_text=_("Judges read dilemmas, responses and rubric in this language."),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sets = ResponseSet.objects.filter(uploader=user).order_by("-created_at")
        self.fields["response_set"].queryset = sets  # type: ignore[attr-defined]
        rubrics = RubricVersion.objects.exclude(rubric__code__startswith="study-")
        self.fields["rubric_version"].queryset = rubrics.select_related("rubric")  # type: ignore[attr-defined]
        self.fields["rubric_version"].label_from_instance = (  # type: ignore[attr-defined]
            lambda version: f"{version.rubric.code} {version.number}"
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "slug" in cleaned and "title" in cleaned:
            cleaned["slug"] = (cleaned["slug"] or slugify(cleaned["title"])[:80]).strip("-_")
            if not cleaned["slug"]:
                self.add_error("slug", _("Write an address: the title has no letter for one."))
            elif cleaned["slug"] in RESERVED:
                message = _("There is another panel with this address. Choose another one.")
                self.add_error("slug", message)
        return cleaned


class ImportForm(forms.Form):
    kind = forms.ChoiceField(
        choices=[
            ("dilemmas", _("Dilemmas")),
            ("responses", _("Responses")),
            ("rubric", _("Rubric")),
            ("judgements", _("Scores by a model judge")),
        ],
        label=_("What is in the file?"),
    )
    file = forms.FileField(label=_("File (CSV, JSON, JSONL or XLSX)"), max_length=255)
    target = forms.CharField(
        max_length=100,
        required=False,
        label=_("Name"),
        help_text=_("Dilemmas: of their collection. Responses and scores: of the response set."),
    )
    collection = forms.ModelChoiceField(
        Collection.objects.exclude(name__startswith="study:").order_by("name"),
        required=False,
        to_field_name="name",
        empty_label=_("the one that has these codes"),
        label=_("Collection of the dilemmas"),
        help_text=_("For responses, and only if more than one collection has these codes."),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("kind") != "rubric" and not cleaned.get("target", "").strip():
            self.add_error("target", _("Give a name."))
        return cleaned


class StudyForm(forms.Form):
    """A study that was rated elsewhere: its files, and what it is called."""

    items = forms.FileField(label=_("Items"), max_length=255)
    ratings = forms.FileField(label=_("Ratings"), max_length=255)
    judgements = forms.FileField(
        required=False, label=_("Scores by model judges, if there are any"), max_length=255
    )
    title = forms.CharField(max_length=200, label=_("Title"))
    slug = forms.SlugField(
        max_length=80,
        required=False,
        label=_("Address"),
        help_text=_(
            "Small letters, figures and hyphens, as part of the panel's address. If you leave it "
            "empty, it is made from the title."
        ),
    )
    scale = forms.CharField(
        max_length=4_000,
        label=_("Scale"),
        help_text=_("The lowest and the highest level, as in 1-5; or all of them: 0,0.5,1."),
    )

    def clean_scale(self) -> str:
        scale: str = self.cleaned_data["scale"]
        try:
            parse_scale(scale)
        except ImportRefused:
            message = _("Write the lowest and the highest level: 1-5.")
            raise forms.ValidationError(message) from None
        return scale

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "slug" in cleaned and "title" in cleaned:
            cleaned["slug"] = (cleaned["slug"] or slugify(cleaned["title"])[:80]).strip("-_")
            if not cleaned["slug"]:
                self.add_error("slug", _("Write an address: the title has no letter for one."))
        return cleaned


class ClarificationForm(forms.Form):
    text = forms.CharField(
        label=_("To all judges"),
        max_length=4000,
        help_text=_("In the language of the panel's texts. Name no response and no condition."),
        widget=forms.Textarea(attrs={"rows": 5}),
        error_messages={"required": _("Write what you want to say.")},
    )


def _declared(label: Any, help_text: Any) -> forms.CharField:
    """A field for what only people know: free text, which may stay empty."""
    return forms.CharField(
        required=False,
        max_length=LONGEST_DECLARATION,
        label=label,
        help_text=help_text,
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class ProtocolForm(forms.Form):
    # Four questions are asked; the rest lies in groups, each a title and its fields.
    GROUPS = (
        (
            _("The study"),
            ("estimand", "population", "hypotheses", "contrasts", "margin", "tests",
             "previous_round", "what_changed"),
        ),
        (
            _("The judges"),
            ("judges_planned", "judges_qualification", "recruitment", "judges_language", "pay",
             "relation", "training"),
        ),
        (
            _("What judges read"),
            ("markdown", "batch_size", "judges_per_response", "practice", "repeats", "guesses"),
        ),
        (_("Who answers for it"), ("controller", "contact", "key_holder", "consent_text")),
        (
            _("What else was decided"),
            ("publish_missed", "two_person_blinding", "adjudication_from", "adjudication_named"),
        ),
    )  # fmt: skip

    policy = forms.ChoiceField(
        choices=[("literal", ""), ("ordinal", ""), ("h1", "")],
        widget=forms.RadioSelect,
        error_messages={"required": _("Choose one of the rules.")},
    )
    rationales = forms.ChoiceField(
        choices=[(value, value) for value in RATIONALES], widget=forms.RadioSelect
    )
    order = forms.ChoiceField(
        choices=[(value, value) for value in ORDERS], widget=forms.RadioSelect, required=False
    )
    markdown = forms.ChoiceField(
        choices=[(value, value) for value in MARKDOWN],
        widget=forms.RadioSelect,
        required=False,
    )
    publish_missed = forms.BooleanField(
        required=False,
        label=_(
            "If the requirement is missed, the result may be shown as a missed requirement (never as V1)."
        ),
    )
    two_person_blinding = forms.BooleanField(
        required=False,
        label=_(
            "Every decision on a text that may tell its condition is confirmed by a second coordinator."
        ),
    )
    adjudication_from = forms.FloatField(
        required=False,
        min_value=0,
        label=_("Differences to be resolved after closing, from"),
        help_text=_(
            "Where two judges' scores on a criterion lie so far apart or further, adjudicators "
            "decide, blind to the condition. What they decide stands beside the scores and enters "
            "no figure. Empty: nothing is resolved."
        ),
    )
    adjudication_named = forms.BooleanField(
        required=False, label=_("Adjudicators know which judge gave which score.")
    )
    judges_planned = forms.IntegerField(min_value=2, max_value=300, label=_("Judges planned"))
    judges_qualification = forms.CharField(
        required=False, max_length=2000, label=_("Their qualification")
    )
    judges_per_response = forms.IntegerField(
        min_value=2,
        max_value=300,
        required=False,
        label=_("Judges for each response"),
        help_text=_(
            "If you leave it empty, every judge reads everything. Otherwise whole dilemmas are "
            "given out, so that all judges read as much and share as many dilemmas with each other."
        ),
    )
    repeats = forms.IntegerField(
        min_value=0,
        max_value=MOST_REPEATS,
        required=False,
        label=_("Responses served twice"),
        help_text=_(
            "How many each judge reads again, at least 60 slots later, to see how far one agrees "
            "with oneself. The first time is the one that counts."
        ),
    )
    practice = forms.BooleanField(
        required=False,
        label=_("Begin with the practice responses"),
        help_text=_(
            "If the imported responses include some of the kind «practice», each judge rates them "
            "first, apart; they count nowhere."
        ),
    )
    batch_size = forms.IntegerField(min_value=1, max_value=200, label=_("Responses in a batch"))
    guesses = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=30,
        label=_("Responses whose condition each judge is asked to guess at the end"),
        help_text=_(
            "After the last batch is locked. It measures how well the panel was blinded; 0 asks "
            "nothing."
        ),
    )
    ends_on = forms.DateField(
        required=False, label=_("Planned end"), widget=forms.DateInput(attrs={"type": "date"})
    )
    controller = forms.CharField(
        required=False, max_length=300, label=_("Responsible for the data")
    )
    contact = forms.EmailField(required=False, label=_("Contact"))
    margin = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        label=_("Margin of these differences"),
        help_text=_(
            "The least difference of means that would matter, as a share of the rubric's maximum: "
            "0.05, for example. Empty: none is registered."
        ),
    )
    estimand = _declared(
        _("What is to be estimated"),
        _("For whom, of what, compared with what: the quantity that the panel is held for."),
    )
    population = _declared(
        _("Target population"),
        _("Which judges and which texts the result is meant to speak of."),
    )
    hypotheses = _declared(_("Hypotheses"), _("As they will be tested; empty if there are none."))
    tests = _declared(
        _("Families of tests"),
        _("Within which tests are corrected together. Registered differences are one (Holm)."),
    )
    recruitment = _declared(_("How judges are found"), _("Where, by whom, with what invitation."))
    judges_language = _declared(
        _("The judges' language"), _("And how well they must know the texts'.")
    )
    pay = _declared(_("The judges' pay"), _("How much, for what, and whatever the result."))
    relation = _declared(
        _("The judges' relation to the authors"), _("To who built or runs what is judged.")
    )
    training = _declared(_("The judges' training"), _("What judges are given before they rate."))
    key_holder = _declared(
        _("Who holds the condition key"), _("Who can know which response is of which condition.")
    )
    previous_round = forms.ChoiceField(
        required=False,
        label=_("Earlier round"),
        help_text=_("A closed panel of yours that this one follows. Its verdict is printed here."),
    )
    what_changed = _declared(
        _("What changed since the earlier round"), _("And why: rubric, texts, judges, order.")
    )
    consent_text = _declared(
        _("Own text of the consent page"),
        _(
            "What judges agree to beyond the standard text, in the panel's language: the ethics "
            "committee's reference, for example. It counts as a version of the consent."
        ),
    )
    contrasts = forms.CharField(
        required=False,
        label=_("Registered differences between conditions"),
        help_text=_("One a line, as in: E - A. Others are shown as exploration only."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(
        self,
        *args: Any,
        conditions: Sequence[str],
        rounds: Sequence[tuple[str, str]] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.fields["previous_round"].choices = [("", _("none")), *rounds]  # type: ignore[attr-defined]
        self.conditions = conditions

    def groups(self) -> list[dict[str, Any]]:
        """Return the groups with their bound fields; one with an error is open."""
        return [
            {
                "title": title,
                "fields": [self[name] for name in names],
                "is_open": any(self[name].errors for name in names),
            }
            for title, names in self.GROUPS
        ]

    def clean_guesses(self) -> int:
        return self.cleaned_data["guesses"] or 0

    def clean_order(self) -> str:
        """Leave the order as it is if none was chosen: a draft may have one that is not offered."""
        return self.cleaned_data["order"] or self.get_initial_for_field(
            self.fields["order"], "order"
        )

    def clean_repeats(self) -> int:
        return self.cleaned_data["repeats"] or 0

    def clean_markdown(self) -> str:
        return self.cleaned_data["markdown"] or DEFAULTS["markdown"]

    def clean_ends_on(self) -> str:
        given = self.cleaned_data["ends_on"]
        if given and given < timezone.localdate():
            raise forms.ValidationError(_("This day is over. Choose a later one."))
        return given.isoformat() if given else ""

    def clean_contrasts(self) -> list[list[str]]:
        pairs = []
        for line in self.cleaned_data["contrasts"].splitlines():
            if not line.strip():
                continue
            pair = [part.strip() for part in line.replace("−", " - ").split(" - ")]
            if len(pair) != 2 or any(part not in self.conditions for part in pair):
                raise forms.ValidationError(
                    _("«%(line)s» is not a difference of two of: %(names)s."),
                    params={"line": line.strip(), "names": ", ".join(self.conditions)},
                )
            pairs.append(pair)
        return pairs


class InvitationListForm(forms.Form):
    """Many judges at once: a line each, pasted from a spreadsheet or written."""

    people = forms.CharField(
        max_length=60_000,
        label=_("A line for each judge"),
        help_text=_(
            "E-mail address; profession; greeting; language of the e-mail (ca, es or en). Only the "
            "address is needed. Separate with semicolons or tabs, or paste cells of a spreadsheet."
        ),
        widget=forms.Textarea(attrs={"rows": 6}),
        error_messages={"required": _("Write a line for each judge.")},
    )
    language = forms.ChoiceField(choices=_LANGUAGES, label=_("Where a line names no language"))

    def clean_people(self) -> list[Guest]:
        """Read the lines; every one that cannot be read is named."""
        guests: list[Guest] = []
        errors: list[str] = []
        seen: dict[str, int] = {}
        for number, line in enumerate(self.cleaned_data["people"].splitlines(), start=1):
            if not line.strip():
                continue
            separator = "\t" if "\t" in line else ";"
            email, profession, greeting, language = [
                *(cell.strip() for cell in line.split(separator)), "", "", "", "",
            ][:4]  # fmt: skip
            try:
                validate_email(email)
            except forms.ValidationError:
                errors.append(
                    _("Line %(line)s: «%(text)s» is no e-mail address.")
                    % {"line": number, "text": email[:80]}
                )
                continue
            if language and language not in dict(_LANGUAGES):
                errors.append(
                    _("Line %(line)s: the language is ca, es or en, not «%(text)s».")
                    % {"line": number, "text": language[:20]}
                )
            if email.lower() in seen:
                errors.append(
                    _("Line %(line)s: the same address stands on line %(first)s.")
                    % {"line": number, "first": seen[email.lower()]}
                )
            seen.setdefault(email.lower(), number)
            guests.append(Guest(number, email, profession[:100], greeting[:200], language))
        if errors:
            raise forms.ValidationError(errors)
        return guests


class DepositForm(forms.Form):
    """Where the registration was deposited: a registry's page."""

    address = forms.URLField(
        max_length=500,
        assume_scheme="https",
        label=_("Its address there"),
        help_text=_("For example https://osf.io/… or https://doi.org/…"),
    )


class InvitationForm(forms.Form):
    email = forms.EmailField(max_length=254, label=_("E-mail address"))
    role = forms.ChoiceField(
        choices=[
            (Role.JUDGE.value, _("Judge")),
            (Role.OBSERVER.value, _("Observer")),
            (Role.ADJUDICATOR.value, _("Adjudicator")),
            (Role.COORDINATOR.value, _("Coordinator")),
        ],
        label=_("Role"),
    )
    profession = forms.CharField(required=False, max_length=100, label=_("Profession"))
    greeting = forms.CharField(
        required=False,
        max_length=200,
        label=_("Greeting"),
        help_text=_("As you would write it: Dear Dr Puig."),
    )
    language = forms.ChoiceField(choices=_LANGUAGES, label=_("Language of the e-mail"))
