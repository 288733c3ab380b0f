"""A panel's life, its freeze, reports and gate, jobs and the audit chain."""

import io
import json
from datetime import timedelta
from fractions import Fraction
from itertools import pairwise

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from dilemmas.canonical import canonical, sha256, sha256_of_text
from dilemmas.models import Criterion, DilemmaText, DilemmaVersion, ResponseVersion
from dilemmas.services.responses import import_responses
from ratings import tasks
from ratings.models import AuditEvent, Job, Panel, Rating, Report, Slot
from ratings.services import audit, jobs
from ratings.services.errors import Refused
from ratings.services.freezing import freeze_panel, manifest_parts, obstacles
from ratings.services.panels import close_panel, open_panel, publish
from ratings.services.protocols import write_protocol
from ratings.services.reporting import compute_report
from tests.cast import CRITERIA, NOW, closed_cast, draft_panel, join, open_cast, rate_slot, table

pytestmark = pytest.mark.django_db


def agreeing(judge, dilemma, condition, key):
    """Levels that all judges share, different from response to response."""
    return (len(condition) + int(dilemma[-1]) + len(key)) % 4


def test_freeze_hashes_what_is_fixed_and_refuses_changes():
    cast = draft_panel()
    freeze = freeze_panel(panel=cast.panel, actor="", at=NOW)
    manifest = json.loads(freeze.manifest)
    assert set(manifest) == {
        "protocol", "rubric", "texts", "design", "judges_plan", "model_judgements",
        "condition_key", "dilemma_masks", "provenance_head",
    }  # fmt: skip
    assert sha256(manifest) == freeze.sha256
    cast.panel.protocol.refresh_from_db()
    assert manifest["protocol"] == sha256(cast.panel.protocol.document)
    cast.panel.refresh_from_db()
    with pytest.raises(Refused):
        write_protocol(panel=cast.panel, changes={"policy": "ordinal"}, actor="", at=NOW)
    with pytest.raises(Refused):
        freeze_panel(panel=cast.panel, actor="", at=NOW)


def test_manifest_has_a_part_for_masks_only_if_dilemmas_have_them():
    cast = draft_panel()
    with_masks = manifest_parts(cast.panel, salt="s")
    masks = [[f"HND-00{n}", ["D2", "D4"], ["spirituality"]] for n in (1, 2)]
    assert with_masks.pop("dilemma_masks") == {"salt": "s", "masks": masks}
    DilemmaVersion.objects.update(required_axes=[], required_components=[])
    assert manifest_parts(cast.panel, salt="s") == with_masks
    assert [len(row) for row in with_masks["texts"]["dilemmas"]] == [4, 4]
    DilemmaText.objects.filter(version__dilemma__code="HND-001").update(costs="Much.")
    assert manifest_parts(cast.panel, salt="s")["texts"]["dilemmas"][0][4:] == [
        {"costs": sha256_of_text("Much.")}
    ]


def test_freeze_needs_a_policy_and_every_text_decided():
    cast = draft_panel(policy=None)
    assert [o.code for o in obstacles(cast.panel)] == ["no_policy"]
    with pytest.raises(Refused):
        freeze_panel(panel=cast.panel, actor="", at=NOW)
    cast.panel.refresh_from_db()
    assert cast.panel.state == "draft"


@pytest.mark.parametrize(
    ("said", "found"),
    [("en", []), ("", []), ("en-gb", []), ("ca", [("responses_in_another_language", 1)])],
)
def test_freeze_needs_responses_in_the_panels_language(said, found):
    cast = draft_panel()
    ResponseVersion.objects.filter(pk=ResponseVersion.objects.first().pk).update(language=said)
    assert [(o.code, o.count) for o in obstacles(cast.panel)] == found


def test_freeze_needs_levels_and_dilemmas_in_the_panels_language():
    cast = draft_panel()
    Panel.objects.update(content_language="ca")
    cast.panel.refresh_from_db()
    assert [(o.code, o.count) for o in obstacles(cast.panel)] == [
        ("levels_without_text", 16),
        ("responses_in_another_language", 10),
        ("dilemmas_without_text", 2),
    ]


@pytest.mark.parametrize("act", [open_panel, close_panel, publish])
def test_draft_panel_cannot_skip_a_step(act):
    with pytest.raises(Refused):
        act(panel=draft_panel().panel, actor="", at=NOW)


def test_orders_are_stored_balanced_and_differ_between_judges():
    cast = open_cast(judges=3)
    orders = [[s.response_id for s in cast.slots(n)] for n in range(3)]
    assert all(sorted(order) == sorted(orders[0]) for order in orders)
    assert len({tuple(order) for order in orders}) == 3
    codes = [s.code for n in range(3) for s in cast.slots(n)]
    assert len(set(codes)) == 30, "a code says nothing: no two slots share one"
    for order in orders:
        dilemmas = [Slot.objects.filter(response=r).first().response.dilemma_id for r in order]
        assert all(a != b for a, b in pairwise(dilemmas))


def test_report_of_a_panel_counts_the_last_submission():
    cast = open_cast(judges=2)
    slot = cast.slots(0)[0]
    rate_slot(slot, dict.fromkeys(CRITERIA, 0))
    rate_slot(slot, dict.fromkeys(CRITERIA, 3))
    close_panel(panel=cast.panel, actor="", at=NOW)
    report = compute_report(panel=cast.panel, at=NOW)
    document = json.loads(report.document)
    assert document["judges"]["J1"]["opposition"] == {"mean": 3.0, "n_ratings": 1}
    assert document["flow"]["never_done"] == 19
    assert report.verdict == "undecidable", "unfinished panels are not decided"
    assert Rating.objects.count() == 8, "the first submission is kept"


def test_report_document_is_what_was_hashed():
    cast = closed_cast(agreeing)
    report = compute_report(panel=cast.panel, at=NOW)
    document = json.loads(report.document)
    assert sha256(document) == report.sha256
    assert canonical(document).decode() == report.document
    assert document["gate"]["verdict"] == report.verdict == "met"
    again = compute_report(panel=cast.panel, at=NOW, reason="a second look")
    assert (again.number, again.inputs_sha256) == (2, report.inputs_sha256)
    assert Report.objects.filter(panel=cast.panel).count() == 2


def test_no_variation_is_undecidable_not_met():
    cast = closed_cast(lambda *_: 2)
    report = compute_report(panel=cast.panel, at=NOW)
    assert report.verdict == "undecidable"
    found = json.loads(report.document)["criteria"]["coherence"]["coefficients"]["fleiss_kappa"]
    assert (found["estimate"], found["undefined"]) == (None, "no_variation")
    with pytest.raises(Refused):
        publish(panel=cast.panel, actor="", at=NOW)


@pytest.mark.parametrize(
    ("scores", "protocol", "code", "kind"),
    [
        (agreeing, {}, 0, "v1"),
        (lambda judge, *_: judge, {"publish_missed": True}, 1, "missed_gate"),
        (lambda *_: 1, {}, 2, None),
    ],
)
def test_gate_command_says_the_verdict_by_its_exit_code(scores, protocol, code, kind):
    cast = closed_cast(scores, **protocol)
    compute_report(panel=cast.panel, at=NOW)
    with pytest.raises(SystemExit) as ended:
        call_command("gate", cast.panel.slug, stdout=io.StringIO())
    assert ended.value.code == code
    if kind:
        assert publish(panel=cast.panel, actor="", at=NOW).kind == kind


@pytest.mark.parametrize("state", ["unknown", "open", "unreported"])
def test_gate_command_ends_with_64_for_any_error(state):
    if state == "open":
        open_cast(slug=state)
    if state == "unreported":
        closed_cast(agreeing, slug=state)
    with pytest.raises(CommandError) as error:
        call_command("gate", state)
    assert error.value.returncode == 64


def test_contrast_and_groups_by_hand():
    """OKAPI is always one level above TAPIR on every criterion, for every judge."""

    def scores(judge, dilemma, condition, key):
        return {"OKAPI": 2, "TAPIR": 1, "IBIS": 0}.get(condition, 3)

    cast = closed_cast(scores, contrasts=[["OKAPI", "TAPIR"]])
    document = json.loads(compute_report(panel=cast.panel, at=NOW).document)
    (one,) = document["contrasts"]["total"]
    assert one["estimate"] == pytest.approx(float(Fraction(4, 12)), abs=1e-12)
    assert (one["n_for"], one["n_against"], one["n_ties"]) == (2, 0, 0)
    assert one["p_sign"] == 0.5  # two of two: 2 * (1/2)^2
    assert one["registered"] is True


def test_report_needs_a_closed_panel():
    with pytest.raises(Refused):
        compute_report(panel=open_cast().panel, at=NOW)


def test_job_is_asked_once_and_done_by_the_worker():
    cast = closed_cast(agreeing)
    job = tasks.ask(kind="report", panel=cast.panel)
    assert tasks.ask(kind="report", panel=cast.panel).pk == job.pk
    assert jobs.run(job_id=job.pk, works=tasks.WORKS) is False
    job.refresh_from_db()
    assert (job.state, job.done) == ("done", job.total)
    assert Report.objects.count() == 1
    jobs.run(job_id=job.pk, works=tasks.WORKS)
    assert Report.objects.count() == 1, "a job that is done is not run again"


def test_failing_job_is_tried_three_times_and_says_why():
    cast = closed_cast(agreeing)
    job = tasks.ask(kind="report", panel=cast.panel)

    def breaks(*_):
        raise RuntimeError("the disk is full")

    again = [jobs.run(job_id=job.pk, works={"report": breaks}) for _ in range(4)]
    assert again == [True, True, False, False]
    job.refresh_from_db()
    assert (job.state, job.attempts) == ("failed", 3)
    assert "the disk is full" in job.message


def test_job_of_a_dead_worker_is_taken_up_again():
    cast = closed_cast(agreeing)
    job = tasks.ask(kind="report", panel=cast.panel)
    now = timezone.now()
    Job.objects.filter(pk=job.pk).update(state="running", attempts=1, heartbeat_at=now)
    assert tasks.reap(at=now) == 0, "a worker that was just heard of is left alone"
    assert tasks.reap(at=now + jobs.SILENCE + timedelta(seconds=1)) == 1
    job.refresh_from_db()
    assert job.state == "waiting"


def test_audit_chain_is_sound_and_shows_a_change(lift_guards):
    cast = closed_cast(agreeing)
    assert audit.broken_at(cast.panel) is None
    event = AuditEvent.objects.filter(panel=cast.panel, kind="response_done").first()
    AuditEvent.objects.filter(pk=event.pk).update(payload='{"slot":"other"}')
    assert audit.broken_at(cast.panel) == event.number


def test_check_audit_says_that_guards_are_missing(lift_guards):
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("check_audit", stdout=out)
    assert ended.value.code == 1
    assert "Guards are missing" in out.getvalue()


def test_check_audit_is_content_with_a_whole_panel():
    closed_cast(agreeing)
    out = io.StringIO()
    call_command("check_audit", stdout=out)
    assert "All sound." in out.getvalue()


def test_audit_holds_no_personal_data():
    cast = closed_cast(agreeing)
    texts = " ".join(f"{e.actor} {e.payload}" for e in AuditEvent.objects.filter(panel=cast.panel))
    for person in [*cast.judges, cast.coordinator]:
        assert person.email not in texts
    assert cast.coordinator.opaque_id in texts


def test_late_judge_gets_batches_of_an_open_panel():
    cast = open_cast(judges=1)
    person = join(cast, "late@panel.test")
    assert Slot.objects.filter(judge__user=person).count() == 10
    assert Panel.objects.get(pk=cast.panel.pk).judges.count() == 2


def test_responses_imported_after_the_freeze_are_no_part_of_the_panel():
    cast = open_cast(judges=1)
    more = table([{"dilemma": "HND-001", "condition": "LATE", "text": "Late.", "language": "en"}])
    import_responses(content=more, name="more.csv", set_name=cast.panel.slug, at=NOW)
    late = join(cast, "late@panel.test")
    assert Slot.objects.filter(judge__user=late).count() == 10


def test_rubric_that_the_page_cannot_show_is_not_frozen():
    cast = draft_panel()
    criterion = Criterion.objects.filter(version=cast.panel.rubric_version).first()
    Criterion.objects.filter(pk=criterion.pk).update(scope="part")
    assert [o.code for o in obstacles(cast.panel)] == ["criteria_not_shown"]
