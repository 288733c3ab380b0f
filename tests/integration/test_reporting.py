"""The report's pages, files and commands: what they say, to whom, and from which bytes."""

import csv
import hashlib
import io
import json
import re
from datetime import timedelta

import krippendorff
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import translation

from dilemmas.models import ModelJudgement
from dilemmas.services.importing import import_dilemmas
from dilemmas.services.responses import import_judgements, import_responses
from ratings import tasks
from ratings.management.commands.gate import Command as Gate
from ratings.models import Judge, Report
from ratings.reports.render import view_of
from ratings.services import jobs
from ratings.services.errors import Refused
from ratings.services.judging import consent
from ratings.services.panels import close_panel, publish
from ratings.services.reporting import compute_report
from tests.cast import CONDITIONS, CRITERIA, NOW, closed_cast, join, open_cast, rate_all, table

pytestmark = pytest.mark.django_db


def agreeing(judge, dilemma, condition, key):
    return (len(condition) + int(dilemma[-1]) + len(key)) % 4


def quarrelling(judge, dilemma, condition, key):
    return (len(condition) + judge) % 4


def as_(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def reported(scores=agreeing, **options):
    cast = closed_cast(scores, **options)
    return cast, compute_report(panel=cast.panel, at=NOW)


def text_of(response) -> str:
    assert response.status_code == 200
    return " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())


def test_report_is_asked_for_waited_for_and_read():
    cast = closed_cast(agreeing)
    client, address = as_(cast.coordinator), f"/report/{cast.panel.slug}/"
    assert "There is no report yet." in text_of(client.get(address))
    assert client.post(f"{address}compute/").status_code == 302
    job = cast.panel.jobs.get(kind="report")
    asked = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert 'hx-trigger="every 2s"' in asked
    assert "<html" not in asked, "the waiting part alone"
    jobs.run(job_id=job.pk, works=tasks.WORKS)
    asked = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "The report is there" in asked
    assert "hx-trigger" not in asked
    assert "<html" not in asked
    page = text_of(client.get(address))
    assert "Requirement met." in page
    assert "(Fleiss&#x27; kappa, unweighted ≥ 0.60)" in page


def test_report_is_refused_where_a_library_says_otherwise(monkeypatch, capsys):
    cast = closed_cast(agreeing)
    right = krippendorff.alpha
    monkeypatch.setattr(krippendorff, "alpha", lambda **named: right(**named) + 2e-9)
    client, address = as_(cast.coordinator), f"/report/{cast.panel.slug}/"
    client.post(f"{address}compute/")
    job = cast.panel.jobs.get(kind="report")
    while jobs.run(job_id=job.pk, works=tasks.WORKS):
        pass
    job.refresh_from_db()
    assert job.state == "failed" and "the engine gives" in job.message
    assert not Report.objects.exists()
    page = text_of(client.get(address))
    assert "The report could not" in page and "the engine gives" in page


def test_second_report_needs_a_reason():
    cast, _report = reported()
    client, address = as_(cast.coordinator), f"/report/{cast.panel.slug}/compute/"
    client.post(address)
    assert not cast.panel.jobs.exists()
    client.post(address, {"reason": "a corrected import"})
    assert cast.panel.jobs.get().parameters == {"reason": "a corrected import"}


def test_page_names_what_is_missed_and_holds_no_script_or_style():
    cast, _report = reported(quarrelling)
    response = as_(cast.observer).get(f"/report/{cast.panel.slug}/")
    page, html = text_of(response), response.content.decode()
    assert "Agreement does not reach the registered threshold on: " in page
    assert "Opposition, Synthesis, Anchoring, Coherence" in page
    assert "Registered on 1 December 2026, before the first rating." in page
    assert html.count("<svg") == html.count("<desc>") > len(CRITERIA)
    assert " style=" not in html
    assert "<style" not in html
    assert not re.search(r"<script(?![^>]*\bsrc=)", html)
    assert "There are fewer than 20 dilemmas" in page, "the interval's limit is said"


@pytest.mark.parametrize(("language", "shown"), [("ca", "0,60"), ("es", "0,60"), ("en", "0.60")])
def test_numbers_are_written_as_the_language_does(language, shown):
    cast, _report = reported()
    cast.coordinator.language = language
    cast.coordinator.save()
    assert shown in text_of(as_(cast.coordinator).get(f"/report/{cast.panel.slug}/"))


def test_value_that_only_rounds_to_the_threshold_is_shown_with_digits_enough():
    _cast, report = reported(quarrelling)
    document = json.loads(report.document)
    one = document["gate"]["criteria"][0]
    for value, exact in ((0.597, "0,5970"), (0.59999997, "0,59999997"), (0.3, "")):
        one |= {"value": value, "shown": f"{value:.2f}"}
        with translation.override("ca"):
            assert view_of(document)["rows"][0]["exact"] == exact


def test_fewer_judges_than_planned_cannot_be_decided():
    """Two judges who agree are no panel of three."""
    cast, report = reported(judges=2)
    document = json.loads(report.document)
    assert report.verdict == "undecidable"
    assert (document["flow"]["never_done"], document["flow"]["unfilled"]) == (0, 10)
    page = text_of(as_(cast.coordinator).get(f"/report/{cast.panel.slug}/"))
    assert "there are 20 ratings of the 30 that the protocol required" in page
    with pytest.raises(Refused):
        publish(panel=cast.panel, actor="", at=NOW)


def test_replacement_stands_in_for_a_judge_who_left():
    cast = open_cast(judges=3)
    left = cast.judges.pop()
    Judge.objects.filter(user=left).update(withdrawn_at=NOW)
    newcomer = join(cast, "replacement@panel.test")
    cast.judges.append(newcomer)
    consent(judge=cast.seat(2), language="en", conflicts="", exposure="some", at=NOW)
    rate_all(cast, agreeing)
    close_panel(panel=cast.panel, actor="", at=NOW)
    report = compute_report(panel=cast.panel, at=NOW)
    flow = json.loads(report.document)["flow"]
    assert report.verdict == "met"
    assert (flow["never_done"], flow["left_by_withdrawn"], flow["unfilled"]) == (10, 10, 0)
    assert (flow["judges"], flow["judges_withdrawn"]) == (4, 1)
    assert flow["exposure"] == {"no": 3, "some": 1}


def test_report_that_was_overtaken_is_not_kept():
    cast = closed_cast(agreeing)

    def meanwhile(done, total):
        if not Report.objects.exists():
            compute_report(panel=cast.panel, at=NOW)

    with pytest.raises(Refused) as refused:
        compute_report(panel=cast.panel, at=NOW, progress=meanwhile)
    assert refused.value.code == "newer_report"
    assert Report.objects.count() == 1


def test_what_a_later_panel_adds_to_the_set_changes_no_report():
    cast, first = reported()
    slug, later = cast.panel.slug, NOW + timedelta(days=1)
    judgement = {"dilemma": "HND-001", "condition": CONDITIONS[0], "judge": "m", "repetition": 1,
                 "criterion": "coherence", "score": 2}  # fmt: skip
    import_judgements(
        content=table([judgement]), name="j.csv", set_name=slug, actor="", at=later
    )  # fmt: skip
    ModelJudgement.objects.update(sealed_at=later)
    import_dilemmas(
        content=table([{"code": "HND-009", "family": "personal", "language": "en", "title": "T",
                        "context": "Another.", "stage": ""}]),
        name="d.csv", collection=slug, actor="", at=later,
    )  # fmt: skip
    import_responses(
        content=table([{"dilemma": "HND-009", "condition": CONDITIONS[0], "language": "en",
                        "text": "A text."}]),
        name="r.csv", set_name=slug, collection=slug, uploader=None, at=later,
    )  # fmt: skip
    again = compute_report(panel=cast.panel, at=later, reason="to see")
    assert again.inputs_sha256 == first.inputs_sha256
    assert again.verdict == "met"
    assert json.loads(again.document)["model_judges"] == {}


def test_files_are_what_was_kept():
    cast, report = reported()
    client, slug = as_(cast.observer), cast.panel.slug
    downloaded = client.get(f"/report/{slug}/report.json").content
    assert hashlib.sha256(downloaded).hexdigest() == report.sha256
    lines = b"".join(client.get(f"/report/{slug}/ratings.csv").streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(lines, newline="")))
    assert len(rows) == 3 * 10 * len(CRITERIA)
    assert {row["condition"] for row in rows} == set(CONDITIONS)
    as_json = client.get(f"/report/{slug}/ratings.json").json()
    assert [one["score"] for one in as_json["ratings"]] == [float(row["score"]) for row in rows]
    first = as_json["ratings"][0]
    assert (first["batch"], first["position"], first["at"]) == (1, 1, NOW.isoformat())
    assert first["opened_at"] == NOW.isoformat()
    assert first["active_ms"] == 0


def test_who_reads_what_once_the_panel_is_closed_and_published():
    cast, _report = reported()
    slug, judge, stranger = cast.panel.slug, cast.judges[0], cast.stranger
    files = [f"/report/{slug}/{name}" for name in ("ratings.csv", "ratings.json")]
    figures = [f"/report/{slug}/", f"/report/{slug}/report.json"]
    public = [f"/published/{slug}/", f"/published/{slug}/report.json"]

    def statuses(user, addresses):
        client = as_(user) if user else Client()
        return {client.get(address).status_code for address in addresses}

    assert statuses(cast.observer, files + figures) == {200}
    assert statuses(judge, files + figures) == {404}
    assert statuses(stranger, files + figures) == {404}
    assert statuses(cast.owner, files + figures) == {404}
    assert statuses(None, public) == {404}
    compute = f"/report/{slug}/compute/"
    assert as_(cast.observer).post(compute, {"reason": "x"}).status_code == 404
    publish(panel=cast.panel, actor="", at=NOW)
    assert statuses(judge, figures) == {200}
    assert statuses(judge, files) == {404}
    assert statuses(None, public) == {200}


@pytest.mark.parametrize(
    ("scores", "options", "words"),
    [
        (agreeing, {}, "V1"),
        (quarrelling, {"publish_missed": True}, "A missed requirement"),
        (lambda *_: 2, {"publish_missed": True}, "Cannot be decided."),
    ],
)
def test_public_page_says_what_kind_of_result_it_is(scores, options, words):
    cast, report = reported(scores, **options)
    publish(panel=cast.panel, actor="", at=NOW)
    anybody = Client(headers={"accept-language": "en"})
    page = text_of(anybody.get(f"/published/{cast.panel.slug}/"))
    assert words in page
    assert report.sha256 in page
    assert ("This is not V1" in page) == (words != "V1")
    assert cast.panel.title in text_of(anybody.get("/published/"))
    downloaded = anybody.get(f"/published/{cast.panel.slug}/report.json").content
    assert hashlib.sha256(downloaded).hexdigest() == report.sha256


def test_public_page_shows_the_published_report_not_a_later_one():
    cast, report = reported()
    publish(panel=cast.panel, actor="", at=NOW)
    later = compute_report(panel=cast.panel, at=NOW + timedelta(days=1), reason="a correction")
    assert (later.number, later.sha256) == (2, report.sha256), "the same inputs, the same document"
    anybody = Client(headers={"accept-language": "en"})
    page = text_of(anybody.get(f"/published/{cast.panel.slug}/"))
    assert "Report 1, computed on 1 December 2026." in page
    page = text_of(as_(cast.coordinator).get(f"/report/{cast.panel.slug}/"))
    assert "Report 2, computed on 2 December 2026. Reason: a correction" in page


def test_pages_cost_the_same_for_any_size(django_assert_max_num_queries):
    cast, _report = reported()
    client = as_(cast.coordinator)
    with django_assert_max_num_queries(8):
        client.get(f"/report/{cast.panel.slug}/")


def test_registered_contrast_is_on_the_page_and_corrected_after_holm():
    pairs = [["OKAPI", "TAPIR"], ["IBIS", "TAPIR"]]
    cast, report = reported(contrasts=pairs)
    found = json.loads(report.document)["contrasts"]
    assert set(found) == {"total", *CRITERIA}
    assert all(one["p_holm"] is not None for one in found["total"])
    page = text_of(as_(cast.coordinator).get(f"/report/{cast.panel.slug}/"))
    assert "OKAPI − TAPIR" in page


def test_report_command_prints_a_table():
    cast, _report = reported(quarrelling, contrasts=[["OKAPI", "TAPIR"]])
    out = io.StringIO()
    call_command("report", cast.panel.slug, stdout=out)
    for part in ("fleiss_kappa", "OKAPI - TAPIR", "Means by judge", "not_met", "Inputs SHA-256"):
        assert part in out.getvalue()


def test_report_command_refuses_an_open_panel():
    cast = open_cast()
    with pytest.raises(CommandError, match="The panel is open"):
        call_command("report", cast.panel.slug)


def test_gate_command_never_takes_an_accident_for_a_verdict(lift_guards, capsys):
    cast, _report = reported()
    Report.objects.update(verdict="none")
    with pytest.raises(CommandError) as broken:
        call_command("gate", cast.panel.slug)
    assert broken.value.returncode == 64
    with pytest.raises(SystemExit) as ended:
        Gate().run_from_argv(["manage.py", "gate"])
    assert ended.value.code == 64
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


@pytest.mark.parametrize("judges", [0, 1, 3])
def test_panel_that_nobody_rated_has_a_page_too(client, judges):
    """Closed by mistake or given up: the report says that nothing can be decided."""
    cast = open_cast(judges=judges)
    close_panel(panel=cast.panel, actor="", at=NOW)
    report = compute_report(panel=cast.panel, at=NOW)
    assert report.verdict == "undecidable"
    client.force_login(cast.coordinator)
    page = client.get(f"/report/{cast.panel.slug}/")
    assert page.status_code == 200
    assert "Cannot be decided" in page.content.decode()
