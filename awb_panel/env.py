"""Strict reading of the environment: an unknown or missing value is an error with a remedy."""

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


def text(name: str, default: str | None = None) -> str:
    """Return the variable, or the default; without a default it must be set."""
    value = os.environ.get(name, default)
    if value is None:
        raise ImproperlyConfigured(f"Set the environment variable {name}.")
    return value


def secret_key(file: Path) -> str:
    """Return AWB_SECRET_KEY, or the key that `dev.py` keeps in `file`."""
    value = os.environ.get("AWB_SECRET_KEY", "")
    if not value and file.is_file():
        value = file.read_text().strip()
    if not value:
        raise ImproperlyConfigured(
            "Set AWB_SECRET_KEY to a long random text, or run: python3 dev.py sync"
        )
    return value


def flag(name: str, *, default: bool = False) -> bool:
    value = os.environ.get(name)
    if value is None:
        return default
    lowered = value.strip().lower()
    if lowered in _TRUE:
        return True
    if lowered in _FALSE:
        return False
    raise ImproperlyConfigured(f"{name} is {value!r}; write 1 or 0.")


def integer(name: str, default: int) -> int:
    value = os.environ.get(name)
    if value is None:
        return default
    try:
        return int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}; write a whole number.") from None


def words(name: str, default: str = "") -> list[str]:
    """Return a comma-separated list without empty entries."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


_CONNECTION_AGE_S = 600  # opening one costs as much as half a page


def database(url: str, *, base: Path) -> dict[str, object]:
    """Return Django's settings for a `sqlite:///path` or `postgres://…` address.

    SQLite: WAL and IMMEDIATE, because deferred transactions fail under concurrent raters.
    """
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        path = unquote(parts.path.removeprefix("/")) if parts.netloc == "" else ""
        if not path:
            raise ImproperlyConfigured(
                f"DATABASE_URL {url!r}: write sqlite:///path/to/file.sqlite3"
            )
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": base / path,
            "CONN_MAX_AGE": _CONNECTION_AGE_S,
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": (
                    "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;"
                    "PRAGMA recursive_triggers=ON;PRAGMA foreign_keys=ON;"
                ),
            },
        }
    if parts.scheme in {"postgres", "postgresql"}:
        pool = flag("AWB_DATABASE_POOL", default=False)
        query = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair)
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(parts.path.lstrip("/")),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": unquote(query.get("host", parts.hostname or "")),
            "PORT": str(parts.port or ""),
            "CONN_HEALTH_CHECKS": True,
            # Django refuses both a pool and connections of its own that outlive a request
            "CONN_MAX_AGE": 0 if pool else _CONNECTION_AGE_S,
            # Compiling a count over 30,000 places took longer than counting them.
            "OPTIONS": {"pool": pool, "options": "-c jit=off"},
        }
    raise ImproperlyConfigured(f"DATABASE_URL {url!r}: use sqlite:///… or postgres://…")
