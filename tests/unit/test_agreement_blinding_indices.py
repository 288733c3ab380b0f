"""Blinding indices: what each extreme means, and the extension to k conditions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratings.agreement.blinding_indices import Guess, bang, blinding, cross_table, james

FIVE = ("A", "B", "C", "D", "E")


def guesses(pairs) -> list[Guess]:
    return [Guess(truth, guessed) for truth, guessed in pairs]


@pytest.mark.parametrize("labels", [FIVE, FIVE[:2], FIVE[:3]])
def test_extremes(labels):
    k = len(labels)
    right = blinding(guesses((one, one) for one in labels), labels)
    assert [one.estimate for one in right.bang.values()] == [1.0] * k
    assert right.james.estimate == pytest.approx(0)
    wrong = blinding(guesses((a, b) for a in labels for b in labels if a != b), labels)
    assert [one.estimate for one in wrong.bang.values()] == pytest.approx([-1 / (k - 1)] * k)
    nobody = blinding(guesses((one, None) for one in labels), labels)
    assert [one.estimate for one in nobody.bang.values()] == [0.0] * k
    assert nobody.james.estimate == 1.0
    chance = blinding(guesses((a, b) for a in labels for b in labels), labels)
    assert [one.estimate for one in chance.bang.values()] == pytest.approx([0] * k)
    assert chance.james.estimate == pytest.approx(0.5)
    assert right.extended == (k > 2)


def test_always_guessing_one_condition_is_chance_on_average():
    found = blinding(guesses((one, "A") for one in FIVE for _ in range(3)), FIVE)
    estimates = [one.estimate for one in found.bang.values()]
    assert estimates == pytest.approx([1, -0.25, -0.25, -0.25, -0.25])
    assert np.mean(estimates) == pytest.approx(0)


def test_a_condition_nobody_was_asked_about_is_undefined():
    found = blinding(guesses([("A", "A"), ("A", None)]), ("A", "B"))
    assert found.bang["B"].undefined == "no_overlap"
    assert found.bang["A"].estimate == 0.5
    assert (found.bang["A"].n, found.bang["A"].n_right, found.bang["A"].n_unknown) == (2, 1, 1)
    assert blinding([], ("A", "B")).james.undefined == "no_overlap"


def test_a_guess_from_quality_is_no_leak():
    rows = [Guess("A", "A", "quality"), Guess("A", "A", "codes"), Guess("B", "A", "wording")]
    every = blinding(rows, ("A", "B"))
    assert every.why == {
        "codes": {"n": 1, "n_right": 1},
        "quality": {"n": 1, "n_right": 1},
        "wording": {"n": 1, "n_right": 0},
    }
    leaks = blinding([one.leak_only() for one in rows], ("A", "B"))
    assert every.bang["A"].estimate == 1.0
    assert leaks.bang["A"].estimate == 0.5
    assert leaks.to_dict()["table"] == [[1, 1], [0, 0], [1, 0]]


def test_an_unknown_condition_is_refused():
    with pytest.raises(KeyError):
        cross_table([Guess("A", "Z")], FIVE)


@given(st.lists(st.integers(0, 30), min_size=12, max_size=12))
def test_standard_errors_are_those_of_resampled_guesses(counts):
    """The delta method's slope agrees with a numerical one."""
    table = np.array(counts, dtype=float).reshape(4, 3) + 1
    found, n = james(table), table.sum()
    step, slopes = 1e-6, np.zeros_like(table)
    for place in np.ndindex(table.shape):
        for sign in (1, -1):
            moved = table.copy()
            moved[place] += sign * step * n
            slopes[place] += sign * (james(moved).estimate or 0) / (2 * step)
    # Moving one count changes the shares of all: the slope of normalised counts.
    p = table / n
    variance = (p * slopes**2).sum() - (p * slopes).sum() ** 2
    assert found.standard_error == pytest.approx(np.sqrt(variance / n), rel=1e-4)
    for one in bang(table):
        assert -0.5 <= one.estimate <= 1
