"""Time and memory of importing responses: `python -m tests.benchmarks.importing [--rows N]`.

A file of N responses of about 1,600 characters, some with codes to blind, read, looked at and
written into an empty SQLite database by the management command, in a process of its own.
"""

import argparse
import csv
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SENTENCE = "On the one hand the promise binds you; on the other, your sister sleeps four hours. "


def write(folder: Path, rows: int) -> None:
    """Write dilemmas.csv and responses.csv: five conditions, a code in every twentieth text."""
    dilemmas = -(-rows // 5)
    with (folder / "dilemmas.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["code", "language", "title", "context"])
        table.writerows([f"B-{n:05}", "en", f"Title {n}", "You decide."] for n in range(dilemmas))
    with (folder / "responses.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["dilemma", "condition", "language", "text"])
        for n in range(rows):
            text = f"{n}. " + SENTENCE * 19 + ("(OBJ)" if n % 20 == 0 else "")
            table.writerow([f"B-{n // 5:05}", f"Q{n % 5}X", "en", text])


def command(folder: Path, *arguments: str) -> tuple[float, float]:
    """Run a management command; return seconds and the peak of its memory, in MB."""
    environment = os.environ | {
        "DATABASE_URL": f"sqlite:///{folder}/db.sqlite3", "DJANGO_SETTINGS_MODULE": "awb_panel.settings",
        "AWB_SECRET_KEY": "x" * 60, "AWB_INSECURE_HTTP": "1", "AWB_STATIC_FROM_SOURCE": "1",
    }  # fmt: skip
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    seconds = time.perf_counter() - started
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    times = []
    for _ in range(options.repetitions):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, options.rows)
            command(folder, "migrate", "-v", "0")
            command(folder, "import_dilemmas", f"{folder}/dilemmas.csv", "--collection", "b")
            seconds, peak = command(
                folder, "import_responses", f"{folder}/responses.csv", "--set", "b"
            )
            times.append(seconds)
            size = (folder / "responses.csv").stat().st_size / 1e6
    print(
        f"{options.rows} responses, {size:.0f} MB: median {statistics.median(times):.1f} s "
        f"({min(times):.1f} to {max(times):.1f}), peak {peak:.0f} MB"
    )


if __name__ == "__main__":
    main()
