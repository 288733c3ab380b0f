"""Would a compiled loop pay? `uv run --with numba python -m tests.benchmarks.compiled [--times N]`.

All pairwise kappas (unweighted, linear, quadratic) of 36 pairs over 10,000 draws of 96 clusters, by
the engine and by numba on the same sums, one thread each, in turn. numba is no dependency.
"""

import argparse
import statistics

import numba
import numpy as np
from numpy.typing import NDArray

from ratings.agreement.coefficients import COEFFICIENTS, Drawn, Weighted
from ratings.agreement.resampling import draw_weights
from ratings.agreement.sums import sum_table
from tests.benchmarks.agreement import PAIRWISE, panel, timed

Array = NDArray[np.float64]


@numba.njit  # type: ignore[misc]
def _light(columns: Array, weights: Array, levels: Array, found: Array) -> None:
    width, pairs, clusters = columns.shape
    n_levels = len(levels)
    totals = np.empty(width)
    for draw in range(len(weights)):
        for pair in range(pairs):
            for row in range(width):
                total = 0.0
                for cluster in range(clusters):
                    total += columns[row, pair, cluster] * weights[draw, cluster]
                totals[row] = total
            n, linear, quadratic = totals[0], 0.0, 0.0
            nominal = n * n
            for one in range(n_levels):
                nominal -= totals[4 + one] * totals[4 + n_levels + one]
                for other in range(n_levels):
                    apart = abs(levels[one] - levels[other])
                    both = totals[4 + one] * totals[4 + n_levels + other]
                    linear += apart * both
                    quadratic += apart * apart * both
            found[0, draw] += (1 - totals[1] * n / nominal) / pairs
            found[1, draw] += (1 - totals[2] * n / linear) / pairs
            found[2, draw] += (1 - totals[3] * n / quadratic) / pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=7)
    options = parser.parse_args()
    (matrix,) = panel(13_778, 9, 1, 96).values()
    table = sum_table(matrix, sorted(set(matrix.clusters)))
    blocks = list(draw_weights(96, draws=10_000, seed=1))
    weights, columns = np.concatenate(blocks), np.ascontiguousarray(table.pair_columns)

    def engine() -> Array:
        by_block = [
            [COEFFICIENTS[key](Weighted.of(table, Drawn(block))).values for key in PAIRWISE]
            for block in blocks
        ]
        return np.concatenate(by_block, axis=1)

    def compiled() -> Array:
        found = np.zeros((3, len(weights)))
        _light(columns, weights, table.levels, found)
        return found

    apart = np.abs(engine() - compiled()).max()  # and it is compiled now
    ours, theirs = timed([engine, compiled], options.times)
    ratios = [b / a for a, b in zip(ours.processor, theirs.processor, strict=True)]
    print(f"numpy: {ours}\nnumba: {theirs}\nlargest difference {apart:.0e}")
    print(
        f"numba takes {statistics.median(ratios):.1f} times as long "
        f"({min(ratios):.1f} to {max(ratios):.1f}, by the processor's time)"
    )


if __name__ == "__main__":
    main()
