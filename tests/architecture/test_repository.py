"""What the repository holds: migrations named like sentences, public addresses, no machine's paths."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = {"pypi.org", "files.pythonhosted.org"}
# Written apart, so that this file does not name what it forbids.
PRIVATE = re.compile("|".join(("/wo" + "rk/", r"/\.lib" + "rary", "/ro" + "ot/", "/ho" + r"me/\w")))
AUTOMATIC = re.compile(r"_auto_\d|_alter_|_remove_\w+_and_more|_and_more$|^\d{4}_initial$")
MIGRATIONS = sorted(
    path
    for folder in ("awb_panel", "dilemmas", "ratings")
    for path in (ROOT / folder).rglob("migrations/[0-9]*.py")
)


@pytest.mark.parametrize("path", MIGRATIONS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_migration_is_named_like_a_sentence(path: Path) -> None:
    assert not AUTOMATIC.search(path.stem)
    assert path.stem.count("_") >= 2, "the number and at least two words"


def test_locked_packages_come_from_public_addresses() -> None:
    text = (ROOT / "uv.lock").read_text()
    hosts = set(re.findall(r"https?://([^/\"]+)", text))
    assert hosts <= PUBLIC
    assert not re.search(r'source = \{ (?:path|directory|editable) = "(?!\.")', text)


def tracked_files() -> list[Path]:
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip("not a git repository, so there is no telling what belongs to it")
    return [ROOT / name for name in done.stdout.split("\0") if name]


def test_tracked_files_name_no_machine() -> None:
    found = []
    for path in tracked_files():
        if not path.is_file() or path.name == "axe.min.js":
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {hit.group()}" for hit in PRIVATE.finditer(text)]
    assert not found


def test_nothing_made_is_tracked() -> None:
    made = {".mo", ".pyc", ".sqlite3"}
    assert not [path for path in tracked_files() if path.suffix in made]
