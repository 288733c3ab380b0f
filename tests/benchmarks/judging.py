"""What the rating page costs the server: `python -m tests.benchmarks.judging [--database URL]`.

Starts gunicorn as docs/operators.md says on a database of its own, and prints, as medians of five
rounds with their spread: server CPU (user and system, all processes) per open and per save; latency
one after the other; and 32 judges who save once a second. `--database postgres` starts a temporary
PostgreSQL. Figures are for comparing on one machine, not for passing or failing.
"""

import argparse
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROUNDS, EACH = 5, 100
JUDGES, SECONDS = 32, 20
ENVIRONMENT = {
    "DJANGO_SETTINGS_MODULE": "awb_panel.settings",
    "AWB_SECRET_KEY": "benchmark" * 8,
    "AWB_INSECURE_HTTP": "1",
    "AWB_STATIC_FROM_SOURCE": "1",
}
_TICK = os.sysconf("SC_CLK_TCK")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--database", default="sqlite", choices=("sqlite", "postgres"))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="awb-bench-")))
        url = f"sqlite:///{folder / 'bench.sqlite3'}"
        if options.database == "postgres":
            from tests.postgres import server

            url = stack.enter_context(server())
        os.environ |= ENVIRONMENT | {"DATABASE_URL": url}
        people = prepare()
        port = free_port()
        web = serve(port)
        stack.callback(stop, web)
        wait_for(port)
        print(
            f"{options.database}; gunicorn 2 × 4 threads; medians of {options.rounds} rounds of {EACH}"
        )
        judge = Judge(port, *people[0])
        judge.open()
        judge.save()
        _table("open the rating page", judge.open, web.pid, options.rounds)
        _table("save a field", judge.save, web.pid, options.rounds)
        _together([Judge(port, *one) for one in people[1:]])
    return 0


class Judge:
    """A browser with a session, on one slot."""

    def __init__(self, port: int, session: str, path: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.path, self.session, self.token, self.sequence = path, session, "", 0
        self.stored, self.client = "", f"bench{id(self)}"

    def open(self) -> int:
        status, body, headers = self._ask("GET", self.path)
        for name, value in headers:
            if name.lower() == "set-cookie" and value.startswith("csrftoken="):
                self.token = value.split("=", 1)[1].split(";")[0]
        assert status == 200, status
        return len(body)

    def save(self) -> int:
        self.sequence += 1
        text = f"A reason of some length, as they are. {self.sequence} " * 10
        fields = {"0-opposition-rationale": [self.stored, text]}
        body = json.dumps(
            {"client": self.client, "sequence": self.sequence, "left": False, "fields": fields}
        )
        status, reply, _headers = self._ask("POST", f"{self.path}draft/", body)
        assert status == 200, (status, reply[:200])
        self.stored = text
        return len(reply)

    def _ask(
        self, method: str, path: str, body: str = ""
    ) -> tuple[int, bytes, list[tuple[str, str]]]:
        headers = {
            "Cookie": f"sessionid={self.session}; csrftoken={self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json" if body else "text/html",
            "X-CSRFToken": self.token,
        }
        self.connection.request(method, path, body or None, headers)
        reply = self.connection.getresponse()
        return reply.status, reply.read(), reply.getheaders()


def prepare(dilemmas: int = 30) -> list[tuple[str, str]]:
    """Make the tables and an open panel of dilemmas × 5 with responses of 4 KB; return sessions and slots."""
    import django

    django.setup()
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    from tests.cast import open_cast

    cast = open_cast(judges=JUDGES + 1, dilemmas=dilemmas, judges_planned=JUDGES + 1)
    found = []
    for number, user in enumerate(cast.judges):
        session = SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = "allauth.account.auth_backends.AuthenticationBackend"
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.save()
        slot = cast.slots(number)[0]
        found.append((str(session.session_key), f"/judge/batch/{slot.batch.code}/{slot.position}/"))
    return found


def serve(port: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "gunicorn", "awb_panel.wsgi", "--worker-class", "gthread",
               "-w", "2", "--threads", "4", "--log-level", "error", "-b", f"127.0.0.1:{port}"]  # fmt: skip
    return subprocess.Popen(command, start_new_session=True)


def stop(web: "subprocess.Popen[bytes]") -> None:
    os.killpg(web.pid, signal.SIGTERM)
    web.wait(20)


def wait_for(port: int) -> None:
    for _try in range(200):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            connection.request("GET", "/published/")
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("The server did not answer.")


def _table(what: str, act: Callable[[], int], master: int, rounds: int) -> None:
    cpu, latency, size = [], [], 0
    for _round in range(rounds):
        before = _cpu(master)
        for _once in range(EACH):
            start = time.perf_counter()
            size = act()
            latency.append(1000 * (time.perf_counter() - start))
        cpu.append(1000 * (_cpu(master) - before) / EACH)
    ordered = sorted(latency)
    print(
        f"  {what:24} CPU {statistics.median(cpu):5.1f} ms ({min(cpu):.1f}–{max(cpu):.1f})   "
        f"latency p50 {ordered[len(ordered) // 2]:5.1f}  p95 {ordered[int(len(ordered) * 0.95)]:5.1f}  "
        f"max {ordered[-1]:6.1f} ms   {size} bytes"
    )


def _together(judges: list[Judge]) -> None:
    """Every judge saves once a second; nothing may fail, and the last text of each is stored."""
    latency: list[float] = []
    errors: list[str] = []

    def write(judge: Judge, number: int) -> None:
        time.sleep(number / len(judges))
        judge.open()
        for _second in range(SECONDS):
            start = time.perf_counter()
            try:
                judge.save()
            except Exception as error:  # a benchmark reports whatever went wrong
                errors.append(repr(error)[:200])
            spent = time.perf_counter() - start
            latency.append(1000 * spent)
            time.sleep(max(0.0, 1 - spent))

    threads = [threading.Thread(target=write, args=(j, n)) for n, j in enumerate(judges)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    from django.db import connection

    from ratings.models import Draft

    connection.close()
    kept = {
        field["value"]
        for fields in Draft.objects.exclude(version=0).values_list("fields", flat=True)
        for field in fields.values()
    }
    lost = sum(judge.stored not in kept for judge in judges)
    ordered = sorted(latency)
    print(
        f"  {len(judges)} judges, {len(latency)} saves in {SECONDS} s: {len(errors)} errors, {lost} lost; "
        f"p50 {ordered[len(ordered) // 2]:.1f}  p95 {ordered[int(len(ordered) * 0.95)]:.1f}  "
        f"max {ordered[-1]:.1f} ms" + (f"; first error {errors[0]}" if errors else "")
    )


def _cpu(master: int) -> float:
    """Seconds of processor time that the server's processes have used."""
    total = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[2]) == master:  # the process group
            total += int(fields[11]) + int(fields[12])
    return total / _TICK


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: Any = one.getsockname()[1]
        return int(port)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
