"""The order generator equals numpy's PCG64 word for word, and its integers are fair."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratings.design.random64 import Random64, stream


@given(st.integers(0, 2**200))
def test_words_equal_numpys_pcg64(seed: int) -> None:
    ours = Random64(seed)
    theirs = np.random.PCG64(seed).random_raw(5)
    assert [ours.word() for _ in range(5)] == [int(word) for word in theirs]


def test_words_for_seed_1_never_change() -> None:
    random = Random64(1)
    assert [random.word() for _ in range(2)] == [9441442522235856127, 17532960557476522086]


def test_shuffle_for_seed_1_never_changes() -> None:
    assert Random64(1).shuffled("abcdefgh") == list("caegdbfh")


def test_below_is_uniform() -> None:
    random = Random64(7)
    counts = Counter(random.below(3) for _ in range(30_000))
    assert set(counts) == {0, 1, 2}
    assert all(abs(count - 10_000) < 400 for count in counts.values())


def test_below_one_is_zero() -> None:
    assert Random64(3).below(1) == 0


@pytest.mark.parametrize("bound", [0, -1, 2**64 + 1])
def test_impossible_bound_is_refused(bound: int) -> None:
    with pytest.raises(ValueError, match="bound"):
        Random64(1).below(bound)


def test_negative_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="seed"):
        Random64(-1)


@given(st.lists(st.integers()), st.integers(0, 2**64))
def test_shuffle_keeps_every_item(items: list[int], seed: int) -> None:
    assert sorted(Random64(seed).shuffled(items)) == sorted(items)


def test_streams_of_one_seed_are_apart() -> None:
    numbers = [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (2**64 - 1,), (2**64 - 1, 0)]
    firsts = {stream(seed, *path).word() for path in numbers for seed in (0, 1, 2**64 - 1)}
    assert len(firsts) == 3 * len(numbers)
    assert stream(5).word() == Random64(5).word()


@pytest.mark.parametrize("numbers", [(-1,), (2**64,), (1, 2**64), (1, -1)])
def test_stream_outside_the_range_is_refused(numbers: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="between 0 and"):
        stream(*numbers)
