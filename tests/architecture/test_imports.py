"""What may know what, beyond the layers that import-linter holds (`pyproject.toml`)."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PURE = (
    "ratings.agreement",
    "ratings.design",
    "ratings.gate",
    "dilemmas.blinding",
    "dilemmas.looking",
    "dilemmas.canonical",
    "dilemmas.findings",
    "dilemmas.markdown",
    "dilemmas.scaffold",
    "dilemmas.telling",
    "dilemmas.wording",
)
HEAVY = {"krippendorff", "matplotlib", "pandas", "scipy", "statsmodels"}
NOT_FOR_SERVICES = ("django.http", "django.shortcuts", "django.contrib.messages")


def loaded_after(code: str, **environment: str) -> set[str]:
    """Return the top-level packages that a fresh interpreter has loaded after `code`."""
    code += "\nimport json, sys; print(json.dumps(sorted({n.split('.')[0] for n in sys.modules})))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("name", PURE)
def test_pure_part_loads_no_django(name: str) -> None:
    code = f"""
import importlib, pkgutil
part = importlib.import_module({name!r})
for found in pkgutil.walk_packages(getattr(part, "__path__", []), {name!r} + "."):
    importlib.import_module(found.name)
"""
    assert "django" not in loaded_after(code)


def test_gate_loads_nothing_heavy() -> None:
    assert not loaded_after("import ratings.gate, ratings.agreement.results") & (HEAVY | {"numpy"})


def test_web_process_stays_light_after_a_request(tmp_path: Path) -> None:
    code = """
import io
from awb_panel.wsgi import application
from django.core.management import call_command
call_command("migrate", verbosity=0)
statuses = []
environ = {
    "REQUEST_METHOD": "GET", "PATH_INFO": "/", "SERVER_NAME": "localhost", "SERVER_PORT": "80",
    "HTTP_HOST": "localhost", "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(),
    "wsgi.errors": io.StringIO(),
}
b"".join(application(environ, lambda status, headers, error=None: statuses.append(status)))
assert statuses[0][0] in "23", statuses
"""
    database = f"sqlite:///{tmp_path / 'light.sqlite3'}"
    loaded = loaded_after(code, DATABASE_URL=database)
    assert "django" in loaded
    assert not loaded & HEAVY


def imports_of(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@pytest.mark.parametrize(
    "path",
    sorted(ROOT.glob("*/services/**/*.py")),
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_service_knows_no_requests(path: Path) -> None:
    # import-linter forbids packages of others only as a whole, and services need `django.db`.
    found = {
        name
        for name in imports_of(path)
        if any(name == root or name.startswith(f"{root}.") for root in NOT_FOR_SERVICES)
    }
    assert not found


@pytest.mark.parametrize("name", sorted(HEAVY))
def test_heavy_library_is_named_in_one_module_only(name: str) -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for folder in ("awb_panel", "dilemmas", "ratings")
        for path in (ROOT / folder).rglob("*.py")
        if any(found.split(".")[0] == name for found in imports_of(path))
    }
    assert users <= {"ratings/agreement/libraries.py"}
