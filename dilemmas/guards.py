"""Guards: database triggers that refuse what no code path may do, on SQLite and PostgreSQL.

A guard is one refusal. `install` is idempotent; `InstallGuards` runs it in a migration. A migration
that alters a guarded table does so inside `AlterGuarded`, because SQLite remakes the table.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.operations.base import Operation


@dataclass(frozen=True)
class Guard:
    """Refuse `event` (INSERT, UPDATE or DELETE) on `table` where `condition` (SQL on NEW, OLD)."""

    name: str
    table: str
    event: str
    condition: str
    message: str

    @property
    def trigger(self) -> str:
        return f"guard_{self.name}_{self.event.lower()}"


def append_only(table: str) -> list[Guard]:
    """Rows are written once: no update, no delete."""
    name = f"{table}_append_only"
    message = f"{table} is append-only"
    return [Guard(name, table, event, "1 = 1", message) for event in ("UPDATE", "DELETE")]


def sealed(table: str) -> list[Guard]:
    """A row with `sealed_at` never changes again."""
    name = f"{table}_sealed"
    message = f"{table}: this version is sealed"
    return [
        Guard(name, table, event, "OLD.sealed_at IS NOT NULL", message)
        for event in ("UPDATE", "DELETE")
    ]


def part_of_sealed(table: str, parent: str) -> list[Guard]:
    """Rows below a sealed version are neither added, changed nor removed.

    `parent` is a SQL query with `{row}` for NEW or OLD that yields a row if the parent is sealed.
    """
    name = f"{table}_sealed"
    message = f"{table}: the version it belongs to is sealed"
    old, new = (f"EXISTS ({parent.format(row=row)})" for row in ("OLD", "NEW"))
    return [
        Guard(name, table, "INSERT", new, message),
        Guard(name, table, "UPDATE", f"{old} OR {new}", message),
        Guard(name, table, "DELETE", old, message),
    ]


def install(connection: BaseDatabaseWrapper, guards: Sequence[Guard]) -> None:
    """Create or replace the guards whose tables, and those that they read, exist.

    Early in the migrations some do not exist yet; the migration that makes them installs again.
    """
    uninstall(connection, guards)
    tables = set(connection.introspection.table_names())
    present = [
        guard
        for guard in guards
        if {guard.table, *re.findall(r"(?:FROM|JOIN) (\w+)", guard.condition)} <= tables
    ]
    with connection.cursor() as cursor:
        for statement in _statements(connection.vendor, present):
            cursor.execute(statement)


def uninstall(connection: BaseDatabaseWrapper, guards: Sequence[Guard]) -> None:
    """Drop the guards. Only migrations and the tests' `lift_guards` fixture may call this."""
    tables = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        for guard in guards:
            if guard.table not in tables:
                continue
            if connection.vendor == "sqlite":
                cursor.execute(f'DROP TRIGGER IF EXISTS "{guard.trigger}"')
            else:
                cursor.execute(f'DROP TRIGGER IF EXISTS "{guard.trigger}" ON "{guard.table}"')
                cursor.execute(f'DROP TRIGGER IF EXISTS "{_truncate(guard)}" ON "{guard.table}"')


def installed(connection: BaseDatabaseWrapper) -> set[str]:
    """Return the names of the guards that stand in the database."""
    sql = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'guard_%'",
        "postgresql": "SELECT tgname FROM pg_trigger WHERE tgname LIKE 'guard_%' AND tgenabled <> 'D'",
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return {row[0] for row in cursor.fetchall()}


def expected(connection: BaseDatabaseWrapper, guards: Iterable[Guard]) -> set[str]:
    """Return the names that `installed` must contain."""
    guards = list(guards)
    names = {guard.trigger for guard in guards}
    if connection.vendor == "postgresql":
        names |= {_truncate(guard) for guard in guards}
    return names


def _truncate(guard: Guard) -> str:
    return f"guard_{guard.table}_truncate"


def _statements(vendor: str, guards: Sequence[Guard]) -> list[str]:
    if vendor == "sqlite":
        return [
            f'CREATE TRIGGER "{guard.trigger}" BEFORE {guard.event} ON "{guard.table}" '
            f"FOR EACH ROW WHEN {guard.condition} "
            f"BEGIN SELECT RAISE(ABORT, '{guard.message}'); END"
            for guard in guards
        ]
    statements = []
    for guard in guards:
        back = "OLD" if guard.event == "DELETE" else "NEW"
        statements += [
            f'CREATE OR REPLACE FUNCTION "{guard.trigger}"() RETURNS trigger LANGUAGE plpgsql AS $$ '
            f"BEGIN IF {guard.condition} THEN "
            f"RAISE EXCEPTION '{guard.message}' USING ERRCODE = 'check_violation'; "
            f"END IF; RETURN {back}; END $$",
            f'CREATE TRIGGER "{guard.trigger}" BEFORE {guard.event} ON "{guard.table}" '
            f'FOR EACH ROW EXECUTE FUNCTION "{guard.trigger}"()',
        ]
    statements.append(
        "CREATE OR REPLACE FUNCTION guard_no_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ "
        "BEGIN RAISE EXCEPTION 'this table is never emptied' USING ERRCODE = 'check_violation'; "
        "END $$"
    )
    for guard in {guard.table: guard for guard in guards}.values():
        statements.append(
            f'CREATE TRIGGER "{_truncate(guard)}" BEFORE TRUNCATE ON "{guard.table}" '
            "FOR EACH STATEMENT EXECUTE FUNCTION guard_no_truncate()"
        )
    return statements


class InstallGuards(Operation):
    """Migration operation: install what `guards()` returns; reversed, drop it."""

    reduces_to_sql = False
    reversible = True

    def __init__(self, guards: Callable[[], Sequence[Guard]]) -> None:
        self.guards = guards

    def state_forwards(self, app_label: str, state: Any) -> None:
        pass

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        # Deferred constraint SQL must run before triggers look at the tables.
        install(schema_editor.connection, self.guards())

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        uninstall(schema_editor.connection, self.guards())

    def describe(self) -> str:
        return "Install the database guards"


@contextmanager
def _aside(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """On SQLite, take every guard of every app away, and put back those that stood."""
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'guard_%'"
        )
        standing = cursor.fetchall()
        for name, _sql in standing:
            cursor.execute(f'DROP TRIGGER "{name}"')
        yield
        for _name, sql in standing:
            cursor.execute(sql)


class AlterGuarded(Operation):
    """Migration operation: run `operations`, which alter guarded tables; then the guards stand again.

    SQLite remakes a table to alter it: its triggers go with it, and the new table cannot take the
    old one's name while a trigger of any other table looks at it.
    """

    reduces_to_sql = False
    reversible = True

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations

    def state_forwards(self, app_label: str, state: Any) -> None:
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def _states(self, app_label: str, first: Any) -> list[Any]:
        states = [first]
        for operation in self.operations:
            states.append(states[-1].clone())
            operation.state_forwards(app_label, states[-1])
        return states

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        states = self._states(app_label, from_state)
        with _aside(schema_editor.connection):
            for operation, before, after in zip(self.operations, states, states[1:], strict=False):
                operation.database_forwards(app_label, schema_editor, before, after)

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        states = self._states(app_label, to_state)
        steps = list(zip(self.operations, states, states[1:], strict=False))
        with _aside(schema_editor.connection):
            for operation, before, after in reversed(steps):
                operation.database_backwards(app_label, schema_editor, after, before)

    def describe(self) -> str:
        return "; ".join(operation.describe() for operation in self.operations)


_BY_VERSION = "SELECT 1 FROM {parent} p WHERE p.id = {{row}}.{key} AND p.sealed_at IS NOT NULL"
_BY_CRITERION = (
    "SELECT 1 FROM dilemmas_criterion c JOIN dilemmas_rubricversion p ON p.id = c.version_id "
    "WHERE c.id = {row}.criterion_id AND p.sealed_at IS NOT NULL"
)
_BY_LEVEL = (
    "SELECT 1 FROM dilemmas_level l JOIN dilemmas_criterion c ON c.id = l.criterion_id "
    "JOIN dilemmas_rubricversion p ON p.id = c.version_id "
    "WHERE l.id = {row}.level_id AND p.sealed_at IS NOT NULL"
)


def dilemmas_guards() -> list[Guard]:
    """Every guard on the content tables."""
    guards: list[Guard] = []
    for table in (
        "dilemmas_dilemmaversion",
        "dilemmas_responseversion",
        "dilemmas_blinding",
        "dilemmas_rubricversion",
        "dilemmas_modeljudgement",
    ):
        guards += sealed(table)
    for table, parent, key in (
        ("dilemmas_dilemmatext", "dilemmas_dilemmaversion", "version_id"),
        ("dilemmas_responsepart", "dilemmas_responseversion", "version_id"),
        ("dilemmas_blindedpart", "dilemmas_blinding", "blinding_id"),
        ("dilemmas_rubrictext", "dilemmas_rubricversion", "version_id"),
        ("dilemmas_criterion", "dilemmas_rubricversion", "version_id"),
    ):
        guards += part_of_sealed(table, _BY_VERSION.format(parent=parent, key=key))
    guards += part_of_sealed("dilemmas_criteriontext", _BY_CRITERION)
    guards += part_of_sealed("dilemmas_level", _BY_CRITERION)
    guards += part_of_sealed("dilemmas_leveltext", _BY_LEVEL)
    guards += _identity_guards()
    guards += append_only("dilemmas_provenance")
    guards += _confirmation_guards()
    return guards


def _confirmation_guards() -> list[Guard]:
    """A second person confirms, and only what can still be changed."""
    table = "dilemmas_blindingconfirmation"
    decision = "SELECT 1 FROM dilemmas_blinding b WHERE b.id = NEW.blinding_id AND "
    return [
        *append_only(table),
        Guard(
            f"{table}_second",
            table,
            "INSERT",
            f"EXISTS ({decision}(b.actor = NEW.actor OR b.sealed_at IS NOT NULL))",
            "a decision is confirmed by another person, before the freeze",
        ),
    ]


def _identity_guards() -> list[Guard]:
    """What a sealed text is known by (its dilemma's code, its condition) is sealed with it."""
    of_dilemma = (
        "EXISTS (SELECT 1 FROM dilemmas_dilemmaversion v "
        "WHERE v.dilemma_id = OLD.id AND v.sealed_at IS NOT NULL)"
    )
    of_response = (
        "EXISTS (SELECT 1 FROM dilemmas_responseversion v "
        "WHERE v.response_id = OLD.id AND v.sealed_at IS NOT NULL)"
    )
    of_condition = (
        "EXISTS (SELECT 1 FROM dilemmas_response r "
        "JOIN dilemmas_responseversion v ON v.response_id = r.id "
        "WHERE r.condition_id = OLD.id AND v.sealed_at IS NOT NULL)"
    )
    return [
        Guard(f"{table}_sealed", table, event, condition, f"{table}: it names sealed content")
        for table, condition in (
            ("dilemmas_dilemma", of_dilemma),
            ("dilemmas_response", of_response),
            ("dilemmas_condition", of_condition),
        )
        for event in ("UPDATE", "DELETE")
    ]
