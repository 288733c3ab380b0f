"""What a service raises when it will not do something. Views turn these into pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class Refused(Exception):
    """The act is not possible now. `code` names the message that people read (`ratings.words`)."""

    def __init__(self, code: str, **details: Any) -> None:
        super().__init__(code, details)
        self.code = code
        self.details = details

    def __str__(self) -> str:
        return f"{self.code} {self.details}" if self.details else self.code


@dataclass(frozen=True)
class Clash:
    """Two versions of one field: what this page sent and what is stored."""

    name: str
    mine: str
    theirs: str


class Conflict(Exception):
    """A save met a newer version of the same field; nothing was overwritten."""

    def __init__(
        self, clashes: Sequence[Clash], *, version: int, fields: Mapping[str, str]
    ) -> None:
        super().__init__([clash.name for clash in clashes])
        self.clashes = list(clashes)
        self.version = version
        self.fields = dict(fields)


@dataclass(frozen=True)
class Gap:
    """One thing that is missing before a response is done."""

    field: str
    criterion: str
    code: str  # score, rationale, reason


class Incomplete(Exception):
    """A response cannot be marked done yet; everything typed is saved."""

    def __init__(self, gaps: Sequence[Gap]) -> None:
        super().__init__([gap.field for gap in gaps])
        self.gaps = list(gaps)
