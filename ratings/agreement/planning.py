"""What a panel as planned could show: simulated before it, never from its own ratings.

The model is `latent`. The sizes that agreement depends on are given; the noise of the judges follows
from each true value of the registered coefficient in turn, over a grid. A rule (`decide`) turns what a
simulated panel would report into verdicts, as the gate does with a real one.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ratings.agreement import libraries
from ratings.agreement.affinity import POWER, least_detectable
from ratings.agreement.analyse import one_coefficient
from ratings.agreement.clustered import coefficient
from ratings.agreement.coefficients import (
    COEFFICIENTS,
    Drawn,
    Weighted,
    everything,
)
from ratings.agreement.latent import Design, Population, noise_for, simulated
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.resampling import draw_weights
from ratings.agreement.sums import sum_table

Array = NDArray[np.float64]
Verdict = Literal["met", "not_met", "undecidable"]
VERDICTS: tuple[Verdict, ...] = ("met", "not_met", "undecidable")
GRID = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85)
_NOISES = np.concatenate([[0.0], np.geomspace(0.05, 12.0, 24)])
_TOLD = 20  # panels between two reports of progress


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one simulated panel would report on one criterion."""

    estimate: float | None
    lower95: float | None
    undefined: str | None
    required: int
    rated: int
    varies: bool


Decide = Callable[[Sequence[Outcome]], tuple[Sequence[Verdict], Verdict]]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Chances:
    """Shares of simulated panels with each verdict, and the Monte Carlo error of a share.

    The error is one standard error, at most 1 / (2 sqrt(panels)).
    """

    met: float
    not_met: float
    undecidable: float
    error: float


@dataclass(frozen=True, kw_only=True)
class Point:
    """One true value of the registered coefficient under one design.

    Attributes
    ----------
    aimed_at, true_value, true_value_error : float
        The value of the grid, the one simulated, and the standard error of the latter, which is
        computed on a large sample.
    noise : float
        Of a judge, in standard deviations of the true values.
    criterion, jointly : Chances
        On one criterion, and for the panel.
    half_width_median, half_width_90 : float or None
        Of the two-sided 95 % interval (cluster jackknife): its median and its 90 % point.
    lower_gap_median : float or None
        Median of estimate - one-sided lower bound.
    others : mapping of coefficient to float or None
        What the other coefficients are for the same judges.
    """

    aimed_at: float
    true_value: float
    true_value_error: float
    noise: float
    criterion: Chances
    jointly: Chances
    half_width_median: float | None
    half_width_90: float | None
    lower_gap_median: float | None
    others: Mapping[str, float | None]


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """The expected true value, with more of something; the first changes nothing."""

    changed: Mapping[str, int]
    point: Point
    hours_per_judge: float


@dataclass(frozen=True, kw_only=True)
class Differences:
    """What contrasts of a given spread could show.

    Attributes
    ----------
    half_width : float
        Expected half-width of the t(K - 1) interval.
    least_detectable : float
        True difference that the interval excludes zero for in 80 % of panels.
    least_above_margin : float or None
        True difference for which the lower limit lies above the margin in 80 % of panels.
    """

    sd: float
    margin: float | None
    half_width: float
    least_detectable: float
    least_above_margin: float | None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All that a plan says; enough to compute it again.

    Attributes
    ----------
    needed_for_80 : mapping of "criterion" and "jointly" to float or None
        True value at which the chance of *met* is .80, between the points of the grid; None if the
        grid does not reach it.
    unreachable : tuple of float
        Values of the grid that no noise gives with these shares and severities.
    """

    design: Design
    coefficient: str
    expected: float | None
    points: tuple[Point, ...]
    unreachable: tuple[float, ...]
    needed_for_80: Mapping[str, float | None]
    alternatives: tuple[Alternative, ...]
    contrast: Differences | None
    affinity: Differences | None
    hours_per_judge: float
    panels: int
    draws: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Write the plan for JSON."""
        return asdict(self) | {
            "design": self.design.to_dict(),
            "points": [asdict(point) for point in self.points],
            "alternatives": [asdict(one) for one in self.alternatives],
            "unreachable": list(self.unreachable),
        }


def plan(
    design: Design,
    *,
    coefficient_key: str,
    decide: Decide,
    expected: float | None = None,
    grid: Sequence[float] = GRID,
    contrast_sd: float | None = None,
    margin: float | None = None,
    affinity_sd: float | None = None,
    minutes_per_response: float = 6.0,
    panels: int = 1000,
    draws: int = 1000,
    sample: int = 150_000,
    seed: int,
    progress: Progress | None = None,
) -> Plan:
    """Simulate panels over a grid of true values, and with more of everything at the expected one.

    Parameters
    ----------
    design : Design
    coefficient_key : str
        The registered coefficient, a key of the agreement report.
    decide : callable
        From the outcomes on all criteria to a verdict on each and on the panel.
    expected : float, optional
        The agreement hoped for (or a pilot's): alternatives are simulated there; without it there
        are none.
    contrast_sd, affinity_sd : float, optional
        Standard deviation over dilemmas of the difference of two conditions, and of the model's
        minus the panel's, as shares of the maximum.
    margin : float, optional
        Registered for contrasts.
    minutes_per_response : float
    panels, draws : int
        Simulated panels at each point; bootstrap draws of each for the lower bound.
    sample : int
        Ratings in the large sample on which true values are computed.
    seed : int
        The same seed gives the same plan, whatever else runs.
    progress : callable (done, of), optional

    Raises
    ------
    KeyError
        For a coefficient that is not known.

    Notes
    -----
    The panels of every point share their random numbers, so that differences between points are
    steadier than the points. Memory is that of one panel and of the large sample, whatever the number
    of panels.
    """
    COEFFICIENTS[coefficient_key]  # an unknown one ends here
    more = _alternatives(design) if expected is not None else []
    total = panels * (len(grid) + len(more))
    run = _Run(coefficient_key, decide, panels, draws, seed, progress, total)
    points, unreachable = [], []
    truth = _Truth.of(design, coefficient_key, seed, sample)
    for value in grid:
        point = run.point(design, truth, value)
        (unreachable.append(value) if point is None else points.append(point))
    alternatives = []
    for changed in more:
        other = replace(design, **changed)
        again = (
            truth
            if other.judges == design.judges
            else _Truth.of(other, coefficient_key, seed, sample)
        )
        point = run.point(other, again, expected or 0.0)
        if point is not None:
            alternatives.append(
                Alternative(
                    changed=changed,
                    point=point,
                    hours_per_judge=_hours(other, minutes_per_response),
                )
            )
    return Plan(
        design=design,
        coefficient=coefficient_key,
        expected=expected,
        points=tuple(points),
        unreachable=tuple(unreachable),
        needed_for_80={
            name: _needed([p.true_value for p in points], [getattr(p, name).met for p in points])
            for name in ("criterion", "jointly")
        },
        alternatives=tuple(alternatives),
        contrast=_differences(contrast_sd, design.dilemmas, margin),
        affinity=_differences(affinity_sd, design.dilemmas, None),
        hours_per_judge=_hours(design, minutes_per_response),
        panels=panels,
        draws=draws,
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _Truth:
    """The registered coefficient along the noise, on one large sample."""

    population: Population
    key: str
    values: Array

    @classmethod
    def of(cls, design: Design, key: str, seed: int, sample: int) -> "_Truth":
        population = Population.drawn(design, seed, ratings=sample)
        values = [_value(population.at(noise)[0], key) for noise in _NOISES]
        return cls(population, key, np.array([0.0 if v is None else v for v in values]))

    def at(self, target: float) -> tuple[float, RatingMatrix, Array] | None:
        noise = noise_for(_NOISES, self.values, target)
        return None if noise is None else (noise, *self.population.at(noise))


@dataclass(eq=False)
class _Run:
    """Simulates points, and says how far it is."""

    key: str
    decide: Decide
    panels: int
    draws: int
    seed: int
    progress: Progress | None
    total: int
    done: int = 0

    def point(self, design: Design, truth: _Truth, target: float) -> Point | None:
        found = truth.at(target)
        if found is None:
            self._tell(self.panels)
            return None
        noise, sample, cuts = found
        exact = coefficient(sample, self.key)
        weights = np.concatenate(
            [
                np.zeros((0, design.dilemmas)),
                *draw_weights(design.dilemmas, draws=self.draws, seed=self.seed),
            ]
        )
        counted = {verdict: 0 for verdict in VERDICTS}
        jointly = {verdict: 0 for verdict in VERDICTS}
        halves: list[float] = []
        gaps: list[float] = []
        for number, stream in enumerate(np.random.SeedSequence([self.seed, 1]).spawn(self.panels)):
            tables = simulated(design, noise, cuts, np.random.default_rng(stream))
            outcomes = []
            for table in tables:
                outcome, half = _outcome(table, self.key, weights, design)
                outcomes.append(outcome)
                halves += [] if half is None else [half]
                if outcome.estimate is not None and outcome.lower95 is not None:
                    gaps.append(outcome.estimate - outcome.lower95)
            verdicts, panel = self.decide(outcomes)
            for verdict in verdicts:
                counted[verdict] += 1
            jointly[panel] += 1
            if (number + 1) % _TOLD == 0:
                self._tell(_TOLD)
        self._tell(self.panels % _TOLD)
        error = exact.ci95
        spread = 0.0 if error is None else (error[1] - error[0]) / 2 / _HALF_TO_SE
        return Point(
            aimed_at=target,
            true_value=exact.estimate or 0.0,
            true_value_error=spread,
            noise=noise,
            criterion=_chances(counted, self.panels),
            jointly=_chances(jointly, self.panels),
            half_width_median=float(np.median(halves)) if halves else None,
            half_width_90=float(np.quantile(halves, 0.9)) if halves else None,
            lower_gap_median=float(np.median(gaps)) if gaps else None,
            others={key: _value(sample, key) for key in COEFFICIENTS if key != self.key},
        )

    def _tell(self, panels: int) -> None:
        self.done += panels
        if self.progress is not None and panels:
            self.progress(self.done, self.total)


_HALF_TO_SE = 1.984  # t_.975 with 99 degrees of freedom: the sample's 100 groups


def _outcome(
    table: RatingMatrix, key: str, weights: Array, design: Design
) -> tuple[Outcome, float | None]:
    """Return what a report would say of one table, and its interval's half-width."""
    sums = sum_table(table, sorted(set(table.clusters)))
    found = one_coefficient(sums, key, COEFFICIENTS[key](Weighted.of(sums, Drawn(weights))))
    half = None if found.ci95 is None else (found.ci95[1] - found.ci95[0]) / 2
    outcome = Outcome(
        estimate=found.estimate,
        lower95=found.lower95,
        undefined=found.undefined,
        required=design.dilemmas * design.responses * design.per_response,
        rated=int(table.present.sum()),
        varies=table.varies,
    )
    return outcome, half


def _value(matrix: RatingMatrix, key: str) -> float | None:
    clusters = sorted(set(matrix.clusters))
    found = COEFFICIENTS[key](Weighted.of(sum_table(matrix, clusters), everything))
    return float(found.values[0]) if found.defined[0] else None


def _chances(counted: Mapping[Verdict, int], panels: int) -> Chances:
    n = sum(counted.values()) or 1
    shares = {verdict: counted[verdict] / n for verdict in VERDICTS}
    # Criteria of one panel are not independent: the error is that of so many panels.
    error = math.sqrt(shares["met"] * (1 - shares["met"]) / max(1, panels))
    return Chances(**shares, error=error)


def _needed(values: Sequence[float], met: Sequence[float]) -> float | None:
    """Return where the chance first crosses .80, linear between neighbours.

    >>> _needed([0.6, 0.7, 0.8], [0.1, 0.6, 1.0])
    0.75
    """
    for place in range(1, len(values)):
        low, high = met[place - 1], met[place]
        if low < POWER <= high:
            share = (POWER - low) / (high - low)
            return values[place - 1] + share * (values[place] - values[place - 1])
    return None


def _alternatives(design: Design) -> list[dict[str, Any]]:
    """Return the design, and then more dilemmas, responses or judges than it has."""
    changes: list[dict[str, Any]] = [{}]
    changes += [{"dilemmas": math.ceil(design.dilemmas * share)} for share in (1.5, 2)]
    changes += [{"responses": design.responses + more} for more in (1, 3)]
    if not design.noise:
        changes += [
            {"judges": design.judges + more, "per_response": design.per_response + more}
            for more in (1, 2)
        ]
    return changes


def _differences(sd: float | None, dilemmas: int, margin: float | None) -> Differences | None:
    if sd is None:
        return None
    least = least_detectable(sd, dilemmas)
    return Differences(
        sd=sd,
        margin=margin,
        half_width=libraries.t_quantile(0.975, dilemmas - 1) * sd / math.sqrt(dilemmas),
        least_detectable=least,
        least_above_margin=None if margin is None else margin + least,
    )


def _hours(design: Design, minutes: float) -> float:
    served = design.dilemmas * design.responses * design.per_response / design.judges
    return served * minutes / 60
