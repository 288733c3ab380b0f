"""The report's sections beside its first page: from the document's figures to words and pictures."""

from typing import Any

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from ratings.reports import pictures
from ratings.templatetags.figures import figure, interval

Document = dict[str, Any]
Titles = dict[str, str]  # criterion → its name in the reader's language

MUCH_SKEW = 0.6  # share of one level from which kappa and alpha are said to mislead
MOST_LEVELS = 12  # of a scale whose levels are shown one by one; the others are in the JSON
MOST_PAIRS = 6  # of judges whose confusions are drawn

PARTS = {
    "without_flagged": lazy("without flagged responses"),
    "without_edited": lazy("without texts that were edited for blinding"),
    "without_imperfectly_blinded": lazy("without texts in which something that tells was left"),
    "without_repeated": lazy("without responses that were served twice"),
    "first_seen": lazy("only the response that each judge read first of a dilemma"),
}
WHYS = {
    "constant_rater": lazy("not defined: one side is constant"),
    "no_variation": lazy("not defined: nothing varies"),
    "too_few_pairs": lazy("not defined: too few common responses"),
    "no_overlap": lazy("not defined: no common responses"),
}


def sections(document: Document, titles: Titles) -> dict[str, Any]:
    """Return what the templates of the sections show; a section without figures is empty."""
    return {
        "levels": _levels(document, titles),
        "beside": _beside(document, titles),
        "totals": _totals(document),
        "contrast_chart": _contrast_chart(document),
        "wins": _wins(document),
        "costs": document.get("costs") or {},
        "controls": _controls(document, titles),
        "models": _models(document, titles),
        "severities": _severities(document, titles),
        "times": document.get("judge_times") or {},
        "guesses": _guesses(document.get("guesses")),
        "skewed": [row["title"] for row in _levels(document, titles) if row["skewed"]],
    }


def _svg(text: str) -> SafeString:
    return mark_safe(text)  # noqa: S308 (made of numbers and escaped texts)


def _end(value: float) -> str:
    """Write the end of an axis."""
    return figure(value, 0 if value == int(value) else 1)


def _level(value: float) -> str:
    return f"{value:g}"


def _levels(document: Document, titles: Titles) -> list[dict[str, Any]]:
    """Return by criterion: levels of all and of each judge, specific agreement, confusions."""
    found = []
    for key, title in titles.items():
        entry = document["criteria"].get(key)
        if not entry or not entry.get("levels") or len(entry["levels"]) > MOST_LEVELS:
            continue
        names = [_level(one["level"]) for one in entry["levels"]]
        largest = max(entry["levels"], key=lambda one: one["share"])
        judges = document.get("judge_figures", {}).get(key, {}).get("levels", {})
        found.append(
            {
                "title": title,
                "names": names,
                "shares": [one["share"] for one in entry["levels"]],
                "judges": {judge: [one["share"] for one in rows] for judge, rows in judges.items()},
                "specific": entry["specific"],
                "skewed": largest["share"] > MUCH_SKEW,
                "largest": largest,
                "ac1": entry["coefficients"]["gwet_ac1"],
                "pictures": [
                    _confusion(pair, counts, names, title)
                    for pair, counts in entry["confusions"].items()
                ]
                if len(entry["confusions"]) <= MOST_PAIRS
                else [],
            }
        )
    return found


def _confusion(pair: str, counts: list[list[int]], names: list[str], title: str) -> dict[str, Any]:
    first, _bar, second = pair.partition("|")
    same = sum(counts[n][n] for n in range(len(counts)))
    total = sum(map(sum, counts))
    return {
        "pair": f"{first} · {second}",
        "first": first,
        "second": second,
        "rows": list(zip(names, counts, strict=True)),
        "svg": _svg(
            pictures.grid(
                counts,
                names,
                rows=first,
                columns=second,
                title=_("%(criterion)s: %(pair)s") % {"criterion": title, "pair": pair},
                description=_("%(same)s of %(total)s responses got the same level from both.")
                % {"same": same, "total": total},
            )
        ),
    }


def _beside(document: Document, titles: Titles) -> dict[str, Any] | None:
    """Return what was computed beside the gate: parts, fills, changes, the total."""
    found = document.get("gate_beside")
    if not found:
        return None
    policy = document["gate"]["policy"]
    value = "lower95" if policy["statistic"] == "lower95" else "estimate"
    rows = []
    for key, title in titles.items():
        one = found["criteria"].get(key)
        if one is None:
            continue
        parts = [
            {"label": label, "value": part[value], "n": part["n_ratings"]}
            for name, label in PARTS.items()
            if (part := one["parts"].get(name)) is not None
        ]
        rows.append(
            {
                "title": title,
                "parts": parts,
                "changes": one["changes"],
                "missing": one["fills"]["missing"] if one["fills"] else 0,
                "worst": one["fills"]["worst"][value] if one["fills"] else None,
                "best": one["fills"]["best"][value] if one["fills"] else None,
            }
        )
    return {
        "rows": rows,
        "changes": found["changes"],
        "tried": found["changes_tried"],
        "total": found.get("total") or {},
        "is_bound": value == "lower95",
    }


def _totals(document: Document) -> dict[str, Any] | None:
    """Return the conditions' shares of the maximum, with their picture."""
    found = document.get("condition_totals")
    if not found:
        return None
    bars = [pictures.Bar(label, one["mean"], one.get("ci95")) for label, one in found.items()]
    said = "; ".join(f"{bar.label} {figure(bar.estimate)}" for bar in bars)
    return {
        "rows": found,
        "svg": _svg(
            pictures.forest(
                bars, low=0.0, high=1.0, at=None,
                title=_("Means by condition, as shares of the maximum"), description=said, shown=_end,
            )
        ),
    }  # fmt: skip


def _contrast_chart(document: Document) -> SafeString:
    rows = document["contrasts"].get("total", [])
    if not rows or len(rows) > 20:
        return _svg("")
    ends = [
        abs(v) for row in rows for v in (row["estimate"], *(row["ci95"] or ())) if v is not None
    ]
    most = max(0.1, *ends) if ends else 0.1
    edge = -(-most * 10 // 1) / 10
    bars = [
        pictures.Bar(
            f"{row['minuend']} − {row['subtrahend']}",
            row["estimate"],
            row["ci95"],
            row["registered"],
        )
        for row in rows
    ]
    said = "; ".join(f"{bar.label} {figure(bar.estimate)} {interval(bar.interval)}" for bar in bars)
    return _svg(
        pictures.forest(
            bars, low=-edge, high=edge, at=0.0,
            title=_("Differences between conditions, as shares of the maximum"), description=said, shown=_end,
        )
    )  # fmt: skip


def _wins(document: Document) -> dict[str, Any] | None:
    """Return each dilemma's shares by condition, and which condition was best there."""
    found = document.get("dilemmas")
    if not found:
        return None
    labels = sorted({label for by in found.values() for label in by})
    rows = []
    firsts = dict.fromkeys(labels, 0)
    for dilemma, by in found.items():
        best = max(by.values())
        winners = [label for label in labels if label in by and by[label] >= best - 1e-12]
        for label in winners if len(winners) == 1 else ():
            firsts[label] += 1
        rows.append(
            {
                "dilemma": dilemma,
                "cells": [{"value": by.get(label), "best": label in winners} for label in labels],
            }
        )
    return {"labels": labels, "rows": rows, "firsts": firsts}


def _controls(document: Document, titles: Titles) -> list[dict[str, Any]]:
    found = []
    for one in document.get("controls") or []:
        rows = [{"who": _("People"), "cells": [one["people"].get(key) for key in titles]}]
        rows += [
            {"who": judge, "cells": [by.get(key) for key in titles]}
            for judge, by in sorted(one["models"].items())
        ]
        name = one["id"] or f"{one['dilemma']} · {one['condition']}"
        found.append({"name": name, "rows": rows})
    return found


def _models(document: Document, titles: Titles) -> list[dict[str, Any]]:
    """Return each model judge against people: by criterion, alternative annotator, affinity."""
    return [
        {
            "judge": judge,
            "repetitions": found["repetitions"],
            "text": found["text"],
            "criteria": [
                _against(document, key, title, found)
                for key, title in titles.items()
                if key in found["criteria"]
            ],
            "annotator": _annotator(found.get("alternative_annotator") or {}, titles),
            "affinity": found.get("affinity") or [],
            "affinity_chart": _affinity_chart(found.get("affinity") or []),
        }
        for judge, found in document.get("human_model", {}).items()
    ]


def _against(document: Document, key: str, title: str, found: Document) -> dict[str, Any]:
    one = found["criteria"][key]
    levels = [level["level"] for level in document["criteria"][key]["levels"]]
    low, high = min(levels, default=0.0), max(levels, default=1.0)
    limits = one.get("limits") or {}
    words = {"people": _("people"), "model": _("model")}
    drawn = one.get("points") or []
    return {
        "title": title,
        "found": one,
        "why": WHYS.get((one["spearman"] or {}).get("undefined") or ""),
        "people": one.get("people", {}),
        "judges": one.get("judges", {}),
        "limits": limits,
        "length": (found.get("length") or {}).get(key),
        "scatter": _svg(
            pictures.scatter(
                drawn, low=low, high=high, across=words["people"], up=words["model"],
                title=_("%(criterion)s: people and the model judge") % {"criterion": title},
                description=_("%(n)s responses; on the dashed line both give the same mean.")
                % {"n": len(drawn)},
            )
        )
        if drawn
        else "",
        "differences": _svg(
            pictures.differences(
                drawn, low=low, high=high, bias=limits.get("bias"), limits=limits.get("limits"),
                across=_("mean of both"), up=_("model − people"),
                title=_("%(criterion)s: differences (Bland & Altman)") % {"criterion": title},
                description=_("Bias %(bias)s; limits of agreement %(limits)s.")
                % {"bias": figure(limits.get("bias")), "limits": interval(limits.get("limits"))},
            )
        )
        if drawn
        else "",
    }  # fmt: skip


def _annotator(found: Document, titles: Titles) -> dict[str, Any] | None:
    """Return the alternative-annotator test over responses, with its straw annotators."""
    by = found.get("units") or {}
    rows = []
    for key, title in titles.items():
        one = by.get(key)
        if one is None:
            continue
        constant = [straw["omega"] for straw in one["constant"] if straw["omega"] is not None]
        rows.append(
            {
                "title": title,
                "omega": one["omega"],
                "rho": one["rho"],
                "passes": one["passes"],
                "interpretable": one["interpretable"],
                "constant": max(constant, default=None),
                "shuffled": (one.get("shuffled") or {}).get("omega"),
            }
        )
    return {"rows": rows, "epsilon": found.get("epsilon")} if rows else None


def _affinity_chart(found: list[Document]) -> SafeString:
    bars = []
    for one in found:
        name = f"{one['minuend']} − {one['subtrahend']}"
        bars.append(
            pictures.Bar(
                name, one["difference"]["estimate"], one["difference"]["ci95"], one["shown"]
            )
        )
    if not bars:
        return _svg("")
    ends = [abs(v) for b in bars for v in (b.estimate, *(b.interval or ())) if v is not None]
    most = max(0.1, *ends) if ends else 0.1
    edge = -(-most * 10 // 1) / 10
    said = "; ".join(f"{bar.label} {figure(bar.estimate)} {interval(bar.interval)}" for bar in bars)
    return _svg(
        pictures.forest(
            bars, low=-edge, high=edge, at=0.0,
            title=_("How much more the model favours a condition than people do"), description=said, shown=_end,
        )
    )  # fmt: skip


def _severities(document: Document, titles: Titles) -> list[dict[str, Any]]:
    """Return by criterion each judge's severity, drift, order effect and self-agreement."""
    found = []
    for key, title in titles.items():
        one = document.get("judge_figures", {}).get(key)
        if not one or not one["severity"]:
            continue
        rows = [
            {
                "judge": judge,
                "severity": severity,
                "drift": one["trends"].get(judge, {}).get("drift"),
                "order": one["trends"].get(judge, {}).get("order"),
                "repeats": one["repeats"].get(judge),
                "length": one["length"]["judges"].get(judge),
            }
            for judge, severity in one["severity"].items()
        ]
        found.append({"title": title, "rows": rows, "panel": one["trends"].get("", {})})
    return found


def _guesses(found: Document | None) -> dict[str, Any] | None:
    if not found:
        return None
    return {"found": found, "all": found["all"], "leaks": found["leaks"]}
