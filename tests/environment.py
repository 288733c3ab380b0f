"""A pytest plugin (`-p tests.environment`), loaded before the settings: what the tests run with."""

import os
import tempfile
from pathlib import Path

_DEFAULTS = {
    "AWB_SECRET_KEY": "only-for-tests-" + "0" * 50,
    "AWB_INSECURE_HTTP": "1",
    "AWB_STATIC_FROM_SOURCE": "1",
    "AWB_EMAIL_BACKEND": "django.core.mail.backends.locmem.EmailBackend",
    # Never opened: each process gets a file of its own (`tests/conftest.py`).
    "DATABASE_URL": f"sqlite:///{Path(tempfile.gettempdir(), 'awb-panel-tests.sqlite3')}",
    # Playwright's synchronous API runs an event loop, in which Django would refuse its database.
    "DJANGO_ALLOW_ASYNC_UNSAFE": "1",
}
for _name, _value in _DEFAULTS.items():
    os.environ.setdefault(_name, _value)


def in_ci() -> bool:
    """In CI a missing browser or database is a failure; elsewhere it is a skip that says so."""
    return os.environ.get("CI", "").lower() in ("1", "true")
