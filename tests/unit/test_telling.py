"""What still tells: a classifier that learns from other dilemmas only, and its interval."""

import math
import random
import re
import time
from collections import Counter

import pytest

from dilemmas import telling
from dilemmas.telling import Sample, Shape

WORDS = [f"{a}{b}{c}" for a in "bdfgl" for b in "aeiou" for c in "mnrst"]


def texts(
    *, clusters: int = 30, conditions: str = "ABCDE", seed: int = 1, words: int = 120
) -> list[Sample]:
    """Texts that say nothing of their condition."""
    draw = random.Random(seed)
    return [
        Sample(
            " ".join(draw.choices(WORDS, k=words + draw.randrange(words))),
            condition,
            f"D{cluster:02}",
        )
        for cluster in range(clusters)
        for condition in conditions
    ]


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("", Shape(0, 0, 0, 0, 0)),
        ("One.\n\nTwo.", Shape(10, 2, 0, 0, 0)),
        ("## Head\n\n- a\n- b\n1. c\n\n**bold** and **more**", Shape(44, 3, 1, 3, 2)),
        ("**Head.**\nText\n \n* a", Shape(20, 2, 1, 1, 1)),
        ("**FEN.** Text 2 * 3 * 4, snake_case__x", Shape(38, 1, 0, 0, 1)),
    ],
)
def test_shape(text: str, shape: Shape) -> None:
    assert telling.shape(text) == shape


def test_texts_that_tell_nothing_are_guessed_at_chance() -> None:
    found = telling.measure(texts())
    assert (found.n_texts, found.n_clusters, found.chance, found.undefined) == (150, 30, 0.2, "")
    assert set(found.guesses) == {"layout", "words", "both"}
    for guess in found.guesses.values():
        assert guess.low < 0.2 < guess.high
        assert guess.low < guess.share < guess.high
        assert guess.share == pytest.approx(sum(guess.by_condition.values()) / 5)
        assert guess.right == pytest.approx(guess.share * 150)


def test_chance_is_covered_as_often_as_promised() -> None:
    covered = [
        all(g.low <= 0.2 <= g.high for g in (telling.measure(texts(seed=seed, words=40)).guesses["both"],))
        for seed in range(60)
    ]  # fmt: skip
    assert sum(covered) >= 52  # 57 are expected; the guesses depend a little on one another


def test_length_tells() -> None:
    samples = [
        Sample(" ".join([one.text] * (1 + "ABCDE".index(one.condition) ** 2)), one.condition, one.cluster)
        for one in texts()
    ]  # fmt: skip
    found = telling.measure(samples)
    assert found.guesses["layout"].share > 0.9
    assert found.guesses["words"].share < 0.4
    assert found.guesses["both"].share > 0.85


def test_a_word_tells() -> None:
    samples = [
        Sample(one.text + (" noumenon" if one.condition == "E" else ""), one.condition, one.cluster)
        for one in texts()
    ]
    found = telling.measure(samples)
    assert found.guesses["words"].by_condition["E"] > 0.7
    assert found.guesses["layout"].by_condition["E"] < 0.6


def test_a_word_of_one_dilemma_is_of_no_help() -> None:
    """What a dilemma's own responses share is learnt from no other dilemma."""
    samples = [
        Sample(
            f"{one.text} {chr(97 + int(one.cluster[1:]) % 26)}{one.condition}{one.cluster[1:]}z",
            one.condition,
            one.cluster,
        )
        for one in texts(clusters=20)
    ]
    own = {re.sub(r"\W", "", one.text.split()[-1]) for one in samples}
    assert len(own) == 100
    assert telling.measure(samples).guesses["words"].share < 0.35


def by_definition(samples: list[Sample]) -> list[dict[str, float]]:
    """The words' score, each dilemma learnt anew from the others."""
    bags = [frozenset(one.text.lower().split()) for one in samples]
    homes: dict[str, set[str]] = {}
    for one, bag in zip(samples, bags, strict=True):
        for word in bag:
            homes.setdefault(word, set()).add(one.cluster)
    shared = {word for word, clusters in homes.items() if len(clusters) > 1}
    scores = []
    for one, bag in zip(samples, bags, strict=True):
        row = {}
        for condition in sorted({s.condition for s in samples}):
            counts = Counter(
                word
                for other, words in zip(samples, bags, strict=True)
                if other.cluster != one.cluster and other.condition == condition
                for word in words & shared
            )
            total = sum(counts.values()) + len(shared)
            row[condition] = sum(math.log((counts[w] + 1) / total) for w in bag & shared)
        scores.append(row)
    return scores


def test_texts_that_look_the_same_are_guessed_at_exactly_chance() -> None:
    samples = [Sample("The same.", c, str(n)) for n in range(10) for c in "ABCDE"]
    for guess in telling.measure(samples).guesses.values():
        assert guess.share == pytest.approx(0.2)
        assert guess.by_condition == pytest.approx(dict.fromkeys("ABCDE", 0.2))


def test_words_are_scored_as_by_definition() -> None:
    samples = texts(clusters=6, conditions="ABC", words=30)
    fast = telling._Words(samples).scores(["A", "B", "C"])
    for mine, defined in zip(fast, by_definition(samples), strict=True):
        assert mine == pytest.approx(defined, abs=1e-9)


def test_layout_is_learnt_from_the_other_dilemmas() -> None:
    """One dilemma written the other way round is guessed the wrong way round."""
    samples = []
    for cluster in range(8):
        short, long = "a few words", "a few words " * 40
        first, second = (long, short) if cluster == 0 else (short, long)
        samples += [Sample(first, "A", str(cluster)), Sample(second, "B", str(cluster))]
    found = telling.measure(samples)
    assert found.guesses["layout"].right == 14


@pytest.mark.parametrize(
    ("samples", "undefined"),
    [
        ([], "one_condition"),
        ([Sample("a", "A", "1"), Sample("b", "A", "2")], "one_condition"),
        (texts(clusters=4), "too_few_dilemmas"),
        ([Sample(" ", c, str(n)) for n in range(9) for c in "AB"], "one_condition"),
    ],
)
def test_what_cannot_be_measured_says_why(samples: list[Sample], undefined: str) -> None:
    found = telling.measure(samples)
    assert found.undefined == undefined
    assert found.guesses == {}


def test_a_condition_of_a_single_dilemma_is_no_obstacle() -> None:
    samples = [*texts(clusters=6, conditions="AB"), Sample("alone here", "C", "D00")]
    found = telling.measure(samples)
    assert found.guesses["both"].by_condition["C"] == 0.0
    assert found.chance == 6 / 13


def test_interval_against_published_and_limiting_values() -> None:
    # Wilson's interval of 15 of 20 without clustering, with t(19) in place of z.
    low, high = telling.interval([(1, 1)] * 15 + [(0, 1)] * 5)
    t, n, p = 2.093024, 20 / (20 / 19), 0.75  # K/(K-1) is the only design effect of single texts
    half = t * math.sqrt(p * (1 - p) / n + t * t / (4 * n * n)) / (1 + t * t / n)
    middle = (p + t * t / (2 * n)) / (1 + t * t / n)
    assert (low, high) == pytest.approx((middle - half, middle + half), abs=2e-4)
    low, high = telling.interval([(5, 5)] * 30)
    assert high == pytest.approx(1.0)
    assert 0.96 < low < 0.98
    # All or nothing within dilemmas: as few texts as dilemmas.
    wide, narrow = telling.interval([(5, 5), (0, 5)] * 15), telling.interval([(2, 5), (3, 5)] * 15)
    assert wide[1] - wide[0] > 2 * (narrow[1] - narrow[0])


@pytest.mark.parametrize(("share", "within"), [(0.2, 0.1), (0.8, 0.3), (0.99, 0.1)])
def test_interval_covers_where_a_bootstrap_does_not(share: float, within: float) -> None:
    """30 dilemmas of 5 texts with a correlation within dilemmas; docs/blinding.md has the table."""
    draw, hits, rounds = random.Random(7), 0, 400
    a, b = share * (1 - within) / within, (1 - share) * (1 - within) / within
    for _ in range(rounds):
        clusters = []
        for _ in range(30):
            p = draw.betavariate(a, b)
            clusters.append((sum(draw.random() < p for _ in range(5)), 5))
        low, high = telling.interval(clusters)
        hits += low <= share <= high
    assert hits / rounds > 0.92


def test_150_texts_take_less_than_a_second() -> None:
    draw = random.Random(3)
    vocabulary = [w + v for w in WORDS for v in WORDS[:40]]
    samples = [
        Sample(" ".join(draw.choices(vocabulary, k=650)), condition, str(cluster))
        for cluster in range(30)
        for condition in "ABCDE"
    ]
    assert sum(len(one.text) for one in samples) > 600_000
    began = time.process_time()
    telling.measure(samples)
    assert time.process_time() - began < 1
