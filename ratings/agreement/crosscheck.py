"""Every point estimate a second time, by a library where one computes it on that input.

A report is refused if the two differ: one of them is then wrong, and we do not know which.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ratings.agreement import libraries
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.results import PairAgreement

TOLERANCE = 1e-9
_ALPHA = "krippendorff_alpha_"


class EngineDisagreement(Exception):
    """Our figure and the library's differ by more than 1e-9; nothing may be reported."""

    def __init__(self, what: str, ours: float, library: float) -> None:
        super().__init__(f"{what}: the engine gives {ours!r}, the library {library!r}")
        self.what, self.ours, self.library = what, ours, library


def check_coefficient(matrix: RatingMatrix, key: str, ours: float) -> None:
    """Compare a defined coefficient; raises `EngineDisagreement`.

    Alpha always; unweighted Fleiss on complete data; the others have no runtime library and are
    held by the definition in the tests.
    """
    if key.startswith(_ALPHA):
        library = libraries.krippendorff_alpha(
            matrix.values, level=key.removeprefix(_ALPHA), scale=matrix.scale
        )
    elif key == "fleiss_kappa" and bool(matrix.present.all()):
        levels = np.asarray(matrix.scale)
        counts = (matrix.values[:, :, np.newaxis] == levels).sum(axis=1)
        library = libraries.fleiss_kappa(counts.astype(np.float64))
    else:
        return
    _compare(key, ours, library)


def check_pairs(matrix: RatingMatrix, pairs: Sequence[PairAgreement]) -> None:
    """Compare Cohen's kappas of all pairs; raises `EngineDisagreement`."""
    column_of = {rater: column for column, rater in enumerate(matrix.raters)}
    for pair in pairs:
        ours = {
            "nominal": pair.cohen_kappa,
            "linear": pair.cohen_kappa_linear,
            "quadratic": pair.cohen_kappa_quadratic,
        }
        defined = {weights: kappa for weights, kappa in ours.items() if kappa is not None}
        if defined:
            places = matrix.places[:, [column_of[pair.first], column_of[pair.second]]]
            both = places[(places >= 0).all(axis=1)]
            _check_pair(both, np.array(matrix.scale), defined, f"{pair.first} and {pair.second}")


def _check_pair(
    both: NDArray[np.int64], scale: NDArray[np.float64], ours: Mapping[str, float], who: str
) -> None:
    # Distances are taken from values, so unused levels may go.
    used = np.flatnonzero(np.bincount(both.ravel(), minlength=len(scale)))
    codes = np.searchsorted(used, both)
    table = np.bincount(codes[:, 0] * len(used) + codes[:, 1], minlength=len(used) ** 2)
    counts = table.reshape(len(used), len(used)).astype(np.float64)
    apart = np.abs(scale[used, np.newaxis] - scale[used])
    for weights, distances in (("nominal", None), ("linear", apart), ("quadratic", apart**2)):
        if weights in ours:
            library = libraries.cohens_kappa(counts, distances)
            _compare(f"cohen_kappa ({weights}) of {who}", ours[weights], library)


def _compare(what: str, ours: float, library: float) -> None:
    # "not <=" rather than ">": NaN from the library is a disagreement too.
    if not abs(ours - library) <= TOLERANCE:
        raise EngineDisagreement(what, ours, library)
