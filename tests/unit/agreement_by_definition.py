"""The coefficients again, from their definitions, slowly, in fractions: the oracle of the tests."""

from fractions import Fraction
from itertools import combinations, permutations, product

Units = list[list[int | None]]  # units[unit][rater], levels as integers


def distance(weights: str, x: int, y: int) -> Fraction:
    apart = abs(x - y)
    return Fraction({"nominal": int(apart > 0), "linear": apart, "quadratic": apart**2}[weights])


def percent(units: Units) -> Fraction | None:
    shares = [mean_apart(unit, "nominal") for unit in units if len(given(unit)) >= 2]
    return 1 - sum(shares) / Fraction(len(shares)) if shares else None


def fleiss(units: Units, weights: str) -> Fraction | None:
    paired = [unit for unit in units if len(given(unit)) >= 2]
    if sum(len(list(combinations(given(unit), 2))) for unit in paired) < 2:
        return None
    observed = sum(mean_apart(unit, weights) for unit in paired) / Fraction(len(paired))
    rated = [given(unit) for unit in units if given(unit)]
    levels = sorted({level for unit in rated for level in unit})
    share = {
        level: sum(Fraction(unit.count(level), len(unit)) for unit in rated) / len(rated)
        for level in levels
    }
    expected = sum(
        share[x] * share[y] * distance(weights, x, y) for x, y in product(levels, levels)
    )
    return 1 - observed / expected if expected else None


def alpha(units: Units, level: str) -> Fraction | None:
    paired = [given(unit) for unit in units if len(given(unit)) >= 2]
    if not paired:
        return None
    pooled = sorted(level for unit in paired for level in unit)
    count = {value: pooled.count(value) for value in pooled}

    def squared(x: int, y: int) -> Fraction:
        if level == "nominal":
            return distance("nominal", x, y)
        if level == "interval":
            return distance("quadratic", x, y)
        low, high = min(x, y), max(x, y)
        between = sum(n for value, n in count.items() if low <= value <= high)
        return (between - Fraction(count[low] + count[high], 2)) ** 2

    n = len(pooled)
    observed = sum(
        sum(squared(x, y) for x, y in permutations(unit, 2)) / (len(unit) - 1) for unit in paired
    )
    expected = sum(squared(x, y) for x, y in permutations(pooled, 2)) / (n - 1)
    return 1 - observed / expected if expected else None


def cohen(units: Units, a: int, b: int, weights: str) -> Fraction | None:
    both = [(unit[a], unit[b]) for unit in units if unit[a] is not None and unit[b] is not None]
    if len(both) < 2:
        return None
    observed = sum(distance(weights, x, y) for x, y in both) / Fraction(len(both))  # type: ignore[arg-type]
    expected = sum(
        distance(weights, x, y)  # type: ignore[arg-type]
        for (x, _), (_, y) in product(both, both)
    ) / Fraction(len(both) ** 2)
    return 1 - observed / expected if expected else None


def light(units: Units, weights: str) -> Fraction | None:
    raters = [r for r in range(len(units[0])) if any(unit[r] is not None for unit in units)]
    kappas = [cohen(units, a, b, weights) for a, b in combinations(raters, 2)]
    if not kappas or None in kappas:
        return None
    return sum(kappas) / Fraction(len(kappas))  # type: ignore[arg-type]


def given(unit: list[int | None]) -> list[int]:
    return [level for level in unit if level is not None]


def mean_apart(unit: list[int | None], weights: str) -> Fraction:
    pairs = list(combinations(given(unit), 2))
    return sum(distance(weights, x, y) for x, y in pairs) / Fraction(len(pairs))


def every_coefficient(units: Units) -> dict[str, Fraction | None]:
    return {
        "percent_agreement": percent(units),
        "light_kappa": light(units, "nominal"),
        "light_kappa_linear": light(units, "linear"),
        "light_kappa_quadratic": light(units, "quadratic"),
        "fleiss_kappa": fleiss(units, "nominal"),
        "fleiss_kappa_linear": fleiss(units, "linear"),
        "fleiss_kappa_quadratic": fleiss(units, "quadratic"),
        "krippendorff_alpha_nominal": alpha(units, "nominal"),
        "krippendorff_alpha_ordinal": alpha(units, "ordinal"),
        "krippendorff_alpha_interval": alpha(units, "interval"),
    }
