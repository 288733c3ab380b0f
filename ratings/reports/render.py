"""From the report's document to what a template shows; nothing is computed here but places."""

from typing import Any

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from ratings.gate import TOLERANCE
from ratings.reports.charts import against_threshold
from ratings.reports.methods import methods
from ratings.reports.sections import sections
from ratings.templatetags.figures import figure, interval

COEFFICIENTS = {
    "percent_agreement": lazy("Percent agreement"),
    "light_kappa": lazy("Light's kappa, unweighted"),
    "light_kappa_linear": lazy("Light's kappa, linear weights"),
    "light_kappa_quadratic": lazy("Light's kappa, quadratic weights"),
    "fleiss_kappa": lazy("Fleiss' kappa, unweighted"),
    "fleiss_kappa_linear": lazy("Fleiss' kappa, linear weights"),
    "fleiss_kappa_quadratic": lazy("Fleiss' kappa, quadratic weights"),
    "conger_kappa": lazy("Conger's kappa, unweighted"),
    "krippendorff_alpha_nominal": lazy("Krippendorff's alpha, nominal"),
    "krippendorff_alpha_ordinal": lazy("Krippendorff's alpha, ordinal"),
    "krippendorff_alpha_interval": lazy("Krippendorff's alpha, interval"),
    "krippendorff_alpha_ratio": lazy("Krippendorff's alpha, ratio"),
    "gwet_ac1": lazy("Gwet's AC1, unweighted"),
    "gwet_ac2_linear": lazy("Gwet's AC2, linear weights"),
    "gwet_ac2_quadratic": lazy("Gwet's AC2, quadratic weights"),
    "icc_1_1": lazy("Intraclass correlation of one judge, ICC(1,1) = ICC(1)"),
    "icc_2_1": lazy("Intraclass correlation of one judge, ICC(2,1) = ICC(A,1)"),
    "icc_3_1": lazy("Intraclass correlation of one judge, ICC(3,1) = ICC(C,1)"),
    "icc_1_k": lazy("Intraclass correlation of the judges' mean, ICC(1,k) = ICC(k)"),
    "icc_2_k": lazy("Intraclass correlation of the judges' mean, ICC(2,k) = ICC(A,k)"),
    "icc_3_k": lazy("Intraclass correlation of the judges' mean, ICC(3,k) = ICC(C,k)"),
    "kendall_w": lazy("Kendall's W, corrected for ties"),
}
UNDEFINED = {
    "no_variation": lazy("not defined: nothing varies"),
    "too_few_pairs": lazy("not defined: too few common responses"),
    "no_overlap": lazy("not defined: no common responses"),
    "constant_rater": lazy("not defined: one side is constant"),
    "no_true_zero": lazy("not defined: the scale has levels below zero"),
}
CANNOT_JUDGE = {
    "knowledge": lazy("knowledge of the subject was lacking"),
    "unreadable": lazy("the text was not understood, or incomplete"),
    "not_applicable": lazy("the criterion did not apply"),
    "between": lazy("hesitation between two levels"),
    "personal": lazy("personal reasons"),
    "other": lazy("another reason"),
}
EXPOSURE = {
    "no": lazy("had read none of it before"),
    "some": lazy("had read some of it before"),
    "yes": lazy("had read it before"),
}
GUESSES = {
    "layout": lazy("by length and layout alone"),
    "words": lazy("by vocabulary alone"),
    "both": lazy("by both"),
}
NOT_MEASURED = {
    "one_condition": lazy("Not measured: there is only one condition."),
    "too_few_dilemmas": lazy("Not measured: it takes five dilemmas or more."),
}
DEFAULT_KEY = "krippendorff_alpha_ordinal"
COMPARATORS = {">=": "≥", ">": ">"}
FEWEST_CLUSTERS = 20  # below, intervals are not reliable
FEWEST_COMMON = 10  # below, a pair's kappa is shown with a warning
LARGEST_UNDEFINED_SHARE = 0.01  # of the bootstrap's draws


def view_of(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with what its pages need beside it."""
    gate = document["gate"]
    policy = gate["policy"] if gate else None
    key = policy["coefficient"] if policy else DEFAULT_KEY
    decided = {one["name"]: one for one in gate["criteria"]} if gate else {}
    titles = {one["key"]: one["title"] for one in document["rubric"]}  # in the rubric's order
    rows = [
        _row(name, _title(title, name), document, policy, decided.get(name))
        for name, title in titles.items()
        if name in document["criteria"] or name in decided
    ]
    missed = [r["title"] for r in rows if r["decision"] and r["decision"]["verdict"] == "not_met"]
    coefficient = COEFFICIENTS.get(key, key)
    said = _rule(coefficient, policy) if policy else ""
    return {
        "document": document,
        "rows": rows,
        "coefficient": coefficient,
        "rule": said,
        "sections": sections(document, {row["name"]: row["title"] for row in rows}),
        "methods": methods(document, said),
        "missed": ", ".join(missed),
        "undecided": [row["reason"] for row in rows if row["reason"]],
        "cannot_judge": _counted(document["flow"]["cannot_judge"], CANNOT_JUDGE),
        "exposure": _counted(document["flow"]["exposure"], EXPOSURE),
        "professions": [(name, n) for name, n in document["flow"]["professions"].items() if name],
        "few_clusters": min((e["n_clusters"] for e in document["criteria"].values()), default=0)
        < FEWEST_CLUSTERS,
        "few_common": FEWEST_COMMON,
        "contrasts": _contrasts(document, rows),
        "blinding": _blinding(document.get("blinding")),
        "telling": telling_view(document["blinding"]["still_tells"])
        if document.get("blinding")
        else None,
        "model_judges": _model_judges(document, {row["name"]: row["title"] for row in rows}),
    }


def _blinding(found: dict[str, Any] | None) -> dict[str, int]:
    decided = found["decided"] if found else {}
    counts = {state: decided.get(state, 0) for state in ("clean", "edited", "accepted")}
    return counts | {"left": found["left"]["responses"] if found else 0}


def telling_view(found: dict[str, Any]) -> dict[str, Any]:
    """Return the figures on what still tells with their words, conditions by name."""
    guesses = [
        {"label": GUESSES[name], "share": one["share"], "interval": (one["low"], one["high"])}
        for name in GUESSES
        if (one := found["guesses"].get(name))
    ]
    both = found["guesses"].get("both")
    conditions = [
        {"label": label, "medians": medians, "right": both["by_condition"][label] if both else None}
        for label, medians in sorted(found["medians"].items())
    ]
    return {
        "found": found,
        "both": both,
        "interval": (both["low"], both["high"]) if both else None,
        "guesses": guesses,
        "conditions": conditions,
        "why_not": NOT_MEASURED.get(found["undefined"], ""),
    }


def _row(
    name: str,
    title: str,
    document: dict[str, Any],
    policy: dict[str, Any] | None,
    decision: dict[str, Any] | None,
) -> dict[str, Any]:
    """Return one criterion as the first page shows it; `entry` is None if nobody rated it."""
    entry = document["criteria"].get(name)
    key = policy["coefficient"] if policy else DEFAULT_KEY
    found = entry["coefficients"][key] if entry else {"estimate": None}
    low = _lowest(document, key)
    return {
        "name": name,
        "title": title,
        "entry": entry,
        "registered": found,
        "undefined": UNDEFINED.get(found.get("undefined") or ""),
        "decision": decision,
        "reason": _reason(decision, title, entry) if decision else "",
        "exact": _exact(decision, policy) if decision and policy else "",
        "chart": _chart(found, policy["threshold"], title, low) if policy else "",
        "coefficients": _coefficients(entry, document) if entry else [],
        "wavering": bool(entry) and _share_undefined(found, document) > LARGEST_UNDEFINED_SHARE,
    }


def _coefficients(entry: dict[str, Any], document: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "label": label,
            "found": found,
            "undefined": UNDEFINED.get(found.get("undefined") or ""),
            "wavering": _share_undefined(found, document) > LARGEST_UNDEFINED_SHARE,
        }
        for key, label in COEFFICIENTS.items()
        if (found := entry["coefficients"].get(key)) is not None
    ]


def _share_undefined(found: dict[str, Any], document: dict[str, Any]) -> float:
    draws = document["panel"]["protocol"]["bootstrap_draws"]
    return found.get("undefined_draws", 0) / draws if draws else 0.0


def _contrasts(document: dict[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the total first; every criterion's own only where contrasts were registered."""
    found = document["contrasts"]
    shown = [{"title": _("Share of the maximum over all criteria"), "rows": found["total"]}] if (
        "total" in found
    ) else []  # fmt: skip
    if document["panel"]["registered"]:
        shown += [
            {"title": row["title"], "rows": found[row["name"]]}
            for row in rows
            if row["name"] in found
        ]
    return shown


def _model_judges(document: dict[str, Any], titles: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "judge": judge,
            "criterion": titles[key],
            "found": found,
            "undefined": UNDEFINED.get(found["undefined"] or ""),
        }
        for judge, by_criterion in document["model_judges"].items()
        for key, found in by_criterion.items()
    ]


def _counted(counts: dict[str, int], words: dict[str, Any]) -> list[tuple[Any, int]]:
    return [(words.get(key, key), n) for key, n in counts.items()]


def _title(titles: dict[str, str], name: str) -> str:
    return titles.get((get_language() or "ca")[:2]) or titles.get("en") or name


def rule(policy: dict[str, Any]) -> str:
    """Return a registered policy as a person reads it."""
    key = policy["coefficient"]
    return _rule(COEFFICIENTS.get(key, key), policy)


def _rule(coefficient: Any, policy: dict[str, Any]) -> str:
    """Return e.g. «Fleiss' kappa, unweighted ≥ 0.60»."""
    what = str(coefficient)
    if policy["statistic"] == "lower95":
        what += ", " + _("one-sided 95% lower bound")
    return f"{what} {COMPARATORS[policy['comparator']]} {figure(policy['threshold'])}"


def _reason(decision: dict[str, Any], title: str, entry: dict[str, Any] | None) -> str:
    """Return why a criterion cannot be decided, as a sentence without its full stop."""
    reason = decision["reason"]
    if decision["verdict"] != "undecidable":
        return ""
    if reason == "no_variation":
        return _(
            'On "%(criterion)s" all judges always gave the same level: they agree fully, but the '
            "coefficient is undefined"
        ) % {"criterion": title}
    if reason in ("unsubmitted", "too_much_missing"):
        owed = decision["reason_details"]
        rated = entry["n_ratings"] if entry else 0
        total = entry["required"] if entry else owed.get("required", owed.get("slots", 0))
        return _(
            'On "%(criterion)s" there are %(n)s ratings of the %(total)s that the protocol required'
        ) % {"criterion": title, "n": rated, "total": total}
    if reason == "no_lower_bound":
        return _('On "%(criterion)s" the lower bound cannot be computed') % {"criterion": title}
    return _('On "%(criterion)s" the coefficient is undefined') % {"criterion": title}


def _exact(decision: dict[str, Any], policy: dict[str, Any]) -> str:
    """Return a value that misses the threshold and rounds up to it, with digits enough to tell."""
    value, threshold = decision["value"], policy["threshold"]
    if decision["verdict"] != "not_met" or value is None or value >= threshold - TOLERANCE:
        return ""
    if float(decision["shown"]) < threshold:
        return ""
    digits = next((n for n in range(4, 13) if float(f"{value:.{n}f}") < threshold), 13)
    return figure(value, digits)


def _lowest(document: dict[str, Any], key: str) -> float:
    """Return where the pictures begin, the same for all criteria: 0, or -1 if anything is below."""
    found = [entry["coefficients"][key] for entry in document["criteria"].values()]
    values = [v for one in found for v in (one["estimate"], *(one["ci95"] or ())) if v is not None]
    return -1.0 if any(value < 0 for value in values) else 0.0


def _chart(found: dict[str, Any], threshold: float, title: str, low: float) -> SafeString:
    named = {
        "title": title,
        "value": figure(found["estimate"]),
        "interval": interval(found.get("ci95")),
        "threshold": figure(threshold),
    }
    drawn = against_threshold(
        estimate=found["estimate"],
        interval=found.get("ci95"),
        threshold=threshold,
        low=low,
        title=_("%(title)s: the value and its interval against the threshold") % named,
        description=_("Value %(value)s, 95%% interval %(interval)s; threshold %(threshold)s")
        % named,
    )
    return mark_safe(drawn)  # noqa: S308 (made of numbers and escaped texts)
