"""From the report's document to what a template shows; nothing is computed here but places."""

from typing import Any

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from ratings.reports.charts import against_threshold

COEFFICIENTS = {
    "percent_agreement": lazy("Percent agreement"),
    "light_kappa": lazy("Light's kappa, unweighted"),
    "light_kappa_linear": lazy("Light's kappa, linear weights"),
    "light_kappa_quadratic": lazy("Light's kappa, quadratic weights"),
    "fleiss_kappa": lazy("Fleiss' kappa, unweighted"),
    "fleiss_kappa_linear": lazy("Fleiss' kappa, linear weights"),
    "fleiss_kappa_quadratic": lazy("Fleiss' kappa, quadratic weights"),
    "krippendorff_alpha_nominal": lazy("Krippendorff's alpha, nominal"),
    "krippendorff_alpha_ordinal": lazy("Krippendorff's alpha, ordinal"),
    "krippendorff_alpha_interval": lazy("Krippendorff's alpha, interval"),
}
UNDEFINED = {
    "no_variation": lazy("not defined: nothing varies"),
    "too_few_pairs": lazy("not defined: too few common responses"),
    "no_overlap": lazy("not defined: no common responses"),
    "constant_rater": lazy("not defined: one side is constant"),
}
REASONS = {
    "unsubmitted": lazy("some responses were never marked done"),
    "too_much_missing": lazy("too many scores are missing"),
    "no_variation": lazy("all judges always gave the same level: they agree fully, but the coefficient is not defined"),
    "undefined": lazy("the coefficient is not defined"),
    "no_lower_bound": lazy("the lower bound cannot be computed"),
}  # fmt: skip
DEFAULT_KEY = "krippendorff_alpha_ordinal"


def view_of(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with what its first page needs beside it."""
    gate = document["gate"]
    key = gate["policy"]["coefficient"] if gate else DEFAULT_KEY
    threshold = gate["policy"]["threshold"] if gate else 0.6
    decided = {one["name"]: one for one in gate["criteria"]} if gate else {}
    rows = []
    for name, entry in document["criteria"].items():
        found = entry["coefficients"][key]
        title = _title(entry["title"], name)
        one = decided.get(name)
        rows.append(
            {
                "name": name,
                "title": title,
                "entry": entry,
                "registered": found,
                "undefined": UNDEFINED.get(found.get("undefined") or ""),
                "decision": one,
                "reason": REASONS.get(one["reason"]) if one else None,
                "close_call": _close_call(one, threshold),
                "chart": _chart(found, threshold, title) if gate else "",
                "coefficients": [
                    {
                        "label": COEFFICIENTS.get(k, k),
                        "found": v,
                        "undefined": UNDEFINED.get(v.get("undefined") or ""),
                    }
                    for k, v in entry["coefficients"].items()
                ],
            }
        )
    rows += [
        {"name": one["name"], "title": one["name"], "decision": one, "entry": None,
         "registered": {}, "reason": REASONS.get(one["reason"]), "coefficients": []}
        for one in decided.values()
        if one["name"] not in document["criteria"]
    ]  # fmt: skip
    missed = [r["title"] for r in rows if r["decision"] and r["decision"]["verdict"] == "not_met"]
    open_ = [
        f"{r['title']}: {r['reason']}"
        for r in rows
        if r["decision"] and r["decision"]["verdict"] == "undecidable"
    ]
    return {
        "document": document,
        "rows": rows,
        "coefficient": COEFFICIENTS.get(key, key),
        "missed": ", ".join(missed),
        "undecided": "; ".join(open_),
        "comparator": {">=": "≥", ">": ">"}[gate["policy"]["comparator"]] if gate else "",
        "criteria": list(document["criteria"]),
    }


def _title(titles: dict[str, str], name: str) -> str:
    return titles.get((get_language() or "ca")[:2]) or titles.get("en") or name


def _close_call(decision: dict[str, Any] | None, threshold: float) -> bool:
    """Whether the rounded value reaches the threshold and the value itself does not."""
    if decision is None or decision["value"] is None or decision["verdict"] != "not_met":
        return False
    return float(decision["shown"]) >= threshold


def _chart(found: dict[str, Any], threshold: float, title: str) -> SafeString:
    text = _("%(title)s: the value and its interval against the threshold") % {"title": title}
    return mark_safe(  # noqa: S308 (made of numbers and an escaped title)
        against_threshold(
            estimate=found["estimate"],
            interval=found.get("ci95"),
            threshold=threshold,
            title=text,
        )
    )
