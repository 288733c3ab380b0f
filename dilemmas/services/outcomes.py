"""What every import answers."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Outcome:
    """What an import did, or would do. `unchanged` counts what was there already, word for word.

    `facts` say how the file was read, `notes` what is worth knowing of it.
    """

    created: int
    changed: int
    unchanged: int
    facts: str = ""
    notes: Sequence[str] = ()

    @property
    def did_something(self) -> bool:
        return bool(self.created or self.changed)


def file_sha256(content: bytes) -> str:
    """Return the hash of a file as anybody can compute it."""
    return hashlib.sha256(content).hexdigest()
