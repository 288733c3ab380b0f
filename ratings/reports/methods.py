"""What a paper needs from the report: a methods paragraph, references, and the reporting checklist."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from ratings.templatetags.figures import figure, interval

Document = dict[str, Any]

# What to cite for each statistic; titles of papers are not translated.
REFERENCES = (
    ("fleiss_kappa", "Fleiss 1971", "Fleiss JL. Measuring nominal scale agreement among many raters. Psychological Bulletin 1971; 76: 378–382.", "doi:10.1037/h0031619"),
    ("cohen_kappa", "Cohen 1960, 1968", "Cohen J. A coefficient of agreement for nominal scales. Educational and Psychological Measurement 1960; 20: 37–46.", "doi:10.1177/001316446002000104"),
    ("light_kappa", "Light 1971", "Light RJ. Measures of response agreement for qualitative data: some generalizations and alternatives. Psychological Bulletin 1971; 76: 365–377.", "doi:10.1037/h0031643"),
    ("conger_kappa", "Conger 1980", "Conger AJ. Integration and generalization of kappas for multiple raters. Psychological Bulletin 1980; 88: 322–328.", "doi:10.1037/0033-2909.88.2.322"),
    ("krippendorff_alpha", "Krippendorff 2011", "Krippendorff K. Computing Krippendorff's alpha-reliability. Annenberg School for Communication, 2011.", ""),
    ("gwet", "Gwet 2008", "Gwet KL. Computing inter-rater reliability and its variance in the presence of high agreement. British Journal of Mathematical and Statistical Psychology 2008; 61: 29–48.", "doi:10.1348/000711006X126600"),
    ("icc", "Shrout & Fleiss 1979", "Shrout PE, Fleiss JL. Intraclass correlations: uses in assessing rater reliability. Psychological Bulletin 1979; 86: 420–428.", "doi:10.1037/0033-2909.86.2.420"),
    ("contrasts", "Holm 1979", "Holm S. A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 1979; 6: 65–70.", ""),
    ("limits", "Bland & Altman 1999", "Bland JM, Altman DG. Measuring agreement in method comparison studies. Statistical Methods in Medical Research 1999; 8: 135–160.", "doi:10.1177/096228029900800204"),
    ("blinding", "James 1996; Bang 2004", "Bang H, Ni L, Davis CE. Assessment of blinding in clinical trials. Controlled Clinical Trials 2004; 25: 143–156.", "doi:10.1016/j.cct.2003.10.016"),
    ("checklist", "GRRAS", "Kottner J, Audigé L, Brorson S, et al. Guidelines for Reporting Reliability and Agreement Studies (GRRAS) were proposed. Journal of Clinical Epidemiology 2011; 64: 96–106.", "doi:10.1016/j.jclinepi.2010.03.002"),
)  # fmt: skip


def methods(document: Document, rule: str) -> dict[str, Any]:
    """Return the paragraph in the reader's language, the references and a BibTeX entry."""
    return {
        "paragraph": paragraph(document, rule),
        "references": [
            {"short": short, "text": text, "doi": doi.removeprefix("doi:")}
            for key, short, text, doi in REFERENCES
            if _is_used(key, document)
        ],
        "bibtex": bibtex(document),
        "checklist": checklist(document),
    }


def paragraph(document: Document, rule: str) -> str:
    """Return the methods paragraph with this panel's numbers; sentences that do not apply are left out."""
    panel, flow = document["panel"], document["flow"]
    protocol = panel["protocol"]
    said = [
        ngettext(
            "%(judges)d judge rated %(responses)d responses on %(criteria)d criteria.",
            "%(judges)d judges rated %(responses)d responses on %(criteria)d criteria.",
            flow["judges"],
        )
        % {
            "judges": flow["judges"],
            "responses": flow["responses"],
            "criteria": len(document["criteria"]),
        }
    ]
    if panel["registered"]:
        said.append(
            _(
                "They did not know which condition a response came from; each read the responses in "
                "an order of their own, balanced over conditions (%(order)s)."
            )
            % {"order": protocol["order"]}
        )
        said.append(
            _(
                "Protocol, rubric, texts, order and the model judge's scores were fixed on %(date)s, "
                "before the first rating (SHA-256 %(hash)s); publication required: %(rule)s on every "
                "criterion."
            )
            % {
                "date": (panel["frozen_at"] or "")[:10],
                "hash": (panel["freeze_sha256"] or "")[:16],
                "rule": rule,
            }
        )
    else:
        said.append(
            _("The study was rated elsewhere and imported; nothing was registered beforehand.")
        )
    said.append(
        _(
            "Intervals resample dilemmas (cluster jackknife with t; %(draws)s bootstrap draws for "
            "percentiles and one-sided bounds, seed %(seed)s) and hold the judges fixed; missing "
            "scores are no category."
        )
        % {"draws": protocol["bootstrap_draws"], "seed": protocol["bootstrap_seed"]}
    )
    values = _values(document)
    if values:
        said.append(_("Agreement (ordinal alpha): %(values)s.") % {"values": values})
    said.append(
        _("Computed with AWB Panel %(version)s; inputs SHA-256 %(hash)s.")
        % {"version": document["code_version"], "hash": document["inputs_sha256"][:16]}
    )
    return " ".join(said)


def _values(document: Document) -> str:
    shown = []
    for one in document["rubric"]:
        entry = document["criteria"].get(one["key"])
        found = entry and entry["coefficients"].get("krippendorff_alpha_ordinal")
        if found and found["estimate"] is not None:
            shown.append(f"{one['key']} {figure(found['estimate'])} {interval(found['ci95'])}")
    return "; ".join(shown)


def _is_used(key: str, document: Document) -> bool:
    if key == "contrasts":
        return bool(document["contrasts"]) and bool(document["panel"]["registered"])
    if key == "limits":
        return bool(document.get("human_model"))
    if key == "blinding":
        return bool(document.get("guesses"))
    return True


def bibtex(document: Document) -> str:
    """Return an entry for the panel's report."""
    panel = document["panel"]
    year = (panel["closed_at"] or panel["opened_at"] or "")[:4]
    title = panel["title"].replace("{", "").replace("}", "")
    return (
        f"@misc{{{panel['slug']},\n  title = {{{{{title}}}}},\n  year = {{{year}}},\n"
        f"  note = {{Report of a human panel, inputs SHA-256 {document['inputs_sha256']}}}\n}}"
    )


def checklist(document: Document) -> list[dict[str, Any]]:
    """Return the items of GRRAS with what TRIPOD-LLM and QUEST ask beyond: what is known, or None.

    The texts of the items are ours, after the guidelines. What only people know comes from the
    protocol; an empty answer is shown as such.
    """
    panel, flow = document["panel"], document["flow"]
    protocol = panel["protocol"]
    said = {key: protocol.get(key) or None for key in _FROM_PROTOCOL}
    criteria = len(document["criteria"])
    known = {
        "title": panel["title"],
        "instrument": panel["rubric"],
        "sample": _("%(n)s responses, %(k)s criteria") % {"n": flow["responses"], "k": criteria},
        "raters": ", ".join(f"{name} {n}" for name, n in flow["professions"].items() if name)
        or None,
        "planning": _("simulated before the freeze") if protocol.get("planning") else None,
        "blinding": _("blinded texts; what still tells was measured")
        if document.get("blinding")
        else None,
        "independence": _("no judge saw another's scores") if panel["registered"] else None,
        "statistics": _("in the methods paragraph"),
        "numbers": _("%(done)s of %(slots)s places rated")
        % {"done": flow["done"], "slots": flow["slots"]},
        "model": ", ".join(document.get("human_model", {})) or None,
        "registered": panel["freeze_sha256"] and f"SHA-256 {panel['freeze_sha256'][:16]}…",
        "deposit": ", ".join(one["address"] for one in panel.get("deposits", [])) or None,
    } | said
    return [{"item": label, "said": known.get(key)} for key, label in _ITEMS]


_FROM_PROTOCOL = (
    "estimand", "population", "hypotheses", "tests", "recruitment", "judges_qualification",
    "judges_language", "pay", "relation", "training", "key_holder", "controller",
)  # fmt: skip
_ITEMS = (
    ("title", lazy("What was studied")),
    ("estimand", lazy("What is to be estimated")),
    ("population", lazy("Target population of judges and texts")),
    ("hypotheses", lazy("Hypotheses")),
    ("instrument", lazy("Instrument, with its version")),
    ("sample", lazy("What was rated")),
    ("planning", lazy("How the size was chosen")),
    ("raters", lazy("Judges by profession")),
    ("judges_qualification", lazy("Judges' qualification")),
    ("recruitment", lazy("How judges were found")),
    ("judges_language", lazy("Judges' language")),
    ("training", lazy("Judges' training")),
    ("pay", lazy("Judges' pay")),
    ("relation", lazy("Judges' relation to the authors")),
    ("blinding", lazy("Blinding")),
    ("independence", lazy("Independence of the ratings")),
    ("numbers", lazy("Numbers rated, and left out")),
    ("statistics", lazy("Statistics and their uncertainty")),
    ("tests", lazy("Families of tests")),
    ("model", lazy("Model judges that were compared")),
    ("registered", lazy("Registered before the first rating")),
    ("deposit", lazy("Where the registration was deposited")),
    ("key_holder", lazy("Who held the condition key")),
    ("controller", lazy("Who answers for the data")),
)
