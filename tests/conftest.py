"""Fixtures for all tests. The settings' environment is in `tests/environment.py`."""

import os
from collections.abc import Iterator

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the long tests too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="long: run python3 dev.py test --long")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)


@pytest.fixture
def lift_guards(db: None) -> Iterator[None]:
    """Take the guards away, and put them back. The one way around them outside migrations."""
    from django.db import connection

    from dilemmas import guards
    from ratings.guards import ratings_guards

    every = guards.dilemmas_guards() + ratings_guards()
    guards.uninstall(connection, every)
    yield
    guards.install(connection, every)


@pytest.fixture(autouse=True, scope="session")
def _flush_lifts_the_guards() -> Iterator[None]:
    """Transactional tests empty the tables at their end, which the guards refuse."""
    from django.core.management.commands.flush import Command
    from django.db import connections

    from dilemmas import guards
    from ratings.guards import ratings_guards

    original = Command.handle

    def handle(self: Command, **options: object) -> None:
        connection = connections[str(options.get("database") or "default")]
        every = guards.dilemmas_guards() + ratings_guards()
        guards.uninstall(connection, every)
        try:
            original(self, **options)
        finally:
            guards.install(connection, every)

    Command.handle = handle  # type: ignore[method-assign]
    yield
    Command.handle = original  # type: ignore[method-assign]


@pytest.fixture(scope="session")
def django_db_modify_db_settings_parallel_suffix(
    django_db_modify_db_settings_xdist_suffix: None,
) -> None:
    """SQLite's test database is a file of its own, so that a live server's threads share it."""
    from django.conf import settings

    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        name = str(database["NAME"]).removesuffix(".sqlite3")
        database.setdefault("TEST", {})["NAME"] = f"{name}-{worker}-test.sqlite3"
