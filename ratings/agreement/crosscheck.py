"""Every point estimate a second time, by a library where one computes it on that input.

A report is refused if the two differ: one of them is then wrong, and we do not know which.
"""

import numpy as np

from ratings.agreement import libraries
from ratings.agreement.matrix import RatingMatrix

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


def check_pair(matrix: RatingMatrix, first: str, second: str, ours: dict[str, float]) -> None:
    """Compare Cohen's kappas of one pair, keyed nominal, linear, quadratic.

    Raises `EngineDisagreement`.
    """
    columns = [matrix.raters.index(first), matrix.raters.index(second)]
    both = matrix.values[:, columns]
    both = both[~np.isnan(both).any(axis=1)]
    used = np.unique(both)  # distances are taken from values, so unused levels may go
    codes = np.searchsorted(used, both)
    table = np.bincount(codes[:, 0] * len(used) + codes[:, 1], minlength=len(used) ** 2).reshape(
        len(used), len(used)
    )
    apart = np.abs(used[:, np.newaxis] - used)
    for weights, distances in (("nominal", None), ("linear", apart), ("quadratic", apart**2)):
        if weights in ours:
            library = libraries.cohens_kappa(table.astype(np.float64), distances)
            _compare(f"cohen_kappa ({weights}) of {first} and {second}", ours[weights], library)


def _compare(what: str, ours: float, library: float) -> None:
    # "not <=" rather than ">": NaN from the library is a disagreement too.
    if not abs(ours - library) <= TOLERANCE:
        raise EngineDisagreement(what, ours, library)
