"""What was found in a text, and the collecting of it. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that tells; `text` is `[start:end]` of what was read.

    `suggestion` replaces exactly that span: empty to leave it out, None if a person must decide.
    """

    kind: str
    start: int
    end: int
    text: str
    suggestion: str | None


class Findings:
    """The findings of one text. What is found first keeps its span; nothing overlaps it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._taken = bytearray(len(text))
        self._found: list[Finding] = []

    def add(self, kind: str, start: int, end: int, suggestion: str | None) -> None:
        """Note a finding unless one that overlaps it is there already."""
        if 1 in self._taken[start:end]:
            return
        self._taken[start:end] = b"\1" * (end - start)
        self._found.append(Finding(kind, start, end, self.text[start:end], suggestion))

    def has(self, at: int) -> bool:
        """Whether the character at `at` belongs to a finding."""
        return self._taken[at] == 1

    def in_order(self) -> list[Finding]:
        """Return the findings as they stand in the text."""
        return sorted(self._found, key=lambda finding: finding.start)
