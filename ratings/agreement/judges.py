"""Each judge: severity, use of the levels, agreement with oneself, drift and order effects.

Everything is per criterion and describes; nothing here ranks judges or decides a gate. Agreement
within and between professions is in `comparison`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ratings.agreement.clustered import Figure, coefficient, mean_of, slope
from ratings.agreement.matrix import MatrixError, RatingMatrix

PER_POSITION = 100.0  # drift is told per so many responses


def severity(matrix: RatingMatrix) -> dict[str, Figure]:
    """Return for each rater the mean deviation from the other raters' mean; positive = lenient.

    Estimand: over the units that the rater and at least one other rated, the mean of (own score
    - mean of the others' scores), in units of the scale. Only what both sides rated counts, so
    that a rater who was given weaker responses does not look severe. Undefined (``no_overlap``)
    for a rater who shares no unit.

    The interval is the cluster jackknife, t(K - 1); see `clustered.mean_of`.

    >>> rows = [("u1", "ann", 3), ("u1", "bob", 1), ("u2", "ann", 2), ("u2", "bob", 2)]
    >>> found = severity(RatingMatrix.from_long(rows, scale=[0, 1, 2, 3]))
    >>> {rater: one.estimate for rater, one in found.items()}
    {'ann': 1.0, 'bob': -1.0}
    """
    present = matrix.present
    filled = np.where(present, matrix.values, 0.0)
    total, count = filled.sum(axis=1), present.sum(axis=1)
    found = {}
    for column, rater in enumerate(matrix.raters):
        shared = present[:, column] & (count >= 2)
        own = filled[shared, column]
        others = (total[shared] - own) / (count[shared] - 1)
        labels = [matrix.clusters[row] for row in np.flatnonzero(shared)]
        found[rater] = mean_of(own - others, labels)
    return found


def use_of_levels(matrix: RatingMatrix) -> dict[str, list[dict[str, Any]]]:
    """Return for each rater the declared levels in order: ``{"level", "n", "share"}``.

    Unused levels are there with 0; the share is None for a rater who rated nothing.
    """
    table: dict[str, list[dict[str, Any]]] = {}
    for column, rater in enumerate(matrix.raters):
        scores = matrix.values[matrix.present[:, column], column]
        counts = [int((scores == level).sum()) for level in matrix.scale]
        table[rater] = [
            {"level": level, "n": n, "share": n / scores.size if scores.size else None}
            for level, n in zip(matrix.scale, counts, strict=True)
        ]
    return table


class Repeat(NamedTuple):
    """One response that one rater scored twice without being told."""

    rater: str
    unit: str
    cluster: str
    first: float | None
    second: float | None


@dataclass(frozen=True, kw_only=True)
class SelfAgreement:
    """A rater against oneself over the repeated responses.

    Attributes
    ----------
    kappa_quadratic : Figure
        Cohen's quadratic kappa of the two occasions; undefined (``no_variation``) if both used
        one and the same level only, (``too_few_pairs``) with one repeat.
    n : int
        Repeats with two scores.
    n_same : int
        Of these, those with the same level.
    mean_difference : float or None
        Second minus first.
    """

    kappa_quadratic: Figure
    n: int
    n_same: int
    mean_difference: float | None

    def to_dict(self) -> dict[str, Any]:
        """Write the rater's part for the report's JSON."""
        return {
            "kappa_quadratic": self.kappa_quadratic.to_dict(),
            "n": self.n,
            "n_same": self.n_same,
            "mean_difference": self.mean_difference,
        }


def self_agreement(
    repeats: Iterable[Repeat], *, scale: Sequence[float]
) -> dict[str, SelfAgreement]:
    """Return for each rater the agreement of the first and the second occasion.

    Distances come from the values of `scale`, as in every weighted kappa (Cohen 1968, Psychol.
    Bull. 70, 213-220). Raises `MatrixError` for a score off the scale or a unit repeated twice.

    >>> twice = [(0, 0), (1, 1), (2, 3), (3, 3)]
    >>> rows = [Repeat("ann", f"u{n}", f"d{n}", *scores) for n, scores in enumerate(twice)]
    >>> found = self_agreement(rows, scale=[0, 1, 2, 3])["ann"]
    >>> round(found.kappa_quadratic.estimate, 4), found.n_same, found.n
    (0.9167, 3, 4)
    """
    by_rater: dict[str, list[Repeat]] = {}
    for one in repeats:
        by_rater.setdefault(one.rater, []).append(one)
    return {rater: _with_oneself(rows, scale) for rater, rows in sorted(by_rater.items())}


def _with_oneself(rows: Sequence[Repeat], scale: Sequence[float]) -> SelfAgreement:
    both = [one for one in rows if one.first is not None and one.second is not None]
    if not both:
        nothing = Figure(estimate=None, undefined="no_overlap")
        return SelfAgreement(kappa_quadratic=nothing, n=0, n_same=0, mean_difference=None)
    table = [(one.unit, "1", one.first) for one in both]
    table += [(one.unit, "2", one.second) for one in both]
    clusters = {one.unit: one.cluster for one in both}
    matrix = RatingMatrix.from_long(table, scale=scale, clusters=clusters)
    apart = matrix.values[:, 1] - matrix.values[:, 0]
    return SelfAgreement(
        kappa_quadratic=coefficient(matrix, "light_kappa_quadratic"),
        n=len(both),
        n_same=int((apart == 0).sum()),
        mean_difference=float(apart.mean()),
    )


class Served(NamedTuple):
    """One score with its place: `position` among all that the rater was served, from 1, and
    `order` among the responses to the same dilemma, from 1."""

    rater: str
    cluster: str
    condition: str
    score: float
    position: int
    order: int


@dataclass(frozen=True, kw_only=True)
class Trend:
    """How scores move as the work goes on.

    Attributes
    ----------
    drift : Figure
        Change of the score per 100 responses served.
    order : Figure
        Change of the score per place among the responses to the same dilemma.
    """

    drift: Figure
    order: Figure

    def to_dict(self) -> dict[str, Any]:
        """Write the two slopes for the report's JSON."""
        return {"drift": self.drift.to_dict(), "order": self.order.to_dict()}


def trends(rows: Sequence[Served]) -> dict[str, Trend]:
    """Return the trends of each rater, and of all together under ``""``.

    Two regressions, not one: where each round serves every dilemma once, the position and the
    order within the dilemma rise together and cannot be told apart; read the two as two views.
    Each holds the level of every rater and condition fixed. Errors are robust to correlation
    within dilemmas (`clustered.slope`). Raises `MatrixError` for a place below 1.
    """
    if any(row.position < 1 or row.order < 1 for row in rows):
        raise MatrixError("A place in the served order counts from 1.")
    groups: dict[str, list[Served]] = {}
    for row in rows:
        groups.setdefault(row.rater, []).append(row)
    found = {rater: _trend(groups[rater]) for rater in sorted(groups)}
    return found | {"": _trend(rows)}


def _trend(rows: Sequence[Served]) -> Trend:
    scores = np.array([row.score for row in rows], dtype=np.float64)
    cells = [(row.rater, row.condition) for row in rows]
    clusters = [row.cluster for row in rows]
    position = np.array([row.position for row in rows], dtype=np.float64)
    order = np.array([row.order for row in rows], dtype=np.float64)
    return Trend(
        drift=slope(scores, position, cells, clusters, per=PER_POSITION),
        order=slope(scores, order, cells, clusters, per=1.0),
    )
