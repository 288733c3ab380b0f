"""The rubric editor's forms: what is typed becomes a document; what is wrong in it, a field's error."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from django import forms
from django.conf import settings
from django.forms.boundfield import BoundField
from django.utils.text import slugify
from django.utils.translation import gettext as now
from django.utils.translation import gettext_lazy as _

from dilemmas.models import RubricVersion
from dilemmas.services.rubric_documents import (
    Document,
    RubricProblem,
    language_name,
    texts_in,
    value_text,
)

MOST_LEVELS = 101
KINDS = {
    "ordinal": _("Levels in order"),
    "yes_no": _("Yes or no"),
    "choice": _("A choice without order"),
    "number": _("A number"),
    "tag": _("Yes or no, with a quotation"),
}
SCOPES = {"whole": _("The whole response"), "part": _("Each stage by itself")}


class NewRubricForm(forms.Form):
    code = forms.SlugField(
        max_length=100,
        label=_("Code"),
        help_text=_(
            "Small letters, figures and hyphens. It names the rubric in files and reports."
        ),
    )
    title = forms.CharField(max_length=300, label=_("Title"))
    languages = forms.MultipleChoiceField(
        choices=settings.LANGUAGES,
        label=_("Languages"),
        widget=forms.CheckboxSelectMultiple,
        help_text=_("In which judges may read it. A panel has one of them."),
    )
    like = forms.ModelChoiceField(
        RubricVersion.objects.none(),
        required=False,
        label=_("Start from"),
        empty_label=_("An empty rubric"),
    )

    def __init__(self, *args: Any, versions: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["like"].queryset = versions  # type: ignore[attr-defined]
        self.fields["like"].label_from_instance = name_of  # type: ignore[attr-defined]

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"].lower()
        if code.startswith("study-"):
            raise forms.ValidationError(
                _("Codes that begin with «study-» are for imported studies.")
            )
        return code


class RubricChoiceForm(forms.Form):
    rubric_version = forms.ModelChoiceField(RubricVersion.objects.none(), label=_("Rubric"))

    def __init__(self, *args: Any, versions: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["rubric_version"].queryset = versions  # type: ignore[attr-defined]
        self.fields["rubric_version"].label_from_instance = name_of  # type: ignore[attr-defined]


def name_of(version: RubricVersion) -> str:
    return " · ".join(filter(None, (f"{version.rubric.code} {version.number}", version.label)))


class NewCriterionForm(forms.Form):
    name = forms.CharField(max_length=200, label=_("Name"))
    key = forms.CharField(
        max_length=100,
        required=False,
        label=_("Key"),
        help_text=_(
            "Letters, figures and hyphens, as in files and reports. If you leave it empty, it is "
            "made from the name."
        ),
    )
    lowest = forms.IntegerField(min_value=-1000, max_value=1000, label=_("Lowest level"))
    highest = forms.IntegerField(min_value=-1000, max_value=1000, label=_("Highest level"))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "name" in cleaned and "key" in cleaned and not cleaned["key"].strip():
            cleaned["key"] = slugify(cleaned["name"])[:100]
        if "lowest" in cleaned and "highest" in cleaned:
            steps = cleaned["highest"] - cleaned["lowest"]
            if not 1 <= steps < MOST_LEVELS:
                message = _(
                    "The highest level is above the lowest: 2 levels at least, 101 at most."
                )
                self.add_error("highest", message)
        return cleaned


class _DocumentForm(forms.Form):
    """A form with a field for each text and language."""

    def text(
        self,
        name: str,
        language: str,
        label: str,
        *,
        rows: int = 0,
        longest: int | None = None,
        initial: str = "",
    ) -> None:
        said = {"label": label, "language": language_name(language)}
        widget = forms.Textarea(attrs={"rows": rows}) if rows else forms.TextInput()
        widget.attrs["lang"] = language
        self.fields[f"{name}-{language}"] = forms.CharField(
            required=False,
            max_length=longest,
            label=now("%(label)s (%(language)s)") % said,
            initial=initial,
            widget=widget,
            strip=False,
        )

    def texts(self, name: str, languages: Iterable[str]) -> dict[str, str]:
        found = {one: self.cleaned_data.get(f"{name}-{one}", "") for one in languages}
        return {one: text.replace("\r\n", "\n").strip() for one, text in found.items()}


class RubricForm(_DocumentForm):
    """What holds for the whole rubric: its label, languages, title, norms and instructions."""

    def __init__(self, *args: Any, document: Document, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.document = document
        present = document["languages"]
        offered = [code for code, _name in settings.LANGUAGES]
        self.fields["version_label"] = forms.CharField(
            required=False,
            max_length=100,
            label=_("What this version is called"),
            initial=document["version_label"],
        )
        self.fields["provenance"] = forms.CharField(
            required=False,
            label=_("Where it comes from"),
            help_text=_("Printed in the report."),
            initial=document["provenance"],
            widget=forms.Textarea(attrs={"rows": 2}),
        )
        self.fields["languages"] = forms.MultipleChoiceField(
            choices=[(one, language_name(one)) for one in dict.fromkeys([*offered, *present])],
            label=_("Languages"),
            initial=present,
            widget=forms.CheckboxSelectMultiple,
        )
        for language in present:
            for name, label, rows, longest in (
                ("title", _("Title"), 0, 300),
                ("norms", _("Norms, beside the criteria"), 3, None),
                ("instructions", _("Instructions, with examples; Markdown"), 8, None),
            ):
                initial = document[name].get(language, "")
                self.text(name, language, str(label), rows=rows, longest=longest, initial=initial)

    def clean_languages(self) -> list[str]:
        chosen: list[str] = self.cleaned_data["languages"]
        for language in self.document["languages"]:
            count = texts_in(self.document, language)
            if language not in chosen and count:
                raise forms.ValidationError(
                    _("%(language)s still has texts (%(n)d). Empty them first, or keep it."),
                    params={"language": language_name(language), "n": count},
                )
        return chosen

    def changed_document(self) -> Document:
        """Return the document with what was typed."""
        languages = self.cleaned_data["languages"]
        changes: Document = {
            "version_label": self.cleaned_data["version_label"].strip(),
            "provenance": self.cleaned_data["provenance"].replace("\r\n", "\n").strip(),
            "languages": languages,
        }
        for name in ("title", "norms", "instructions"):
            changes[name] = self.texts(name, languages)
        return self.document | changes

    def by_language(self) -> list[dict[str, Any]]:
        return [
            {
                "language": language_name(one),
                "fields": [self[f"{name}-{one}"] for name in ("title", "norms", "instructions")],
            }
            for one in self.document["languages"]
        ]


class CriterionForm(_DocumentForm):
    """One criterion with its levels. How many levels there are is told by what was posted."""

    def __init__(
        self, *args: Any, item: Document, languages: Sequence[str], more: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.item, self.languages = item, languages
        posted = re.fullmatch(r"\d{1,3}", str(self.data.get("levels", "")))
        count = int(posted[0]) if posted else len(item["levels"])
        self.count = min(count + more, MOST_LEVELS)
        boundary, applicability = item["boundary"], item["applicability"]
        self.fields["key"] = forms.CharField(max_length=100, label=_("Key"), initial=item["key"])
        self.fields["kind"] = forms.ChoiceField(
            choices=list(KINDS.items()), label=_("Kind"), initial=item["kind"],
            help_text=_("Judges can be shown ordinal criteria of the whole response only, so far; "
                        "a panel with others cannot be frozen."),
        )  # fmt: skip
        self.fields["scope"] = forms.ChoiceField(
            choices=list(SCOPES.items()), label=_("What is scored"), initial=item["scope"]
        )
        self.fields["asks_rationale"] = forms.BooleanField(
            required=False,
            label=_("Judges are asked for a reason"),
            initial=item["asks_rationale"],
        )
        self.fields["stages"] = forms.CharField(
            required=False,
            label=_("Stages at which it is asked"),
            help_text=_("Their numbers, with commas. If you leave it empty, all."),
            initial=", ".join(map(str, applicability.get("stages", []))),
        )
        for language in languages:
            for name, label, rows, texts in (
                ("name", _("Name"), 0, item["name"]),
                ("question", _("Question"), 2, item["question"]),
                ("applies", _("When it applies, in words"), 2, applicability.get("text", {})),
                ("boundary", _("What separates the two levels"), 3, boundary["text"]),
            ):
                self.text(name, language, str(label), rows=rows, initial=texts.get(language, ""))
        self._add_levels(languages)
        self.fields["between"] = forms.ChoiceField(
            required=False,
            choices=self._neighbours(),
            label=_("Two neighbouring levels that are mixed up"),
            error_messages={
                "invalid_choice": _(
                    "These are no longer two neighbouring levels. Choose two that follow one "
                    "another, or none."
                )
            },
            initial=f"{boundary['lower']:g} {boundary['upper']:g}" if "lower" in boundary else "",
        )

    def _add_levels(self, languages: Sequence[str]) -> None:
        for place in range(self.count):
            known = self.item["levels"][place] if place < len(self.item["levels"]) else {}
            value = value_text(known["value"]) if known else ""
            self.fields[f"level-{place}-value"] = forms.CharField(
                required=False, max_length=20, label=_("Value"), initial=value,
                widget=forms.TextInput(attrs={"inputmode": "decimal", "size": 5}),
            )  # fmt: skip
            self.fields[f"level-{place}-remove"] = forms.BooleanField(
                required=False, label=_("Remove this level")
            )
            said = str(value or place + 1)
            for language in languages:
                for name, label, rows in (
                    ("short", _("Level %(level)s, short, at most 60 characters"), 0),
                    ("full", _("Level %(level)s, full"), 2),
                ):
                    initial = known.get(name, {}).get(language, "") if known else ""
                    text = str(label) % {"level": said}
                    self.text(f"level-{place}-{name}", language, text, rows=rows, initial=initial)

    def _values(self) -> list[str | float]:
        """Return the levels' values: as posted, if anything was; what is no number stays text."""
        if not self.is_bound:
            return [level["value"] for level in self.item["levels"]]
        kept = [n for n in range(self.count) if not self.data.get(f"level-{n}-remove")]
        return [_number(self.data.get(f"level-{n}-value", "")) for n in kept]

    def _neighbours(self) -> list[tuple[str, str]]:
        numbers = sorted({one for one in self._values() if isinstance(one, float)})
        pairs = [(f"{a:g} {b:g}", f"{a:g} → {b:g}") for a, b in pairwise(numbers)]
        return [("", now("None")), *pairs]

    def clean_between(self) -> tuple[float, float] | None:
        if not self.cleaned_data["between"]:
            return None
        lower, upper = self.cleaned_data["between"].split(" ")
        return float(lower), float(upper)

    def clean_stages(self) -> list[int]:
        given = [one.strip() for one in self.cleaned_data["stages"].split(",") if one.strip()]
        if not all(re.fullmatch(r"[1-9]\d{0,3}", one) for one in given):
            raise forms.ValidationError(
                _("Criterion «%(criterion)s»: stages are whole numbers from 1 on. Write 1, 2."),
                params={"criterion": self.item["key"]},
            )
        return sorted({int(one) for one in given})

    def changed_item(self) -> Document:
        """Return the criterion as it was typed, in the order of its levels' values."""
        cleaned, languages = self.cleaned_data, self.languages
        boundary: Document = {"text": self.texts("boundary", languages)}
        if cleaned["between"]:
            boundary |= {"lower": cleaned["between"][0], "upper": cleaned["between"][1]}
        applies = {k: text for k, text in self.texts("applies", languages).items() if text}
        applicability: Document = {"text": applies} if applies else {}
        if cleaned["stages"]:
            applicability["stages"] = cleaned["stages"]
        return {
            "key": cleaned["key"].strip(),
            "kind": cleaned["kind"],
            "scope": cleaned["scope"],
            "asks_rationale": cleaned["asks_rationale"],
            "applicability": applicability,
            "name": self.texts("name", languages),
            "question": self.texts("question", languages),
            "boundary": boundary,
            "levels": self._levels(),
        }

    def _levels(self) -> list[Document]:
        return [
            {
                "value": _number(self.cleaned_data[f"level-{n}-value"]),
                "short": self.texts(f"level-{n}-short", self.languages),
                "full": self.texts(f"level-{n}-full", self.languages),
            }
            for n in self.kept()
        ]

    def kept(self) -> list[int]:
        return [n for n in range(self.count) if not self.cleaned_data.get(f"level-{n}-remove")]

    def show(self, problems: Iterable[RubricProblem], position: int) -> None:
        """Put each problem beside the field that it is about, or above all if it is elsewhere."""
        for problem in problems:
            if problem.position != position:
                self.add_error(None, str(problem))
                continue
            parts = ["level", self.kept()[problem.level]] if problem.level is not None else []
            name = "-".join(str(p) for p in [*parts, problem.field, problem.language] if p != "")
            self.add_error(name if name in self.fields else None, str(problem))

    def about(self) -> list[BoundField]:
        return [self[name] for name in ("key", "kind", "scope", "asks_rationale", "stages")]

    def by_language(self) -> list[dict[str, Any]]:
        names = ("name", "question", "applies")
        return [
            {"language": language_name(one), "fields": [self[f"{name}-{one}"] for name in names]}
            for one in self.languages
        ]

    def levels(self) -> list[dict[str, Any]]:
        return [
            {
                "value": self[f"level-{n}-value"],
                "remove": self[f"level-{n}-remove"],
                "name": self[f"level-{n}-value"].value() or n + 1,
                "texts": [
                    self[f"level-{n}-{name}-{language}"]
                    for language in self.languages
                    for name in ("short", "full")
                ],
            }
            for n in range(self.count)
        ]

    def boundaries(self) -> list[BoundField]:
        return [self[f"boundary-{language}"] for language in self.languages]


def _number(text: str) -> float | str:
    try:
        found = float(text.strip().replace(",", ".").replace("−", "-"))
    except ValueError:
        return text.strip()
    return found if abs(found) < 1e9 else text.strip()
