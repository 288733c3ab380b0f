"""What is wrong with a file, where, and what to do about it; and what is worth knowing of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

SHOWN = 50  # problems shown at once
_KEPT = 1_000  # problems kept at all: a broken file may have one on each of a million lines
KNOWN = "known"  # it would replace what is here already: an update is a choice
UNREADABLE = "unreadable"  # characters that no text has: replacing them is a choice


@dataclass(frozen=True)
class Problem:
    """What is wrong, where, and what to do. `line` counts from 1; 0 means the whole file.

    `unit` is what `line` counts: lines, a sheet's rows, a list's objects. `kind` is set if somebody
    may decide that it does not matter; `file` if there are several.
    """

    line: int
    column: str
    message: str
    remedy: str
    kind: str = ""
    unit: str = "line"
    file: str = ""

    def __str__(self) -> str:
        units = {"line": _("Line %(n)d"), "row": _("Row %(n)d"), "object": _("Object %(n)d")}
        line = units[self.unit] % {"n": self.line} if self.line else ""
        place = ", ".join(part for part in (self.file, line, self.column) if part) or _("File")
        return f"{place}: {self.message} {self.remedy}".strip()


class ImportRefused(Exception):
    """Nothing was written. `problems` are the first of `count` things that are wrong, line by line.

    `notes` say how the file was read: a wrong guess may be what is behind the problems. `columns`
    are needed and were not found among the `headers`: somebody may say which is which.
    """

    def __init__(
        self,
        problems: Iterable[Problem],
        *,
        name: str = "",
        notes: Sequence[str] = (),
        left_out: int = 0,
        kinds: Iterable[str] = (),
        columns: Sequence[str] = (),
        headers: Sequence[str] = (),
    ) -> None:
        self.problems = sorted(problems, key=lambda problem: (problem.file, problem.line))
        self.count = len(self.problems) + left_out
        super().__init__(f"{self.count} problems")
        self.name = name
        self.notes = list(notes)
        self.columns, self.headers = list(columns), list(headers)
        self._kinds = {problem.kind for problem in self.problems}.union(kinds)

    def lines(self) -> list[str]:
        """Return the first problems as sentences, and how many more there are."""
        shown = [str(problem) for problem in self.problems[:SHOWN]]
        more = self.count - len(shown)
        if more > 0:
            shown.append(_("… and %(n)d more.") % {"n": more})
        return shown

    def is_only(self, kind: str) -> bool:
        """Tell whether there is nothing but this kind of problem."""
        return self._kinds == {kind}


@dataclass
class Problems:
    """Collects problems while rows are read; `refuse` raises if there are any.

    `written` says how the file itself writes the name of a column.
    """

    name: str = ""
    found: dict[Problem, None] = field(default_factory=dict)  # in order, each once
    left_out: int = 0
    kinds: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    unit: str = "line"
    written: dict[str, str] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)  # needed, and not found
    headers: list[str] = field(default_factory=list)  # as they stand in the file

    def add(
        self, line: int, column: str, message: str, remedy: str = "", *, kind: str = ""
    ) -> None:
        self.kinds.add(kind)
        shown = self.written.get(column, column)
        problem = Problem(line, shown, message, remedy, kind, self.unit)
        if len(self.found) < _KEPT:
            self.found[problem] = None  # one object of a JSON file may stand for several rows
        else:
            self.left_out += problem not in self.found

    def refuse(self) -> None:
        if self.found:
            raise ImportRefused(
                self.found,
                name=self.name,
                notes=self.notes,
                left_out=self.left_out,
                kinds=self.kinds,
                columns=self.columns,
                headers=self.headers,
            )


def refuse_one(name: str, message: str, remedy: str) -> ImportRefused:
    """Return a refusal that concerns the whole file."""
    return ImportRefused([Problem(0, "", message, remedy)], name=name)
