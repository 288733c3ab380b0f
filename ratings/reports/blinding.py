"""What became of blinding: what was found and decided, what is left, and what still tells."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from dilemmas import blinding, telling
from dilemmas.canonical import sha256_of_text
from dilemmas.markdown import flatten
from dilemmas.models import BlindedPart, Blinding, Condition, Response
from ratings.models import Panel

FEW = 600  # responses that a page may look at while somebody waits
MANY = 5_000  # and a report


def still_tells(
    panel: Panel, blindings: QuerySet[Blinding], *, at_most: int = FEW
) -> dict[str, Any]:
    """Measure the texts as judges get them, of whole dilemmas, `at_most` so many responses.

    Which dilemmas are left out of a larger set follows from their names alone.
    """
    kept: QuerySet[Response] = Response.objects.kept()  # type: ignore[attr-defined]
    responses = kept.filter(response_set=panel.response_set_id, kind=Response.Kind.RESPONSE)
    homes = {
        pk: cluster or dilemma
        for pk, dilemma, cluster in responses.values_list("pk", "dilemma__code", "cluster")
    }
    chosen = _whole_clusters(homes, at_most)
    parts = (
        BlindedPart.objects.filter(blinding__in=blindings, blinding__version__response__in=chosen)
        .order_by("blinding__version__response", "number")
        .values_list("blinding__version__response", "blinding__version__response__condition__label", "text")
    )  # fmt: skip
    flattened = panel.display == "flattened"
    texts: dict[int, tuple[str, list[str]]] = {}
    for response, label, text in parts:
        texts.setdefault(response, (label, []))[1].append(flatten(text) if flattened else text)
    samples = [
        telling.Sample("\n\n".join(pieces), label, homes[response])
        for response, (label, pieces) in texts.items()
    ]
    return telling.measure(samples).to_dict() | {"n_responses": len(homes)}


def _whole_clusters(homes: Mapping[int, str], at_most: int) -> list[int]:
    if len(homes) <= at_most:
        return list(homes)
    by_cluster: dict[str, list[int]] = {}
    for response, cluster in homes.items():
        by_cluster.setdefault(cluster, []).append(response)
    chosen: list[int] = []
    for cluster in sorted(by_cluster, key=sha256_of_text):
        if len(chosen) + len(by_cluster[cluster]) > at_most and chosen:
            break
        chosen += by_cluster[cluster]
    return chosen


def sealed(panel: Panel, *, by: datetime | None) -> QuerySet[Blinding]:
    """Return the texts that the panel fixed; none for a study that was judged elsewhere."""
    if panel.origin != Panel.Origin.NATIVE:
        return Blinding.objects.none()
    return _sealed(panel, by).exclude(state=Blinding.State.HELD_BACK)


def held_back(panel: Panel, *, by: datetime | None) -> QuerySet[Blinding]:
    """Return the decisions by which responses are no part of the panel."""
    return _sealed(panel, by).filter(state=Blinding.State.HELD_BACK)


def _sealed(panel: Panel, by: datetime | None) -> QuerySet[Blinding]:
    return Blinding.objects.filter(
        version__response__response_set=panel.response_set_id,
        version__response__kind=Response.Kind.RESPONSE,
        sealed_at__lte=by,
    )


def document_of(
    panel: Panel, *, by: datetime | None, left: Mapping[int, Counter[str]] | None = None
) -> dict[str, Any] | None:
    """Return the report's part on blinding; None for a study that was judged elsewhere.

    `left` is what `findings_left` finds in the texts that the panel fixed, if it is known already.
    """
    if panel.origin != Panel.Origin.NATIVE:
        return None
    rows = sealed(panel, by=by)
    left = findings_left(panel, rows) if left is None else left
    decided = Counter(rows.values_list("state", flat=True))
    found = Counter(
        finding["kind"] for findings in rows.values_list("findings", flat=True) for finding in findings
    )  # fmt: skip
    return {
        "markdown": panel.display,
        "decided": dict(sorted(decided.items())),
        "found": dict(sorted(found.items())),
        "left": dict(sorted(sum(left.values(), Counter()).items())) | {"responses": len(left)},
        "still_tells": still_tells(panel, rows, at_most=MANY),
    }


def findings_left(panel: Panel, rows: QuerySet[Blinding]) -> dict[int, Counter[str]]:
    """Count by response and kind the findings in the texts that judges read; those with any.

    A text that nobody had to decide on had none when it was imported.
    """
    labels = Condition.objects.filter(response_set=panel.response_set_id).order_by("label")
    names = list(labels.values_list("label", flat=True))
    parts: Iterable[tuple[int, str, str]] = BlindedPart.objects.filter(
        blinding__in=rows.exclude(state=Blinding.State.CLEAN)
    ).values_list("blinding__version__response", "blinding__version__language", "text")
    left: dict[int, Counter[str]] = {}
    for response, language, text in parts:
        for finding in blinding.find(text, condition_labels=names, language=language):
            left.setdefault(response, Counter())[finding.kind] += 1
    return left
