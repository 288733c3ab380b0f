#!/usr/bin/env python3
"""Set up, run and check AWB Panel. Nothing but Python 3.11 and git is needed.

python3 dev.py run [--port 8000] [--empty]
    Start the demonstration on this machine; with --empty, a real, empty installation.
python3 dev.py test [--fast] [--long] [PYTEST ARGUMENTS]
    Every check, and every test on SQLite, on PostgreSQL and in a real browser.
    --fast leaves PostgreSQL and the browser out, --long adds the tests that take minutes.
python3 dev.py sync
    Make the environment alone.
"""

# Standard library only, and readable by any Python 3, so that an old one gets as far as saying so.

import argparse
import contextlib
import errno
import glob
import hashlib
import http.client
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse

ROOT = os.path.dirname(os.path.abspath(__file__))
VAR = os.path.join(ROOT, "var")
VENV = os.path.join(ROOT, ".venv")
BIN = os.path.join(VENV, "bin")
PYTHON = os.path.join(BIN, "python")
OLDEST = (3, 11)


class Trouble(Exception):
    """Something a person can mend; the text says how."""


def say(text):
    print(text, flush=True)


def main():
    if sys.version_info < OLDEST:
        say("Python 3.11 or newer is needed, and this is %s." % sys.version.split()[0])
        say("Install a newer one and name it, for example: python3.11 dev.py run")
        return 1
    options, rest = arguments()
    if options.command is None:
        say(__doc__.strip())
        return 0
    os.chdir(ROOT)
    try:
        if options.command == "run":
            check_port(options.port)
            sync()
            return run(options.port, empty=options.empty)
        sync()
        if options.command == "test":
            return test(rest, long=options.long, fast=options.fast)
        say("The environment is ready.")
        return 0
    except Trouble as trouble:
        say(str(trouble))
        return 1
    except KeyboardInterrupt:
        return 130


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage="dev.py …"
    )
    commands = parser.add_subparsers(dest="command", metavar="run | test | sync")
    run_parser = commands.add_parser("run")
    run_parser.add_argument("--port", type=int, default=8000)
    run_parser.add_argument("--empty", action="store_true", help="a real, empty installation")
    test_parser = commands.add_parser("test", allow_abbrev=False)
    test_parser.add_argument("--fast", action="store_true", help="no PostgreSQL, no browser")
    test_parser.add_argument("--long", action="store_true", help="the long tests too")
    commands.add_parser("sync")
    options, rest = parser.parse_known_args()
    if rest and options.command != "test":
        parser.error("not known: %s" % " ".join(rest))
    return options, rest


# --- stamps: what was done already ---------------------------------------------------------------


def digest(*parts):
    made = hashlib.sha256()
    for part in parts:
        made.update(part if isinstance(part, bytes) else part.encode())
        made.update(b"\0")
    return made.hexdigest()


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def stamped(name, value):
    """Tell whether the stamp `name` says that `value` was reached already."""
    path = os.path.join(VAR, "stamp-" + name)
    return os.path.exists(path) and contents(path).decode() == value


def stamp(name, value):
    os.makedirs(VAR, exist_ok=True)
    with open(os.path.join(VAR, "stamp-" + name), "w") as file:
        file.write(value)


# --- sync: the environment -----------------------------------------------------------------------


def sync():
    """Make `.venv` from uv.lock, the secret key and the catalogues; skip what is done."""
    secret_key()
    wanted = digest(contents("uv.lock"), contents("pyproject.toml"), sys.version, VENV)
    if not (os.path.exists(PYTHON) and stamped("environment", wanted)):
        say("Making the environment (a minute the first time) …")
        environment = dict(os.environ, UV_PYTHON_DOWNLOADS="never", UV_PROJECT_ENVIRONMENT=VENV)
        environment.pop("VIRTUAL_ENV", None)
        command = [uv(), "sync", "--quiet", "--frozen", "--compile-bytecode"]
        command += ["--python", sys.executable]
        if subprocess.run(command, env=environment).returncode:
            raise Trouble("The packages could not be installed. Check the network and try again.")
        stamp("environment", wanted)
    compile_catalogues()


def uv():
    """Return the path of uv: the one on PATH, or one of our own in `.uv/`."""
    own = os.path.join(ROOT, ".uv", "bin", "uv")
    found = shutil.which("uv") or (own if os.path.exists(own) else None)
    if found:
        return found
    try:
        import ensurepip  # noqa: F401
        import venv
    except ImportError:
        raise Trouble(
            "Python's venv module is missing. On Debian or Ubuntu type:\n"
            "  sudo apt install python%d.%d-venv" % sys.version_info[:2]
        ) from None
    venv.create(os.path.join(ROOT, ".uv"), with_pip=True, clear=True)
    pip = [os.path.join(ROOT, ".uv", "bin", "python"), "-m", "pip", "install", "--quiet", "uv"]
    if subprocess.run(pip).returncode:
        raise Trouble("uv could not be installed. Check the network and try again.")
    return own


def secret_key():
    """Return this folder's key, made once and readable by its owner only."""
    path = os.path.join(VAR, "secret-key")
    if not os.path.exists(path):
        os.makedirs(VAR, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(64))
    return contents(path).decode()


def compile_catalogues():
    sources = sorted(glob.glob("awb_panel/locale/*/LC_MESSAGES/django.po"))
    wanted = digest(*(contents(path) for path in sources))
    made = all(os.path.exists(path[:-2] + "mo") for path in sources)
    if made and stamped("catalogues", wanted):
        return
    if subprocess.run([PYTHON, "-m", "awb_panel.catalogues", "compile"]).returncode:
        raise Trouble("The catalogues could not be compiled; the lines above say which and why.")
    stamp("catalogues", wanted)


def sqlite_address(path):
    return "sqlite:///" + urllib.parse.quote(path)


# A real installation started by hand may send real e-mails.
KEPT_WHEN_EMPTY = ("AWB_EMAIL_", "AWB_TIME_ZONE")


def settings_environment(**settings):
    """Return the variables for our own processes: no AWB_ setting of the caller's leaks in."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWB_")}
    return dict(
        kept,
        DJANGO_SETTINGS_MODULE="awb_panel.settings",
        AWB_SECRET_KEY=secret_key(),
        PYTHONUNBUFFERED="1",
        **settings,
    )


# --- run -----------------------------------------------------------------------------------------

PREPARE = """
import os, django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("collectstatic", interactive=False, verbosity=0)
if os.environ["AWB_DEMO"] == "1":
    call_command("load_demo")
"""


def check_port(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            taken = getattr(error, "errno", None) == errno.EADDRINUSE
            raise Trouble(
                "Port %d is in use. Stop the program that has it, or type:\n"
                "  python3 dev.py run --port %d" % (port, port + 1)
                if taken
                else "Port %d cannot be used. Type: python3 dev.py run --port 8000" % port
            ) from None


def run(port, *, empty):
    """Prepare the database, start web and worker, say where to click, stop both together."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    database = os.path.join(VAR, "installation.sqlite3" if empty else "demo.sqlite3")
    address = sqlite_address(database)
    if empty:
        address = os.environ.get("DATABASE_URL", address)
    own = {n: v for n, v in os.environ.items() if empty and n.startswith(KEPT_WHEN_EMPTY)}
    environment = settings_environment(
        **own,
        AWB_INSECURE_HTTP="1",
        AWB_DEMO="0" if empty else "1",
        AWB_BIND="127.0.0.1:%d" % port,
        AWB_ALLOWED_HOSTS="localhost,127.0.0.1",
        AWB_SITE_URL="http://localhost:%d" % port,
        DATABASE_URL=address,
    )
    prepare(environment, database if address == sqlite_address(database) else None)
    children = start(environment, port)
    try:
        door = owners_door(environment) if empty else None
        wait_for_page(port, children["web"])
        tell_where_to_click(port, door)
        watch(children)
    except KeyboardInterrupt:
        say("\nStopped.")
        return 0
    finally:
        stop(children.values())


def interrupt(*_):
    raise KeyboardInterrupt


def prepare(environment, database):
    """Migrate, collect static files, load the demonstration; once, until one of them changes."""
    name = "empty" if environment["AWB_DEMO"] == "0" else "demo"
    wanted = digest(environment["DATABASE_URL"], *prepared_from())
    files = [os.path.join(ROOT, "staticfiles", "staticfiles.json")]
    if database:
        files.append(database)
    if stamped(name, wanted) and all(os.path.exists(path) for path in files):
        return
    say("Preparing the database …")
    if subprocess.run([PYTHON, "-c", PREPARE], env=environment).returncode:
        remedy = (
            "" if name == "empty" else "\nTo start the demonstration anew: rm var/demo.sqlite3*"
        )
        raise Trouble("The database is not ready; the lines above say why." + remedy)
    stamp(name, wanted)


def prepared_from():
    """Yield what `prepare` depends on: packages, migrations, static files, demo content."""
    patterns = ("*/migrations/*.py", "awb_panel/*/migrations/*.py", "static/**/*", "fixtures/**/*")
    yield contents("uv.lock")
    for pattern in patterns:
        for path in sorted(glob.glob(pattern, recursive=True)):
            if os.path.isfile(path):
                yield "%s %d %d" % (path, os.path.getsize(path), os.stat(path).st_mtime_ns)


def start(environment, port):
    """Start both processes in sessions of their own: Ctrl+C then reaches them once, through us."""
    # The control socket would be one more way in, in the home folder, that nobody here uses.
    options = "--worker-class gthread -w 2 --threads 4 --graceful-timeout 3 --no-control-socket"
    bind = ["--bind", "127.0.0.1:%d" % port, "--log-level", "warning"]
    commands = {
        "web": ["-m", "gunicorn", "awb_panel.wsgi", *options.split(), *bind],
        "worker": ["manage.py", "worker"],
    }
    return {
        name: subprocess.Popen([PYTHON, *command], env=environment, start_new_session=True)
        for name, command in commands.items()
    }


def wait_for_page(port, web):
    """Ask for the first page until it is there: gunicorn listens before it can answer."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if web.poll() is not None:
            raise Trouble("The web process has stopped; the lines above say why.")
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("localhost", port, timeout=30)
            connection.request("GET", "/")
            connection.getresponse().read()
            connection.close()
            return
        time.sleep(0.05)
    raise Trouble("The web process does not answer; the lines above say why.")


def owners_door(environment):
    """Ask, while the web process starts, how the first owner of an empty installation gets in."""
    command = [PYTHON, "manage.py", "ownertoken"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def tell_where_to_click(port, door):
    say("")
    if door:
        say(door.communicate()[0].strip())
        say("AWB Panel is at http://localhost:%d/" % port)
    else:
        say("The demonstration is at http://localhost:%d/demo/" % port)
    say("Ctrl+C stops it.")


def watch(children):
    while True:
        for name, process in children.items():
            if process.poll() is not None:
                raise Trouble("The %s process has stopped; the lines above say why." % name)
        time.sleep(0.3)


def stop(processes):
    for process in processes:
        if process.poll() is None:
            process.terminate()
    for process in processes:
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


# --- test ----------------------------------------------------------------------------------------


def test(extra, *, long, fast):
    """Run every check and every test; name all that failed at the end."""
    in_ci = os.environ.get("CI", "").lower() in ("1", "true")
    if not fast:
        prepare_machine(in_ci)
    results = [attempt(*step) for step in steps(extra, long=long, fast=fast)]
    say("\n== summary")
    for name, code, seconds, last in results:
        say("%-20s %4.0f s  %-6s  %s" % (name, seconds, "FAILED" if code else "ok", last))
    failed = [name for name, code, _, _ in results if code]
    say("Failed: %s" % ", ".join(failed) if failed else "All checks and tests passed.")
    return 1 if failed else 0


def steps(extra, *, long, fast):
    """Return (name, command, environment) of all that is checked."""
    environment = settings_environment(
        AWB_INSECURE_HTTP="1",
        AWB_STATIC_FROM_SOURCE="1",
        AWB_EMAIL_BACKEND="django.core.mail.backends.locmem.EmailBackend",
        DATABASE_URL=sqlite_address(os.path.join(VAR, "checks.sqlite3")),
    )
    deployed = dict(
        environment,
        AWB_INSECURE_HTTP="0",
        AWB_STATIC_FROM_SOURCE="0",
        AWB_ALLOWED_HOSTS="panel.example.org",
        AWB_SITE_URL="https://panel.example.org",
    )
    manage = [PYTHON, "manage.py"]
    workers = str(min(os.cpu_count() or 2, 8))
    pytest = [PYTHON, "-m", "pytest", "-n", workers, *(["--long"] if long else []), *extra]
    named = any(os.path.exists(argument.split("::")[0]) for argument in extra)
    on_sqlite = ["--ignore=tests/browser"] if fast else []
    on_postgres = [] if named else ["tests/integration", "tests/browser"]
    checks = [
        ("ruff check", [tool("ruff"), "check", "."], environment),
        ("ruff format", [tool("ruff"), "format", "--check", "--quiet", "."], environment),
        ("djlint", [tool("djlint"), "templates", "--lint", "--quiet"], environment),
        ("mypy", [tool("mypy")], environment),
        ("import-linter", [tool("lint-imports")], environment),
        ("migrations", [*manage, "makemigrations", "--check", "--dry-run"], environment),
        ("deployment", [*manage, "check", "--deploy", "--fail-level", "WARNING"], deployed),
        ("catalogues", [PYTHON, "-m", "awb_panel.catalogues", "check"], environment),
        ("tests on SQLite", [*pytest, *on_sqlite], environment),
    ]
    if not fast:
        postgres = [PYTHON, "-m", "tests.postgres", "--", *pytest, "-m", "not looks", *on_postgres]
        checks.append(("tests on PostgreSQL", postgres, environment))
    return checks


def tool(name):
    return os.path.join(BIN, name)


def attempt(name, command, environment):
    """Run one step, showing what it says; return (name, code, seconds, its last line)."""
    say("\n== %s" % name)
    started = time.monotonic()
    last = ""
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        last = line.strip() or last
    return name, process.wait(), time.monotonic() - started, last[:120]


def prepare_machine(in_ci):
    """In CI, as root, install what the mandatory tests need; elsewhere say what to type."""
    missing = [] if shutil.which("chromium") or shutil.which("chromium-browser") else ["chromium"]
    found = subprocess.run([PYTHON, "-m", "tests.postgres", "--find"], stdout=subprocess.DEVNULL)
    if found.returncode:
        missing.append("postgresql")
    if not missing:
        return
    line = "apt-get install --yes --no-install-recommends %s" % " ".join(missing)
    if not in_ci:
        say("Not installed: %s. Tests that need it are skipped." % " and ".join(missing))
        say("To run them too, type: sudo %s" % line)
    elif os.geteuid() == 0 and shutil.which("apt-get"):
        say("Installing %s …" % " and ".join(missing))
        quiet = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        subprocess.run(["apt-get", "update", "-qq"], env=quiet)
        subprocess.run([*line.split(), "-qq"], env=quiet, stdout=subprocess.DEVNULL)
    else:
        raise Trouble("CI needs %s. Install with: %s" % (" and ".join(missing), line))


if __name__ == "__main__":
    sys.exit(main())
