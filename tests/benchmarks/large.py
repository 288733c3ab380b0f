"""A panel of the trajectory paper's size: `python -m tests.benchmarks.large [--database postgres]`.

30,000 assignments of 10,000 responses to 9 judges, with 40 ratings each (10 criteria on 4 stages): 1.2
million. The content goes in by the import, the ratings at once. Prints, as medians of five with their
spread: every list of the desk (time and queries) while the panel is open, then closing, the report as
a job (time and memory) and its pages. `--share .1` makes a tenth of it.
"""

import argparse
import hashlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

DILEMMAS, REPLICATES, JUDGES, EACH, STAGES, CRITERIA = 100, 20, 9, 3, 4, 10
BATCH, ROUNDS = 50, 5
ENVIRONMENT = {
    "DJANGO_SETTINGS_MODULE": "awb_panel.settings",
    "AWB_SECRET_KEY": "benchmark" * 8,
    "AWB_INSECURE_HTTP": "1",
    "AWB_STATIC_FROM_SOURCE": "1",
}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--database", default="postgres", choices=("sqlite", "postgres"))
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--report-of", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.report_of:
        return report_of(options.report_of)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="awb-large-")))
        url = f"sqlite:///{folder / 'large.sqlite3'}"
        if options.database == "postgres":
            from tests.postgres import server

            url = stack.enter_context(server())
        os.environ |= ENVIRONMENT | {"DATABASE_URL": url}
        print(f"{options.database}, load {os.getloadavg()[0]:.1f}")
        slug = make(options.share)
        lists(slug)
        close_and_report(slug)
    return 0


def make(share: float) -> str:
    """Make the tables and the open panel with all but a tenth of its ratings; return its address."""
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    from django.db import connection, transaction

    from tests import cast as casting
    from tests.conftest import without_guards

    dilemmas = max(4, round(DILEMMAS * share))
    casting.make_rubric = _rubric  # type: ignore[assignment]
    casting.make_set = lambda name, **_options: _set(name, dilemmas, _options["uploader"])  # type: ignore[assignment]
    said = timed("import and freeze", lambda: casting.open_cast(judges=0, judges_planned=JUDGES,
                 judges_per_response=EACH, batch_size=BATCH, bootstrap_draws=10_000))  # fmt: skip
    panel = said.panel
    with without_guards(), transaction.atomic():
        timed("assign and rate", lambda: _rate(panel))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return str(panel.slug)


def _rubric(**options: Any) -> Any:
    from dilemmas.services.importing import import_rubric
    from tests.cast import NOW, rubric_document

    document = rubric_document(options["code"], tuple(f"criterion-{n}" for n in range(CRITERIA)))
    content = json.dumps(document).encode()
    return import_rubric(content=content, name="rubric.json", actor="", at=NOW)[0]


def _set(name: str, dilemmas: int, uploader: Any) -> Any:
    from dilemmas.models import ResponseSet
    from dilemmas.services.importing import import_dilemmas
    from dilemmas.services.responses import import_responses
    from tests.cast import CONDITIONS, NOW, table

    codes = [f"TRA-{n:03}" for n in range(1, dilemmas + 1)]
    import_dilemmas(
        content=table(
            [{"code": c, "language": "en", "title": f"Title {c}", "context": "You decide."}
             for c in codes]
        ),
        name="dilemmas.csv", collection=name, actor="", at=NOW,
    )  # fmt: skip
    text = "What one can do about the case, and what it costs. " * 20
    import_responses(
        content=table(
            [{"dilemma": c, "condition": k, "replicate": r, "language": "en", "text": f"{n} {text}"}
             for c in codes for k in CONDITIONS for n, r in enumerate(range(1, REPLICATES + 1))]
        ),
        name="responses.csv", set_name=name, collection=name, uploader=uploader, at=NOW,
    )  # fmt: skip
    return ResponseSet.objects.get(name=name)


def _noise(*parts: object) -> int:
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=4).digest(), "big")


def _rate(panel: Any) -> None:
    from datetime import timedelta

    from awb_panel.accounts.models import User
    from dilemmas.models import Blinding, Criterion
    from ratings.models import (
        Batch,
        Consent,
        Draft,
        Flag,
        Judge,
        Membership,
        Rating,
        Slot,
        Submission,
    )
    from ratings.services import audit
    from tests.cast import NOW

    texts = list(
        Blinding.objects.filter(version__response__response_set=panel.response_set_id)
        .order_by("version__response")
        .values_list("pk", "version__response", "version__response__dilemma")
    )
    dilemmas = sorted({dilemma for *_rest, dilemma in texts})
    criteria = list(Criterion.objects.filter(version=panel.rubric_version_id))
    for number in range(JUDGES):
        person = User.objects.create_user(f"judge{number}@large.test", language="en")
        Membership.objects.create(panel=panel, user=person, role="judge")
        judge = Judge.objects.create(
            panel=panel, user=person, code=f"J{number + 1}",
            profession=("physician", "philosopher")[number % 2],
        )  # fmt: skip
        Consent.objects.create(judge=judge, version="1", language="en", exposure="no", at=NOW)
        mine = [t for t in texts if (dilemmas.index(t[2]) + number) % (JUDGES // EACH) == 0]
        mine.sort(key=lambda t: _noise(number, t[0]))
        batches = Batch.objects.bulk_create(
            Batch(judge=judge, number=n + 1, code=f"large-{number}-{n}", algorithm="large",
                  rubric_version_id=panel.rubric_version_id)
            for n in range(-(-len(mine) // BATCH))
        )  # fmt: skip
        slots = Slot.objects.bulk_create(
            (Slot(batch=batches[n // BATCH], judge=judge, position=n % BATCH + 1,
                  code=f"{number:02}{n:06}", response_id=response, blinding_id=blinding,
                  rationales="none")
             for n, (blinding, response, _dilemma) in enumerate(mine)),
            batch_size=5_000,
        )  # fmt: skip
        done = slots[: len(slots) * 9 // 10]
        Draft.objects.bulk_create(
            (Draft(slot=slot, version=int(n < len(done)), saved_at=NOW)
             for n, slot in enumerate(slots)),
            batch_size=5_000,
        )  # fmt: skip
        submissions = Submission.objects.bulk_create(
            (Submission(slot=slot, number=1, draft_version=1, language="en",
                        at=NOW + timedelta(minutes=n))
             for n, slot in enumerate(done)),
            batch_size=5_000,
        )  # fmt: skip
        Rating.objects.bulk_create(_ratings(submissions, done, criteria, number), batch_size=20_000)
        Flag.objects.bulk_create(
            Flag(slot=slot, kind="attention", note="Somebody should look.", at=NOW)
            for slot in done[:: max(1, len(done) // 60)]
        )
        full = [one for n, one in enumerate(batches) if (n + 1) * BATCH <= len(done)]
        Batch.objects.filter(pk__in=[one.pk for one in full]).update(handed_in_at=NOW)
        for one in full:
            audit.record(panel=panel, kind="batch_handed_in", actor=person.opaque_id, at=NOW,
                         payload={"batch": one.number, "judge": judge.code})  # fmt: skip


def _ratings(
    submissions: Sequence[Any], slots: Sequence[Any], criteria: Sequence[Any], judge: int
) -> Iterator[Any]:
    from ratings.models import Rating

    for submission, slot in zip(submissions, slots, strict=True):
        for criterion in criteria:
            for part in range(1, STAGES + 1):
                true = _noise(slot.response_id, criterion.pk, part) % 4
                own = _noise(judge, slot.response_id, criterion.pk, part)
                yield Rating(submission=submission, part=part, criterion=criterion,
                             score=float(true if own % 4 else own // 4 % 4))  # fmt: skip


def lists(slug: str) -> None:
    """Time every list of the desk while the panel is open."""
    from awb_panel.accounts.models import User
    from ratings.models import Judge, Panel

    panel = Panel.objects.get(slug=slug)
    coordinator = panel.memberships.get(role="coordinator").user
    seat = Judge.objects.filter(panel=panel).first()
    assert seat is not None
    judge = User.objects.get(pk=seat.user_id)
    base = f"/coordinate/{slug}/"
    addresses = ["/coordinate/", base, *(f"{base}{part}/" for part in (
        "blinding", "protocol", "registration", "judges", "progress", "flags", "texts", "clarify",
        "differences", "close", "audit", f"seats/{seat.pk}",
    ))]  # fmt: skip
    for address in addresses:
        page(coordinator, address)
    page(judge, "/judge/")
    batch = seat.batches.first()
    assert batch is not None
    page(judge, f"/judge/batch/{batch.code}/")
    page(judge, f"/judge/batch/{batch.code}/1/")


def page(person: Any, address: str) -> None:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(SERVER_NAME="localhost")
    client.force_login(person)
    with CaptureQueriesContext(connection) as queries:
        reply = client.get(address)
    asked = list(queries.captured_queries)
    assert reply.status_code == 200, (address, reply.status_code)
    spent = []
    for _round in range(ROUNDS):
        start = time.perf_counter()
        reply = client.get(address)
        spent.append(1000 * (time.perf_counter() - start))
    slowest = max(asked, key=lambda one: float(one["time"]))
    mark = "" if statistics.median(spent) < 100 else f"   slowest: {slowest['time']} s"
    print(
        f"  {address:42} {statistics.median(spent):7.1f} ms ({min(spent):.1f}–{max(spent):.1f})"
        f"  {len(asked):3} queries  {len(reply.content) // 1024:5} KB{mark}"
    )
    if mark and os.environ.get("SHOW_SQL"):
        print("     ", slowest["sql"][:3000])


def close_and_report(slug: str) -> None:
    from ratings.models import Panel
    from ratings.services.panels import close_panel
    from tests.cast import NOW

    panel = Panel.objects.get(slug=slug)
    timed("close", lambda: close_panel(panel=panel, actor="", at=NOW))
    command = [sys.executable, "-m", "tests.benchmarks.large", "--report-of", slug]
    subprocess.run(command, check=True)
    coordinator = panel.memberships.get(role="coordinator").user
    for address in (f"/report/{slug}/", f"/report/{slug}/rationales/",
                    f"/report/{slug}/rationales/?order=apart", f"/report/{slug}/report.json"):  # fmt: skip
        page(coordinator, address)


def report_of(slug: str) -> int:
    """Compute the report in a process of its own; print seconds and the most memory it held."""
    import django

    django.setup()
    from django.utils import timezone

    from ratings.models import Panel
    from ratings.services.reporting import compute_report

    panel = Panel.objects.get(slug=slug)
    kept = timed("report", lambda: compute_report(panel=panel, reason="", at=timezone.now()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {'':42} {len(kept.document) / 1e6:.1f} MB of document, peak {peak:.0f} MB resident")
    return 0


def timed(what: str, act: Callable[[], Any]) -> Any:
    start = time.perf_counter()
    result = act()
    print(f"  {what:42} {time.perf_counter() - start:7.1f} s", flush=True)
    return result


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
