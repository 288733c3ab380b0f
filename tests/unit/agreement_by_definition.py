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
        if level == "ratio":
            return Fraction((x - y) ** 2, (x + y) ** 2) if x != y else Fraction(0)
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
    kappas = [cohen(units, a, b, weights) for a, b in combinations(heard(units), 2)]
    if not kappas or None in kappas:
        return None
    return sum(kappas) / Fraction(len(kappas))  # type: ignore[arg-type]


def given(unit: list[int | None]) -> list[int]:
    return [level for level in unit if level is not None]


def mean_apart(unit: list[int | None], weights: str) -> Fraction:
    pairs = list(combinations(given(unit), 2))
    return sum(distance(weights, x, y) for x, y in pairs) / Fraction(len(pairs))


def conger(units: Units, weights: str) -> Fraction | None:
    paired = [unit for unit in units if len(given(unit)) >= 2]
    if sum(len(list(combinations(given(unit), 2))) for unit in paired) < 2:
        return None
    observed = sum(mean_apart(unit, weights) for unit in paired) / Fraction(len(paired))
    columns = [given([unit[r] for unit in units]) for r in heard(units)]
    chance = [
        sum(distance(weights, x, y) for x, y in product(one, other))
        / Fraction(len(one) * len(other))
        for one, other in combinations(columns, 2)
    ]
    expected = sum(chance) / Fraction(len(chance))
    return 1 - observed / expected if expected else None


def gwet(units: Units, weights: str, scale: list[int]) -> Fraction | None:
    paired = [unit for unit in units if len(given(unit)) >= 2]
    if sum(len(list(combinations(given(unit), 2))) for unit in paired) < 2:
        return None
    largest = distance(weights, min(scale), max(scale))

    def weight(x: int, y: int) -> Fraction:
        return 1 - distance(weights, x, y) / largest

    agreement = sum(1 - mean_apart(unit, weights) / largest for unit in paired) / len(paired)
    rated = [given(unit) for unit in units if given(unit)]
    share = {
        level: sum(Fraction(unit.count(level), len(unit)) for unit in rated) / len(rated)
        for level in scale
    }
    q = len(scale)
    summed = sum(weight(x, y) for x, y in product(scale, scale))
    chance = summed / (q * (q - 1)) * sum(p * (1 - p) for p in share.values())
    return (agreement - chance) / (1 - chance)


def specific(units: Units, level: int) -> Fraction | None:
    paired = [given(unit) for unit in units if len(given(unit)) >= 2]
    shares = sum(Fraction(unit.count(level), len(unit)) for unit in paired)
    agree = sum(
        Fraction(
            sum(x == y == level for x, y in combinations(unit, 2)),
            len(list(combinations(unit, 2))),
        )
        for unit in paired
    )
    return agree / shares if shares else None


def complete(units: Units) -> list[list[int]]:
    """Return the units that all raters rated who rated any."""
    raters = heard(units)
    rows = [[unit[r] for r in raters] for unit in units]
    return [given(row) for row in rows if len(raters) >= 2 and None not in row]


def icc(units: Units, form: str) -> Fraction | None:
    """By the mean squares and the formulas of Shrout & Fleiss 1979."""
    rows = complete(units)
    n = len(rows)
    if n < 2:
        return None
    k = len(rows[0])
    everything = [x for row in rows for x in row]
    mean = Fraction(sum(everything), n * k)
    between = k * sum((Fraction(sum(row), k) - mean) ** 2 for row in rows)
    raters = n * sum((Fraction(sum(col), n) - mean) ** 2 for col in zip(*rows, strict=True))
    total = sum((x - mean) ** 2 for x in everything)
    bms, jms = between / (n - 1), raters / (k - 1)
    wms = (total - between) / (n * (k - 1))
    ems = (total - between - raters) / ((n - 1) * (k - 1))
    above, below = {
        "1_1": (bms - wms, bms + (k - 1) * wms),
        "2_1": (bms - ems, bms + (k - 1) * ems + k * (jms - ems) / n),
        "3_1": (bms - ems, bms + (k - 1) * ems),
        "1_k": (bms - wms, bms),
        "2_k": (bms - ems, bms + (jms - ems) / n),
        "3_k": (bms - ems, bms),
    }[form]
    return above / below if below else None


def kendall_w(units: Units) -> Fraction | None:
    rows = complete(units)
    n = len(rows)
    if n < 2:
        return None
    columns = list(zip(*rows, strict=True))
    k = len(columns)
    ranks = [
        [sum(y < x for y in column) + Fraction(column.count(x) + 1, 2) for x in column]
        for column in columns
    ]
    sums = [sum(rank) for rank in zip(*ranks, strict=True)]
    mean = Fraction(sum(sums), n)
    squares = sum((one - mean) ** 2 for one in sums)
    ties = sum(column.count(x) ** 3 - column.count(x) for column in columns for x in set(column))
    most = k * k * (n**3 - n) - k * ties
    return 12 * squares / most if most else None


def heard(units: Units) -> list[int]:
    return [r for r in range(len(units[0])) if any(unit[r] is not None for unit in units)]


def every_coefficient(units: Units, scale: list[int]) -> dict[str, Fraction | None]:
    return {
        "percent_agreement": percent(units),
        "light_kappa": light(units, "nominal"),
        "light_kappa_linear": light(units, "linear"),
        "light_kappa_quadratic": light(units, "quadratic"),
        "fleiss_kappa": fleiss(units, "nominal"),
        "fleiss_kappa_linear": fleiss(units, "linear"),
        "fleiss_kappa_quadratic": fleiss(units, "quadratic"),
        "conger_kappa": conger(units, "nominal"),
        "krippendorff_alpha_nominal": alpha(units, "nominal"),
        "krippendorff_alpha_ordinal": alpha(units, "ordinal"),
        "krippendorff_alpha_interval": alpha(units, "interval"),
        "krippendorff_alpha_ratio": alpha(units, "ratio"),
        "gwet_ac1": gwet(units, "nominal", scale),
        "gwet_ac2_linear": gwet(units, "linear", scale),
        "gwet_ac2_quadratic": gwet(units, "quadratic", scale),
        **{f"icc_{form}": icc(units, form) for form in ("1_1", "2_1", "3_1", "1_k", "2_k", "3_k")},
        "kendall_w": kendall_w(units),
    }
