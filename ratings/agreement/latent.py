"""The latent-normal model that panels are planned with: who rates what, and what is then true.

Of one response on one criterion a judge sees, in units of the standard deviation of the responses'
true values,

    sqrt(b) D + sqrt(1 - b) R + severity + noise,

with D of the dilemma, R of the response within it, and b the share of true variance between
dilemmas; thresholds cut this so that the levels have the expected shares over all judges.
Severities are the judges' own and fixed, at equal steps of the normal distribution, and a given
multiple of the noise: so every agreement can be reached. Between criteria D, R and the noise
correlate alike.
"""

import math
from dataclasses import dataclass, fields, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratings.agreement.clustered import one_way
from ratings.agreement.matrix import MatrixError, RatingMatrix

Array = NDArray[np.float64]

GROUPS = 100  # of dilemmas in the sample that stands for the population: for its own error


@dataclass(frozen=True, kw_only=True)
class Design:
    """A panel as planned.

    Attributes
    ----------
    dilemmas, responses : int
        Dilemmas, and responses to each.
    judges, per_response : int
        Judges, and how many of them rate each response, in turn.
    scale : tuple of float
        The declared levels.
    shares : tuple of float
        Expected share of each level, over all judges; skew dominates what can be reached.
    between_dilemmas : float
        Share of the variance of true values that lies between dilemmas, in [0, 1].
    severity : float
        Standard deviation of the judges' severities, in standard deviations of their noise.
    noise : tuple of float
        Each judge's noise relative to the others'; () = all alike. Its size follows from the
        agreement aimed at.
    missing : float
        Share of scores that a judge cannot give.
    criteria : int
    correlation : float
        Between criteria, in [0, 1).
    """

    dilemmas: int = 30
    responses: int = 5
    judges: int = 3
    per_response: int = 3
    scale: tuple[float, ...] = (0.0, 1.0, 2.0, 3.0)
    shares: tuple[float, ...] = (0.25, 0.25, 0.25, 0.25)
    between_dilemmas: float = 0.3
    severity: float = 0.3
    noise: tuple[float, ...] = ()
    missing: float = 0.0
    criteria: int = 4
    correlation: float = 0.0

    def __post_init__(self) -> None:
        for name, least in (("dilemmas", 2), ("responses", 1), ("judges", 2), ("criteria", 1)):
            if getattr(self, name) < least:
                raise MatrixError(f"A plan needs {name} of {least} or more.")
        if not 2 <= self.per_response <= self.judges:
            raise MatrixError(
                "Each response needs two judges or more, and not more than there are."
            )
        if len(self.shares) != len(self.scale) or len(self.scale) < 2:
            raise MatrixError("A plan needs one expected share for each level of the scale.")
        if min(self.shares) < 0 or abs(math.fsum(self.shares) - 1) > 1e-6:
            raise MatrixError("The expected shares of the levels are not negative and sum to 1.")
        if sum(share > 0 for share in self.shares) < 2:
            raise MatrixError("Two levels or more must be expected: else nothing varies.")
        if self.noise and (len(self.noise) != self.judges or min(self.noise) <= 0):
            raise MatrixError("A plan needs a positive noise for each judge, or none.")
        within = 0 <= self.between_dilemmas <= 1 and 0 <= self.missing < 1
        if not within or not 0 <= self.correlation < 1 or self.severity < 0:
            raise MatrixError(
                "Shares and correlations lie between 0 and 1; severity is not below 0."
            )

    def to_dict(self) -> dict[str, Any]:
        """Write the design for JSON."""
        return {
            one.name: list(value) if isinstance(value := getattr(self, one.name), tuple) else value
            for one in fields(self)
        }

    @property
    def severities(self) -> Array:
        """The judges' severities in units of the noise, shape (judges,): mean 0."""
        steps = [NormalDist().inv_cdf((j + 0.5) / self.judges) for j in range(self.judges)]
        values = np.array(steps)
        spread = float(values.std(ddof=1))
        return values / spread * self.severity

    @property
    def relative_noise(self) -> Array:
        """Shape (judges,)."""
        return np.array(self.noise or (1.0,) * self.judges)


def assignment(design: Design, units: int) -> NDArray[np.bool_]:
    """Return who rates what, shape (units, judges): k of n in turn, so that loads differ by one."""
    first = (np.arange(units) * design.per_response) % design.judges
    place = (np.arange(design.judges) - first[:, np.newaxis]) % design.judges
    return np.asarray(place < design.per_response)


def cut_points(design: Design, seen: Array) -> Array:
    """Return the thresholds that give the levels their expected shares in `seen`."""
    cumulative = np.minimum(np.cumsum(design.shares)[:-1], 1.0)
    return np.quantile(seen, cumulative)


@dataclass(frozen=True, eq=False)
class Population:
    """A large sample that stands for infinitely many responses, with common random numbers.

    The same numbers serve every size of the noise, so that what is true rises smoothly as the
    noise falls.
    """

    design: Design
    true_values: Array  # (units,)
    errors: Array  # (units, judges), NaN where a judge does not rate
    groups: tuple[str, ...]

    @classmethod
    def drawn(cls, design: Design, seed: int, *, ratings: int) -> "Population":
        random = np.random.default_rng(np.random.SeedSequence([seed, 0]))
        dilemmas = max(GROUPS, ratings // (design.responses * design.judges))
        of_dilemma = random.standard_normal(dilemmas)
        units = dilemmas * design.responses
        of_response = random.standard_normal(units)
        b = design.between_dilemmas
        true = math.sqrt(b) * of_dilemma.repeat(design.responses) + math.sqrt(1 - b) * of_response
        errors = random.standard_normal((units, design.judges))
        errors[~assignment(design, units)] = np.nan
        places = (np.arange(units) // design.responses) % GROUPS
        return cls(design, true, errors, tuple(f"{place:03}" for place in places))

    def at(self, noise: float) -> tuple[RatingMatrix, Array]:
        """Return the ratings with this size of the noise, and the thresholds that they take."""
        error = self.design.severities + self.design.relative_noise * self.errors
        seen = self.true_values[:, np.newaxis] + noise * error
        there = ~np.isnan(seen)
        cuts = cut_points(self.design, seen[there])
        return _rated(self.design, seen, cuts, self.groups), cuts


def simulated(
    design: Design, noise: float, cuts: Array, random: np.random.Generator
) -> list[RatingMatrix]:
    """Return one panel's ratings, a table for each criterion."""
    units = design.dilemmas * design.responses
    b, r = design.between_dilemmas, design.correlation
    of_dilemma = _correlated(random, r, design.criteria, (design.dilemmas, 1, 1))
    of_response = _correlated(random, r, design.criteria, (design.dilemmas, design.responses, 1))
    errors = _correlated(random, r, design.criteria, (units, design.judges))
    true = math.sqrt(b) * of_dilemma + math.sqrt(1 - b) * of_response
    seen = true.reshape(design.criteria, units, 1)
    seen = seen + noise * (design.severities + design.relative_noise * errors)
    gone = ~assignment(design, units)
    if design.missing:
        gone = gone | (random.random((design.criteria, units, design.judges)) < design.missing)
    seen = np.where(gone, np.nan, seen)
    labels = tuple(f"{unit // design.responses:06}" for unit in range(units))
    return [_rated(design, one, cuts, labels) for one in seen]


def noise_for(noises: Array, values: Array, target: float) -> float | None:
    """Return the noise at which a coefficient, falling along `noises`, has the target.

    Linear between neighbours; None if the target is out of reach.
    """
    falling = np.minimum.accumulate(values)
    if not falling[-1] <= target <= falling[0]:
        return None
    return float(np.interp(-target, -falling, noises))


def from_pilot(pilot: RatingMatrix, design: Design) -> Design:
    """Return the design with what a pilot says of shares, dilemmas and severities.

    A pilot is other responses than the panel's own, rated by such judges. Shares of levels are as
    observed. By moments, on the scale's values: the noise is the variance within units after the
    judges' mean deviations, `severity` the standard deviation of these over that of the noise;
    `between_dilemmas` from a one-way analysis of the units' means by cluster, less the noise.
    What could not be given stays as planned. Raises `MatrixError` if the pilot has no unit with two
    ratings, or its scale is another.
    """
    present = pilot.present
    twice = present.sum(axis=1) >= 2
    if not twice.any() or pilot.scale != design.scale:
        raise MatrixError("A pilot needs responses with two ratings or more, on the plan's scale.")
    values, there = pilot.values[twice], present[twice]
    counts = there.sum(axis=1)
    means = np.nansum(values, axis=1) / counts
    apart = np.where(there, values - means[:, np.newaxis], 0.0)
    rated = there.any(axis=0)
    lenient = apart[:, rated].sum(axis=0) / there[:, rated].sum(axis=0)
    left = np.where(there[:, rated], apart[:, rated] - lenient, 0.0)
    noise = float((left**2).sum()) / max(1, int((counts - 1).sum() - rated.sum() + 1))
    found = one_way(means, [pilot.clusters[row] for row in np.flatnonzero(twice).tolist()])
    between = design.between_dilemmas
    if found is not None:
        of_response = max(0.0, found.within - noise / float(counts.mean()))
        total = found.between + of_response
        between = found.between / total if total > 0 else between
    used = pilot.values[present]
    return replace(
        design,
        shares=tuple(float((used == level).mean()) for level in pilot.scale),
        between_dilemmas=between,
        severity=float(lenient.std(ddof=1)) / math.sqrt(noise) if noise > 0 else design.severity,
    )


def _correlated(
    random: np.random.Generator, r: float, criteria: int, shape: tuple[int, ...]
) -> Array:
    """Return standard normals of shape (criteria, *shape), correlated by r between criteria."""
    common = random.standard_normal(shape)
    own = random.standard_normal((criteria, *shape))
    return math.sqrt(r) * common + math.sqrt(1 - r) * own


def _rated(design: Design, seen: Array, cuts: Array, clusters: tuple[str, ...]) -> RatingMatrix:
    levels = np.asarray(design.scale)[np.searchsorted(cuts, np.nan_to_num(seen), side="right")]
    values = np.where(np.isnan(seen), np.nan, levels)
    raters = tuple(f"{judge:03}" for judge in range(design.judges))
    units = tuple(map(str, range(len(seen))))
    return RatingMatrix(values, design.scale, raters, units, clusters)
