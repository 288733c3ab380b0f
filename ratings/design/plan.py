"""What a protocol makes of a panel's responses: who is served what, in which order."""

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ratings.design.algorithms import ALGORITHMS
from ratings.design.blocks import allocated
from ratings.design.extras import Place, practised, with_extras
from ratings.design.random64 import stream
from ratings.design.serving import Item

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Plan(Generic[Key]):
    """The orders of a panel, as a function of what was registered.

    Attributes
    ----------
    items
        (dilemma, condition, key) of each response.
    algorithm
        A name in `ALGORITHMS`.
    seed
        The panel's, below 2**64.
    judges
        How many are planned. More may come.
    each
        How many of them judge each dilemma; all of them is the full crossing.
    repeats
        How many responses each judge is served twice.
    controls
        Keys of what is served beside the responses, to every judge.
    practice
        Keys of what every judge is served first, apart; it counts nowhere.
    """

    items: Sequence[Item[Key]]
    algorithm: str
    seed: int
    judges: int
    each: int
    repeats: int = 0
    controls: Sequence[Key] = ()
    practice: Sequence[Key] = ()

    @property
    def about(self) -> Mapping[Key, tuple[Any, Any]]:
        """key → (dilemma, condition)."""
        return {key: (dilemma, condition) for dilemma, condition, key in self.items}

    @property
    def length(self) -> int:
        """How many slots a judge has to expect: the mean of the planned judges, rounded up."""
        shared = -(-len(self.items) * self.each // self.judges)
        return shared + self.repeats + len(self.controls)

    def seats(self) -> list[frozenset[Any]]:
        """Return the dilemmas of each planned judge."""
        dilemmas = sorted({dilemma for dilemma, _, _ in self.items})
        teams = allocated(len(dilemmas), judges=self.judges, each=self.each, seed=self.seed)
        return [
            frozenset(
                dilemma for dilemma, team in zip(dilemmas, teams, strict=True) if seat in team
            )
            for seat in range(self.judges)
        ]

    def orders(self) -> list[list[list[Key]]]:
        """Return the planned judges' orders as blocks, without repeats and controls."""
        if self.each == self.judges:
            return self._blocks(self.items, range(self.judges))
        return [self._of(judge, dilemmas) for judge, dilemmas in enumerate(self.seats())]

    def places(self, judge: int, dilemmas: Set[Any]) -> list[Place[Key]]:
        """Return all that the judge of that number is served, if given those dilemmas."""
        return with_extras(
            self._of(judge, dilemmas),
            about=self.about,
            random=stream(self.seed, judge, 1),
            repeats=self.repeats,
            controls=self.controls,
        )

    def practice_places(self, judge: int) -> list[Place[Key]]:
        """Return what the judge of that number practises on."""
        return [Place(key) for key in practised(self.practice, stream(self.seed, judge, 2))]

    def _of(self, judge: int, dilemmas: Set[Any]) -> list[list[Key]]:
        return self._blocks([item for item in self.items if item[0] in dilemmas], [judge])[0]

    def _blocks(self, items: Sequence[Item[Key]], judges: Sequence[int]) -> list[list[list[Key]]]:
        return ALGORITHMS[self.algorithm](items, judges=judges, seed=self.seed)
