"""Loaded as a pytest plugin before the settings are read: what the tests run with."""

import os
import tempfile
from pathlib import Path

_DEFAULTS = {
    "AWB_SECRET_KEY": "only-for-tests-" + "0" * 50,
    "AWB_INSECURE_HTTP": "1",
    "AWB_STATIC_FROM_SOURCE": "1",
    "AWB_EMAIL_BACKEND": "django.core.mail.backends.locmem.EmailBackend",
    "DATABASE_URL": f"sqlite:///{Path(tempfile.gettempdir(), 'awb-tests.sqlite3')}",
    "DJANGO_ALLOW_ASYNC_UNSAFE": "1",  # Playwright's sync API runs an event loop
}
for _name, _value in _DEFAULTS.items():
    os.environ.setdefault(_name, _value)
