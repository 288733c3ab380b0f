"""What still tells the condition of a blinded text: how often a simple classifier guesses it.

Pure, without numpy: the coordinator's page computes it. Two naive Bayes classifiers of equal prior,
one that sees length and layout only and one that sees which words occur, and the sum of both. The
responses to one dilemma are guessed by what was learnt from the other dilemmas, so that a dilemma's
own words never help. What a simple program can do a reader can do: the share guessed right is a
floor of what the texts tell, and no program that guesses at chance shows that they tell nothing.

The interval is Wilson's for a share of N / deff texts, deff being the design effect of dilemmas
(1 at least) and Student's t with K - 1 degrees of freedom in place of z. Percentiles of a bootstrap
by dilemma fail where nearly all guesses are right: `docs/blinding.md` has both in a simulation.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

METHOD = "naive-bayes-1"
FEWEST_CLUSTERS = 5
_WORD = re.compile(r"[^\W\d_]{2,40}")
_HEADING = re.compile(
    r"^[ ]{0,3}#{1,6}[ \t]|^[ ]{0,3}(?:\*\*|__)[^*_\n]{1,120}(?:\*\*|__)[ \t]*:?[ \t]*$"
)
_ITEM = re.compile(r"^[ ]{0,8}(?:[-*+•]|\d{1,3}[.)])[ \t]")
_BOLD = re.compile(r"\*\*(?=\S)[^*\n]{1,200}\*\*|(?<!\w)__(?=\S)[^_\n]{1,200}__(?!\w)")
_BREAK = re.compile(r"\n[ \t]*\n")
_TIE = 1e-9
_FLOOR = 0.02  # of a variance on the scale of log(1 + count)


@dataclass(frozen=True)
class Sample:
    """One text as its readers get it, its condition, and the dilemma that it answers."""

    text: str
    condition: str
    cluster: str


@dataclass(frozen=True)
class Shape:
    """Length and layout of a text."""

    characters: int
    paragraphs: int
    headings: int
    items: int
    bold: int


@dataclass(frozen=True)
class Guess:
    """How many texts one classifier guessed right, as a share with its 95 % interval.

    Of t conditions that look the same to it, the right one counts 1 / t.
    """

    share: float
    low: float
    high: float
    right: float
    by_condition: dict[str, float]


@dataclass(frozen=True)
class Telling:
    """The figures; `undefined` says why there are none (`one_condition`, `too_few_dilemmas`)."""

    n_texts: int
    n_clusters: int
    chance: float
    medians: dict[str, dict[str, float]]
    guesses: dict[str, Guess]
    undefined: str

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a document."""
        return asdict(self) | {"method": METHOD}


def shape(text: str) -> Shape:
    """Return the length and layout of a text in Markdown."""
    lines = text.splitlines()
    return Shape(
        characters=len(text.strip()),
        paragraphs=sum(bool(block.strip()) for block in _BREAK.split(text)),
        headings=sum(bool(_HEADING.match(line)) for line in lines),
        items=sum(bool(_ITEM.match(line)) for line in lines),
        bold=len(_BOLD.findall(text)),
    )


def measure(samples: Sequence[Sample]) -> Telling:
    """Guess each text's condition from the texts of the other dilemmas, and count."""
    samples = [sample for sample in samples if sample.text.strip()]
    conditions = sorted({sample.condition for sample in samples})
    clusters = sorted({sample.cluster for sample in samples})
    shapes = [shape(sample.text) for sample in samples]
    sizes = Counter(sample.condition for sample in samples)
    undefined = ""
    if len(conditions) < 2:
        undefined = "one_condition"
    elif len(clusters) < FEWEST_CLUSTERS:
        undefined = "too_few_dilemmas"
    guesses: dict[str, Guess] = {}
    if not undefined:
        by_layout = _Layout(samples, shapes).scores(conditions)
        by_words = _Words(samples).scores(conditions)
        both = [
            {c: layout[c] + words[c] for c in conditions}
            for layout, words in zip(by_layout, by_words, strict=True)
        ]
        for name, scores in (("layout", by_layout), ("words", by_words), ("both", both)):
            guesses[name] = _guess(samples, scores)
    return Telling(
        n_texts=len(samples),
        n_clusters=len(clusters),
        chance=max(sizes.values()) / len(samples) if samples else 0.0,
        medians={c: _medians(s for s, one in zip(shapes, samples, strict=True) if one.condition == c)
                 for c in conditions},
        guesses=guesses,
        undefined=undefined,
    )  # fmt: skip


def _medians(shapes: Iterable[Shape]) -> dict[str, float]:
    rows = [asdict(one) for one in shapes]
    return {name: float(median(row[name] for row in rows)) for name in rows[0]}


class _Layout:
    """Normal densities of log(1 + count), with one variance for all conditions."""

    def __init__(self, samples: Sequence[Sample], shapes: Sequence[Shape]) -> None:
        self.samples = samples
        self.rows = [[math.log1p(value) for value in asdict(one).values()] for one in shapes]

    def scores(self, conditions: Sequence[str]) -> list[dict[str, float]]:
        every = {c: _Moments(len(self.rows[0])) for c in conditions}
        own: dict[tuple[str, str], _Moments] = {}
        for sample, row in zip(self.samples, self.rows, strict=True):
            every[sample.condition].add(row)
            own.setdefault((sample.cluster, sample.condition), _Moments(len(row))).add(row)
        learnt = {
            cluster: self._learn({c: every[c].without(own.get((cluster, c))) for c in conditions})
            for cluster in {sample.cluster for sample in self.samples}
        }
        return [
            {c: _log_density(row, learnt[sample.cluster][0].get(c), learnt[sample.cluster][1])
             for c in conditions}
            for sample, row in zip(self.samples, self.rows, strict=True)
        ]  # fmt: skip

    @staticmethod
    def _learn(known: Mapping[str, "_Moments"]) -> tuple[dict[str, list[float]], list[float]]:
        means = {c: one.means() for c, one in known.items() if one.n}
        left = max(1, sum(one.n for one in known.values()) - len(means))
        within = [
            math.fsum(column) for column in zip(*(k.within() for k in known.values()), strict=True)
        ]
        return means, [max(_FLOOR, square / left) for square in within]


class _Moments:
    """Count, sums and sums of squares, from which one dilemma's own can be taken away."""

    def __init__(self, width: int) -> None:
        self.n, self.sums, self.squares = 0, [0.0] * width, [0.0] * width

    def add(self, row: Sequence[float]) -> None:
        self.n += 1
        for i, value in enumerate(row):
            self.sums[i] += value
            self.squares[i] += value * value

    def without(self, other: "_Moments | None") -> "_Moments":
        left = _Moments(len(self.sums))
        left.n = self.n - (other.n if other else 0)
        for i in range(len(self.sums)):
            left.sums[i] = self.sums[i] - (other.sums[i] if other else 0.0)
            left.squares[i] = self.squares[i] - (other.squares[i] if other else 0.0)
        return left

    def means(self) -> list[float]:
        return [value / self.n for value in self.sums]

    def within(self) -> list[float]:
        """Return the sums of squared deviations from the means."""
        return [
            max(0.0, square - value * value / self.n) if self.n else 0.0
            for value, square in zip(self.sums, self.squares, strict=True)
        ]


def _log_density(
    row: Sequence[float], means: Sequence[float] | None, variances: Sequence[float]
) -> float:
    """Return the density up to what is the same for all conditions; -inf of an unknown condition."""
    if means is None:
        return -math.inf
    return -math.fsum(
        (value - mean) ** 2 / (2 * variance)
        for value, mean, variance in zip(row, means, variances, strict=True)
    )


class _Words:
    """Which words occur: one count a text, add-one smoothing, over words of two dilemmas or more."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self.samples = samples
        self.words = [frozenset(_WORD.findall(sample.text.lower())) for sample in samples]
        homes: dict[str, set[str]] = {}
        for sample, words in zip(samples, self.words, strict=True):
            for word in words:
                homes.setdefault(word, set()).add(sample.cluster)
        shared = {word for word, clusters in homes.items() if len(clusters) > 1}
        self.words = [words & shared for words in self.words]
        self.size = len(shared)

    def scores(self, conditions: Sequence[str]) -> list[dict[str, float]]:
        every = {c: Counter[str]() for c in conditions}
        own: dict[tuple[str, str], Counter[str]] = {}
        for sample, words in zip(self.samples, self.words, strict=True):
            every[sample.condition].update(words)
            own.setdefault((sample.cluster, sample.condition), Counter()).update(words)
        totals = {c: sum(counts.values()) for c, counts in every.items()}
        found = []
        for sample, words in zip(self.samples, self.words, strict=True):
            scores = {}
            for c in conditions:
                here = own.get((sample.cluster, c), Counter())
                counts, total = every[c], totals[c] - sum(here.values()) + self.size
                likelihood = sum(math.log(counts[word] - here[word] + 1) for word in words)
                scores[c] = likelihood - len(words) * math.log(max(1, total))
            found.append(scores)
        return found


def _guess(samples: Sequence[Sample], scores: Sequence[Mapping[str, float]]) -> Guess:
    clusters: dict[str, list[float]] = {}
    conditions: dict[str, list[float]] = {}
    for sample, score in zip(samples, scores, strict=True):
        best = max(score.values())
        ties = [c for c, value in score.items() if value >= best - _TIE * max(1.0, abs(best))]
        hit = 1 / len(ties) if sample.condition in ties else 0.0
        clusters.setdefault(sample.cluster, []).append(hit)
        conditions.setdefault(sample.condition, []).append(hit)
    right = math.fsum(hit for hits in clusters.values() for hit in hits)
    low, high = interval([(math.fsum(hits), len(hits)) for hits in clusters.values()])
    return Guess(
        share=right / len(samples),
        low=low,
        high=high,
        right=right,
        by_condition={c: math.fsum(hits) / len(hits) for c, hits in sorted(conditions.items())},
    )


def interval(clusters: Sequence[tuple[float, int]]) -> tuple[float, float]:
    """Return the 95 % interval of a share from (hits, size) of each cluster, two clusters or more."""
    n, k = sum(size for _hits, size in clusters), len(clusters)
    share = min(1.0, math.fsum(hits for hits, _size in clusters) / n)
    by_cluster = math.fsum((hits - share * size) ** 2 for hits, size in clusters) * k / (k - 1)
    by_text = share * (1 - share) * n
    effective = n / max(1.0, by_cluster / by_text) if by_text else float(n)
    t = _student(k - 1)
    middle = share + t * t / (2 * effective)
    half = t * math.sqrt(share * (1 - share) / effective + t * t / (4 * effective * effective))
    return (middle - half) / (1 + t * t / effective), (middle + half) / (1 + t * t / effective)


def _student(freedom: int) -> float:
    """Return Student's t at .975 (Fisher & Cornish's expansion; within .01 from 4 degrees on)."""
    z = 1.959963984540054
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )
