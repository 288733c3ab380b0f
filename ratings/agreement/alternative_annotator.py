"""May a model stand in for a judge? The alternative-annotator test, with what it can be fooled by.

Calderon, Reichart & Dror 2025, "The Alternative Annotator Test for LLM-as-a-Judge" (ACL 2025, pp.
16051-16081), sec. 3. For judge j and unit i, S is the alignment with the *remaining* judges; W_f =
1 if S(model) >= S(judge), W_h = 1 if S(judge) >= S(model); rho are their means. H0: rho_f <= rho_h
- epsilon, one-sided paired t over units, Benjamini-Yekutieli over judges x criteria; omega is the
share of judges beaten.

Units of one dilemma are not independent, so `over` says whether the t test is over units, as in
the paper, or over the means of clusters.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ratings.agreement import libraries
from ratings.agreement.clustered import numbered
from ratings.agreement.matrix import RatingMatrix

Array = NDArray[np.float64]
Alignment = Literal["accuracy", "neg_rmse"]
Over = Literal["units", "clusters"]

EPSILON_EXPERTS = 0.2
FEWEST_UNITS = 30
PASSES = 0.5
Q = 0.05
_SAME = 1e-12  # alignments of averaged scores tie up to rounding
_LARGEST = 4_000_000  # numbers held at once


@dataclass(frozen=True, kw_only=True)
class JudgeTest:
    """One annotator against one judge on one criterion.

    Attributes
    ----------
    n : int
        Units (or clusters) in the t test.
    rho_model, rho_judge : float or None
        Shares of units where the annotator, and where the judge, is at least as well aligned with
        the others; None without a usable unit.
    t, p : float or None
        t is -+ infinity without variance of the differences (p is then 0 or 1); both None if
        they are 0/0 or if `undefined`.
    p_adjusted : float or None
        Benjamini-Yekutieli over the judges and criteria tested together.
    beaten : bool
        Whether H0 is rejected.
    undefined : str or None
        ``too_few_pairs`` below the fewest units: the judge is left out of omega. ``no_variation``
        for 0/0: not beaten.
    """

    n: int
    rho_model: float | None
    rho_judge: float | None
    t: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    beaten: bool = False
    undefined: str | None = None


@dataclass(frozen=True, kw_only=True)
class AnnotatorTest:
    """One annotator against all judges, by criterion.

    Attributes
    ----------
    tests : mapping of criterion to mapping of rater to JudgeTest
    omega, rho : mapping of criterion to float or None
        Share of judges beaten, and the mean of `rho_model` over them; None without a judge who
        could be tested.
    """

    tests: Mapping[str, Mapping[str, JudgeTest]]
    omega: Mapping[str, float | None]
    rho: Mapping[str, float | None]


def benjamini_yekutieli(p_values: Sequence[float]) -> list[float]:
    """Return adjusted p-values, valid under any dependence, in the sequence given.

    Benjamini & Yekutieli 2001, Ann. Stat. 29, 1165-1188, theorem 1.3.

    >>> [round(p, 6) for p in benjamini_yekutieli([0.004, 0.02, 0.03])]
    [0.022, 0.055, 0.055]
    """
    m = len(p_values)
    harmonic = math.fsum(1 / rank for rank in range(1, m + 1))
    adjusted, lowest = [1.0] * m, 1.0
    order = sorted(range(m), key=lambda place: p_values[place])
    for rank in range(m, 0, -1):
        place = order[rank - 1]
        lowest = min(lowest, p_values[place] * m * harmonic / rank)
        adjusted[place] = lowest
    return adjusted


def against_judges(
    matrices: Mapping[str, RatingMatrix],
    annotators: Mapping[str, Array],
    *,
    alignment: Alignment,
    epsilon: float,
    over: Over,
    fewest: int = FEWEST_UNITS,
    q: float = Q,
) -> list[AnnotatorTest]:
    """Test every annotator on its own against every judge.

    Parameters
    ----------
    matrices : mapping of criterion to RatingMatrix
        The judges' scores.
    annotators : mapping of criterion to ndarray, shape (annotators, units)
        Scores in the sequence of the matrix's units; NaN where there is none; any real number.
    alignment : {"accuracy", "neg_rmse"}
        Share of the remaining judges with the same score, or minus the root mean square of the
        differences from them.
    epsilon : float
        What a judge's cost is worth; .2 for experts (the paper, sec. 3.3).
    over : {"units", "clusters"}
    fewest : int
        Units below which a judge is not tested, whatever `over` is.
    q : float
        False discovery rate.

    Returns
    -------
    list of AnnotatorTest
        One per annotator. A unit counts for a judge if the judge, the annotator and at least one
        other judge scored it.

    Examples
    --------
    >>> truth = [0, 1, 2, 3] * 10
    >>> rows = [(f"u{n:02}", j, x) for n, x in enumerate(truth) for j in ("a", "b", "c")]
    >>> matrix = RatingMatrix.from_long(rows, scale=[0, 1, 2, 3])
    >>> (found,) = against_judges({"s": matrix}, {"s": np.array([truth], dtype=float)},
    ...     alignment="neg_rmse", epsilon=.2, over="units")
    >>> found.omega, found.rho
    ({'s': 1.0}, {'s': 1.0})
    """
    moments = {
        key: {
            rater: _moments(matrix, column, annotators[key], alignment, over, fewest)
            for column, rater in enumerate(matrix.raters)
        }
        for key, matrix in matrices.items()
    }
    count = len(next(iter(annotators.values()))) if annotators else 0
    return [
        _concluded(
            {
                key: {rater: _one(sums, place, epsilon) for rater, sums in by_rater.items()}
                for key, by_rater in moments.items()
            },
            q,
        )
        for place in range(count)
    ]


@dataclass(frozen=True, eq=False)
class _Moments:
    """What the t test against one judge needs, each of shape (annotators,)."""

    size: Array  # units or clusters
    rho_model: Array
    rho_judge: Array
    apart: Array  # mean of W_h - W_f
    squares: Array  # sum of squares of W_h - W_f around it
    short: NDArray[np.bool_]  # too few units


def _moments(
    matrix: RatingMatrix,
    column: int,
    annotators: Array,
    alignment: Alignment,
    over: Over,
    fewest: int,
) -> _Moments:
    step = max(1, _LARGEST // max(1, matrix.values.size))
    parts = [
        _compared(matrix.values, column, annotators[start : start + step], alignment)
        for start in range(0, len(annotators), step)
    ]
    model, judge, weight = (
        np.concatenate([part[place] for part in parts]).astype(np.float64) for place in range(3)
    )
    short = weight.sum(axis=1) < fewest
    if over == "clusters":
        cluster, clusters = numbered(matrix.clusters)
        member = (cluster[:, np.newaxis] == np.arange(clusters)).astype(np.float64)
        sizes = weight @ member
        model, judge = (rows @ member / np.maximum(sizes, 1) for rows in (model, judge))
        weight = (sizes > 0).astype(np.float64)
    size = weight.sum(axis=1)
    divisor = np.maximum(size, 1)
    apart = judge - model
    mean = apart.sum(axis=1) / divisor
    return _Moments(
        size=size,
        rho_model=model.sum(axis=1) / divisor,
        rho_judge=judge.sum(axis=1) / divisor,
        apart=mean,
        squares=(weight * (apart - mean[:, np.newaxis]) ** 2).sum(axis=1),
        short=short,
    )


def _compared(
    values: Array, column: int, annotators: Array, alignment: Alignment
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return W_f, W_h and which units count, each of shape (annotators, units)."""
    others = np.delete(values, column, axis=1)
    there = ~np.isnan(others)
    own = values[:, column]
    used = ~np.isnan(annotators) & ~np.isnan(own) & there.any(axis=1)
    of_model = _misaligned(np.where(used, annotators, 0.0), others, there, alignment)
    of_judge = _misaligned(np.where(np.isnan(own), 0.0, own), others, there, alignment)
    return (of_model <= of_judge + _SAME) & used, (of_judge <= of_model + _SAME) & used, used


def _misaligned(
    scores: Array, others: Array, there: NDArray[np.bool_], alignment: Alignment
) -> Array:
    """Return minus the alignment, up to a monotone change, shape of `scores`."""
    apart = scores[..., np.newaxis] - np.where(there, others, 0.0)
    cost = np.abs(apart) > _SAME if alignment == "accuracy" else apart * apart
    total = np.where(there, cost, 0.0).sum(axis=-1)
    return np.asarray(total / np.maximum(there.sum(axis=-1), 1), dtype=np.float64)


def _one(moments: _Moments, place: int, epsilon: float) -> JudgeTest:
    size = int(moments.size[place])
    if not size:
        return JudgeTest(n=0, rho_model=None, rho_judge=None, undefined="no_overlap")
    known = JudgeTest(
        n=size,
        rho_model=float(moments.rho_model[place]),
        rho_judge=float(moments.rho_judge[place]),
    )
    if moments.short[place] or size < 2:
        return replace(known, undefined="too_few_pairs")
    above = float(moments.apart[place]) - epsilon
    error = math.sqrt(float(moments.squares[place]) / (size - 1) / size)
    if error > _SAME:
        t = above / error
        return replace(known, t=t, p=libraries.t_probability(t, size - 1))
    if abs(above) <= _SAME:
        return replace(known, undefined="no_variation")
    return replace(known, t=math.copysign(math.inf, above), p=0.0 if above < 0 else 1.0)


def _concluded(tests: Mapping[str, Mapping[str, JudgeTest]], q: float) -> AnnotatorTest:
    """Adjust over judges x criteria, and count who is beaten; 0/0 counts as p = 1."""
    cells = [
        (key, rater)
        for key, by_rater in tests.items()
        for rater, one in by_rater.items()
        if one.undefined in (None, "no_variation")
    ]
    raw = [tests[key][rater].p for key, rater in cells]
    adjusted = dict(
        zip(cells, benjamini_yekutieli([1.0 if p is None else p for p in raw]), strict=True)
    )
    done: dict[str, dict[str, JudgeTest]] = {}
    for key, by_rater in tests.items():
        done[key] = {}
        for rater, one in by_rater.items():
            p = adjusted.get((key, rater))
            known = p is not None and one.p is not None
            done[key][rater] = (
                replace(one, p_adjusted=p, beaten=p is not None and p <= q) if known else one
            )
    omega: dict[str, float | None] = {}
    rho: dict[str, float | None] = {}
    for key in tests:
        tested = [done[key][rater] for name, rater in cells if name == key]
        shares = [one.rho_model for one in tested if one.rho_model is not None]
        omega[key] = sum(one.beaten for one in tested) / len(tested) if tested else None
        rho[key] = math.fsum(shares) / len(shares) if shares else None
    return AnnotatorTest(tests=done, omega=omega, rho=rho)


@dataclass(frozen=True, kw_only=True)
class AlternativeAnnotator:
    """The whole test of one model, at one level (units, or means of clusters).

    Attributes
    ----------
    over : {"units", "clusters"}
        What the t tests are over.
    omega, rho : mapping of criterion to float or None
        Means over the repetitions, each tested singly.
    judges : mapping of criterion to mapping of rater to list of JudgeTest
        One per repetition.
    ensemble : AnnotatorTest
        The mean of the repetitions as one annotator: averaging alone gains.
    constant : mapping of criterion to mapping of level to float or None
        Omega of an annotator who always gives that level.
    shuffled : mapping of criterion to float or None
        Mean omega of the model's own scores dealt out again within each condition.
    interpretable : mapping of criterion to bool or None
        False if a constant level or the shuffled scores pass too: omega then says nothing. None
        if omega is undefined.
    passes : mapping of criterion to bool or None
        Whether omega reaches .5; None unless `interpretable`.
    """

    over: Over
    epsilon: float
    alignment: Alignment
    repetitions: int
    omega: Mapping[str, float | None]
    rho: Mapping[str, float | None]
    judges: Mapping[str, Mapping[str, Sequence[JudgeTest]]]
    ensemble: AnnotatorTest
    constant: Mapping[str, Mapping[float, float | None]]
    shuffled: Mapping[str, float | None]
    interpretable: Mapping[str, bool | None]
    passes: Mapping[str, bool | None]

    def to_dict(self) -> dict[str, Any]:
        """Write the test for the report's JSON, by criterion; an infinite t is None there."""
        return {
            key: {
                "omega": self.omega[key],
                "rho": self.rho[key],
                "passes": self.passes[key],
                "interpretable": self.interpretable[key],
                "judges": {
                    rater: [_plain(one) for one in rows] for rater, rows in self.judges[key].items()
                },
                "ensemble": {
                    "omega": self.ensemble.omega[key],
                    "rho": self.ensemble.rho[key],
                    "judges": {
                        rater: _plain(one) for rater, one in self.ensemble.tests[key].items()
                    },
                },
                "constant": [
                    {"level": level, "omega": omega} for level, omega in self.constant[key].items()
                ],
                "shuffled": {"omega": self.shuffled[key], "n": SHUFFLES},
            }
            for key in self.omega
        }


SHUFFLES = 100


def alternative_annotator(
    matrices: Mapping[str, RatingMatrix],
    model: Mapping[str, Array],
    conditions: Mapping[str, Sequence[str]],
    *,
    alignment: Alignment,
    epsilon: float,
    over: Over,
    seed: int,
    fewest: int = FEWEST_UNITS,
) -> AlternativeAnnotator:
    """Test a model's repetitions singly, their mean apart, and what the test can be fooled by.

    Parameters
    ----------
    matrices : mapping of criterion to RatingMatrix
    model : mapping of criterion to ndarray, shape (units, repetitions)
        NaN where a repetition has no score. Every criterion has as many repetitions.
    conditions : mapping of criterion to sequence of str
        Each unit's condition, within which the shuffled annotators deal scores out again.
    seed : int
        Of the shuffles; the same seed gives the same ones.

    See `against_judges` for the other arguments.
    """
    repetitions = next(iter(model.values())).shape[1] if model else 0
    levels = max((len(matrix.scale) for matrix in matrices.values()), default=0)
    annotators = {}
    for number, (key, matrix) in enumerate(matrices.items()):
        given = ~np.isnan(model[key]).all(axis=1)
        flat = np.array(
            [
                np.where(given, matrix.scale[min(place, len(matrix.scale) - 1)], np.nan)
                for place in range(levels)
            ]
        )
        rows = [
            model[key].T,
            row_means(model[key])[np.newaxis],
            flat,
            _shuffled(model[key], conditions[key], seed=seed, stream=number),
        ]
        annotators[key] = np.concatenate(rows)
    tests = against_judges(
        matrices, annotators, alignment=alignment, epsilon=epsilon, over=over, fewest=fewest
    )
    singly, ensemble = tests[:repetitions], tests[repetitions]
    flats = tests[repetitions + 1 : repetitions + 1 + levels]
    shuffles = tests[repetitions + 1 + levels :]
    omega = {key: _mean([one.omega[key] for one in singly]) for key in matrices}
    constant = {
        key: {level: flats[place].omega[key] for place, level in enumerate(matrix.scale)}
        for key, matrix in matrices.items()
    }
    shuffled = {key: _mean([one.omega[key] for one in shuffles]) for key in matrices}
    fooled = {
        key: any(
            one is not None and one >= PASSES for one in (*constant[key].values(), shuffled[key])
        )
        for key in matrices
    }
    known = {key: found for key, found in omega.items() if found is not None}
    return AlternativeAnnotator(
        over=over,
        epsilon=epsilon,
        alignment=alignment,
        repetitions=repetitions,
        omega=omega,
        rho={key: _mean([one.rho[key] for one in singly]) for key in matrices},
        judges={
            key: {rater: [one.tests[key][rater] for one in singly] for rater in matrix.raters}
            for key, matrix in matrices.items()
        },
        ensemble=ensemble,
        constant=constant,
        shuffled=shuffled,
        interpretable={key: not fooled[key] if key in known else None for key in matrices},
        passes={
            key: known[key] >= PASSES if key in known and not fooled[key] else None
            for key in matrices
        },
    )


def row_means(values: Array) -> Array:
    """Return each row's mean over what is there, correctly rounded; NaN where nothing is.

    >>> row_means(np.array([[1.0, 2.0], [np.nan, 3.0], [np.nan, np.nan]]))
    array([1.5, 3. , nan])
    """
    found = [[x for x in row if not math.isnan(x)] for row in values.tolist()]
    return np.array([math.fsum(row) / len(row) if row else math.nan for row in found])


def _shuffled(model: Array, conditions: Sequence[str], *, seed: int, stream: int) -> Array:
    """Deal the repetitions' scores out again within conditions, repetition by repetition.

    Raw words are sorted, so that the shuffles are the same for ever. Shape (SHUFFLES, units).
    """
    units, repetitions = model.shape
    shuffled = np.full((SHUFFLES, units), np.nan)
    if not repetitions:
        return shuffled
    words = np.random.PCG64(np.random.SeedSequence([seed, stream])).random_raw(SHUFFLES * units)
    keys = words.reshape(SHUFFLES, units)
    group, groups = numbered(conditions)
    for repetition in range(repetitions):
        turn = np.arange(repetition, SHUFFLES, repetitions)
        for one in range(groups):
            there = np.flatnonzero((group == one) & ~np.isnan(model[:, repetition]))
            dealt = there[np.argsort(keys[np.ix_(turn, there)], axis=1, kind="stable")]
            shuffled[np.ix_(turn, there)] = model[dealt, repetition]
    return shuffled


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None


def _plain(one: JudgeTest) -> dict[str, Any]:
    t = one.t if one.t is not None and math.isfinite(one.t) else None
    return {
        "n": one.n,
        "rho_model": one.rho_model,
        "rho_judge": one.rho_judge,
        "t": t,
        "p": one.p,
        "p_adjusted": one.p_adjusted,
        "beaten": one.beaten,
        "undefined": one.undefined,
    }
