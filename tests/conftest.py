"""Fixtures for all tests. What the settings read is in `tests/environment.py`."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the long tests too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="long; to run it: python3 dev.py test --long")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def _texts_in_english() -> Iterator[None]:
    """A request leaves its language behind in the thread; no test may depend on the one before."""
    from django.utils import translation

    with translation.override("en"):
        yield


@contextmanager
def without_guards(alias: str = "default") -> Iterator[None]:
    """Take the database's guards away and put them back."""
    from django.db import connections

    from dilemmas import guards
    from ratings.guards import ratings_guards

    every = guards.dilemmas_guards() + ratings_guards()
    guards.uninstall(connections[alias], every)
    try:
        yield
    finally:
        guards.install(connections[alias], every)


@pytest.fixture
def lift_guards(db: None) -> Iterator[None]:
    """Let a test do what the guards forbid: the one way around them outside migrations.

    For tests that need a state which the product refuses, such as a tampered audit trail.
    """
    with without_guards():
        yield


@pytest.fixture(autouse=True, scope="session")
def _flush_lifts_guards() -> Iterator[None]:
    """Transactional tests empty the tables at their end, which the guards rightly refuse."""
    from django.core.management.commands.flush import Command

    original = Command.handle

    def handle(self: Command, **options: object) -> None:
        with without_guards(str(options["database"])):
            original(self, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Command, "handle", handle)
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """SQLite's test database is a fresh file per process, which a live server's threads share."""
    from django.conf import settings

    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        file = tmp_path_factory.mktemp("database") / "test.sqlite3"
        database.setdefault("TEST", {})["NAME"] = str(file)
        init = database["OPTIONS"]["init_command"]
        # Whether a commit reaches the disk is tested nowhere, and costs most of a test's time.
        database["OPTIONS"]["init_command"] = f"{init}PRAGMA synchronous=OFF;"
