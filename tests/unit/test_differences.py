"""What two texts do not share: nothing lost, only what differs marked, in bounded time."""

import random
import time

import pytest

from dilemmas.differences import compare
from dilemmas.finder import finder_version


def changed(pieces):
    return [piece.text for piece in pieces if piece.changed]


def test_one_word_is_marked_on_both_sides():
    before, after = compare("The figure TEO says so.", "The figure [theory] says so.")
    assert changed(before) == ["TEO "]
    assert "".join(changed(after)) == "[theory] "


def test_equal_texts_have_no_difference():
    before, after = compare("Both count.\n", "Both count.\n")
    assert changed(before) == changed(after) == []


@pytest.mark.parametrize("texts", [("", ""), ("", "All new."), ("All gone.", ""), (" \n", "\n ")])
def test_empty_sides_are_whole(texts):
    sides = compare(*texts)
    assert tuple("".join(p.text for p in side) for side in sides) == texts


def test_pieces_make_up_the_texts_and_unmarked_ones_agree():
    draw = random.Random(6)
    for _round in range(300):
        words = [draw.choice(["a", "b", "ça", "·", "\n", "Són ", "D1"]) for _ in range(30)]
        other = [word for word in words if draw.random() > 0.2]
        other.insert(draw.randrange(len(other) + 1), "new")
        texts = " ".join(words), " ".join(other)
        sides = compare(*texts)
        assert tuple("".join(piece.text for piece in side) for side in sides) == texts
        same = ["".join(piece.text for piece in side if not piece.changed) for side in sides]
        assert same[0] == same[1]


@pytest.mark.parametrize("line", ["word, " * 20 + "\n", "\n", "x"])
def test_a_million_characters_are_compared_in_bounded_time(line):
    text = line * (1_000_000 // len(line))
    start = time.perf_counter()
    before, _after = compare(
        text, "A" + text[: len(text) // 2] + "B" + text[len(text) // 2 :] + "C"
    )
    assert time.perf_counter() - start < 10
    assert "".join(piece.text for piece in before) == text


def test_the_finder_has_a_name_that_stays():
    assert finder_version() == finder_version()
    assert finder_version().startswith("finder-") and len(finder_version()) == 19
