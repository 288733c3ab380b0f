"""Random numbers for orders: raw PCG64 words and our own bounded integers.

Library shuffles promise no stable stream, so the generator is written out here: PCG XSL-RR
128/64 (O'Neill 2014, "PCG: A family of simple fast space-efficient statistically good algorithms
for random number generation", HMC-CS-2014-0905), seeded through the hash of numpy's
SeedSequence. Its words equal ``numpy.random.PCG64(seed).random_raw()``; a test holds that.
"""

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

_MASK32 = (1 << 32) - 1
_MASK64 = (1 << 64) - 1
_MASK128 = (1 << 128) - 1
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645


class Random64:
    """A stream of 64-bit words fixed for ever by its seed (a non-negative integer)."""

    def __init__(self, seed: int) -> None:
        if seed < 0:
            raise ValueError("the seed is a non-negative integer")
        words = _seed_words(seed)
        start = (words[0] << 64) | words[1]
        stream = (words[2] << 64) | words[3]
        self._increment = ((stream << 1) | 1) & _MASK128
        self._state = 0
        self._step()
        self._state = (self._state + start) & _MASK128
        self._step()

    def word(self) -> int:
        """Return the next 64-bit word."""
        self._step()
        state = self._state
        folded, turn = (state >> 64) ^ (state & _MASK64), state >> 122
        return ((folded >> turn) | (folded << (64 - turn))) & _MASK64

    def below(self, bound: int) -> int:
        """Return an integer in [0, bound), each equally likely: words above the last whole
        multiple of the bound are drawn again."""
        if not 1 <= bound <= 1 << 64:
            raise ValueError("the bound lies between 1 and 2**64")
        limit = (1 << 64) - (1 << 64) % bound
        while (word := self.word()) >= limit:
            pass
        return word % bound

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in random order (Fisher-Yates, from the end)."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result

    def _step(self) -> None:
        self._state = (self._state * _MULTIPLIER + self._increment) & _MASK128


def stream(seed: int, *numbers: int) -> Random64:
    """Return the stream that belongs to a seed and some numbers, such as a judge's.

    Each sequence of numbers has a stream of its own; none has the seed's plain one,
    ``Random64(seed)``. Raises `ValueError` unless all lie between 0 and 2**64, exclusive.
    """
    if not all(0 <= number < 1 << 64 for number in (seed, *numbers)):
        raise ValueError("seed and numbers lie between 0 and 2**64, exclusive")
    entropy = seed
    for place, number in enumerate(numbers, start=1):
        entropy |= (number + 1) << (65 * place)
    return Random64(entropy)


def _seed_words(seed: int) -> list[int]:
    """Spread the seed over four 64-bit words as SeedSequence does (pool of four 32-bit words)."""
    entropy = [seed & _MASK32]
    while seed := seed >> 32:
        entropy.append(seed & _MASK32)
    hasher = _Hasher(0x43B0D7E5, 0x931E8875)
    pool = [hasher(entropy[i] if i < len(entropy) else 0) for i in range(4)]
    for source in range(4):
        for target in range(4):
            if source != target:
                pool[target] = _mix(pool[target], hasher(pool[source]))
    for extra in entropy[4:]:
        for target in range(4):
            pool[target] = _mix(pool[target], hasher(extra))
    output = _Hasher(0x8B51F9DD, 0x58F38DED)
    halves = [output(pool[i % 4]) for i in range(8)]
    return [halves[i] | (halves[i + 1] << 32) for i in range(0, 8, 2)]


class _Hasher:
    """SeedSequence's multiplicative hash; its constant moves on with every call."""

    def __init__(self, start: int, factor: int) -> None:
        self._constant, self._factor = start, factor

    def __call__(self, value: int) -> int:
        value ^= self._constant
        self._constant = (self._constant * self._factor) & _MASK32
        value = (value * self._constant) & _MASK32
        return value ^ (value >> 16)


def _mix(left: int, right: int) -> int:
    mixed = (left * 0xCA01F9DD - right * 0x4973F715) & _MASK32
    return mixed ^ (mixed >> 16)
