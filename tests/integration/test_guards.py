"""The database itself refuses what no code path may do, on SQLite and on PostgreSQL."""

import pytest
from django.db import IntegrityError, connection, transaction

from dilemmas.guards import dilemmas_guards, expected, installed
from dilemmas.models import (
    BlindedPart,
    Blinding,
    Condition,
    Criterion,
    Dilemma,
    DilemmaText,
    DilemmaVersion,
    Level,
    LevelText,
    Provenance,
    Response,
    ResponsePart,
    ResponseVersion,
    RubricText,
    RubricVersion,
)
from ratings.guards import ratings_guards
from ratings.models import (
    AuditEvent,
    Batch,
    Consent,
    Draft,
    DraftCheckpoint,
    Freeze,
    Judge,
    Membership,
    Panel,
    Protocol,
    Publication,
    Rating,
    Report,
    Slot,
    Submission,
)
from ratings.services.panels import close_panel
from tests.cast import CRITERIA, NOW, draft_panel, open_cast, rate_slot

pytestmark = pytest.mark.django_db


def refused(act):
    """Run an act that the database must refuse."""
    with pytest.raises(IntegrityError), transaction.atomic():
        act()


def test_every_guard_stands():
    guards = dilemmas_guards() + ratings_guards()
    assert expected(connection, guards) <= installed(connection)
    assert len({guard.trigger for guard in guards}) == len(guards), "names are unique"
    assert max(len(guard.trigger) for guard in guards) <= 63, "PostgreSQL cuts longer names"


@pytest.fixture
def cast():
    cast = open_cast(judges=1)
    rate_slot(cast.slots(0)[0], dict.fromkeys(CRITERIA, 1))
    return cast


SEALED = [
    (DilemmaVersion, {"family": "other"}),
    (DilemmaText, {"context": "other"}),
    (Dilemma, {"code": "other"}),
    (ResponseVersion, {"language": "xx"}),
    (ResponsePart, {"raw": "other"}),
    (Response, {"replicate": 9}),
    (Condition, {"label": "other"}),
    (Blinding, {"state": "accepted"}),
    (BlindedPart, {"text": "other"}),
    (RubricVersion, {"label": "other"}),
    (RubricText, {"norms": "other"}),
    (Criterion, {"key": "other"}),
    (Level, {"value": 9}),
    (LevelText, {"short": "other"}),
]
APPEND_ONLY = [
    (Submission, {"language": "xx"}),
    (Rating, {"score": 3}),
    (DraftCheckpoint, {"version": 9}),
    (Consent, {"conflicts": "none"}),
    (AuditEvent, {"payload": "{}"}),
    (Freeze, {"sha256": "0"}),
    (Slot, {"position": 99}),
    (Provenance, {"payload": "{}"}),
]


@pytest.mark.parametrize(("model", "change"), SEALED + APPEND_ONLY)
def test_sealed_and_append_only_rows_stay(cast, model, change):
    row = model.objects.order_by("pk").first()
    assert row is not None
    refused(lambda: model.objects.filter(pk=row.pk).update(**change))
    refused(lambda: model.objects.filter(pk=row.pk)._raw_delete(model.objects.db))
    assert model.objects.filter(pk=row.pk).exists()


def test_nothing_is_added_below_a_sealed_version(cast):
    level = Level.objects.first()
    refused(lambda: Level.objects.create(criterion=level.criterion, value=7))
    refused(lambda: LevelText.objects.create(level=level, language="xx"))
    version = ResponseVersion.objects.first()
    refused(lambda: ResponsePart.objects.create(version=version, number=2, raw="more"))


def test_protocol_of_a_frozen_panel_stays(cast):
    refused(lambda: Protocol.objects.filter(panel=cast.panel).update(document={}))
    refused(lambda: Protocol.objects.filter(panel=cast.panel)._raw_delete("default"))


@pytest.mark.parametrize("state", ["draft", "frozen", "published"])
def test_open_panel_cannot_go_there(cast, state):
    refused(lambda: Panel.objects.filter(pk=cast.panel.pk).update(state=state))


def test_draft_panel_cannot_be_frozen_without_its_manifest():
    cast = draft_panel()
    refused(lambda: Panel.objects.filter(pk=cast.panel.pk).update(state="frozen"))


@pytest.mark.parametrize("change", [{"slug": "other"}, {"origin": "imported"}, {"title": "x"}])
def test_what_a_frozen_panel_is_about_stays(cast, change):
    refused(lambda: Panel.objects.filter(pk=cast.panel.pk).update(**change))


@pytest.mark.parametrize("score", [4, -1, 1.5])
def test_score_off_the_scale_is_refused_by_the_database(cast, score):
    submission = Submission.objects.get()
    criterion = Criterion.objects.filter(version=cast.panel.rubric_version).first()
    refused(
        lambda: Rating.objects.create(
            submission=submission, criterion=criterion, target="x", score=score
        )
    )


def test_rating_is_a_score_or_a_reason(cast):
    submission = Submission.objects.get()
    criterion = Criterion.objects.filter(version=cast.panel.rubric_version).first()
    make = Rating.objects.create
    refused(lambda: make(submission=submission, criterion=criterion, target="x"))
    refused(
        lambda: make(
            submission=submission, criterion=criterion, target="x", score=1, missing="other"
        )
    )


def test_nothing_is_submitted_or_saved_once_the_panel_is_closed(cast):
    slot = cast.slots(0)[1]
    close_panel(panel=cast.panel, actor="", at=NOW)
    refused(lambda: Submission.objects.create(slot=slot, number=1, draft_version=0, at=NOW))
    refused(lambda: Draft.objects.filter(slot=slot).update(version=5))


def test_handing_in_happens_once(cast):
    batch = Batch.objects.filter(judge=cast.seat(0))
    batch.update(handed_in_at=NOW)
    refused(lambda: batch.update(handed_in_at=None))
    slot = cast.slots(0)[1]
    refused(lambda: Submission.objects.create(slot=slot, number=1, draft_version=0, at=NOW))


def test_nobody_is_judge_and_coordinator_of_one_panel(cast):
    mine = Membership.objects.filter(panel=cast.panel, user=cast.judges[0])
    refused(lambda: mine.update(role="coordinator"))
    refused(lambda: Judge.objects.create(panel=cast.panel, user=cast.coordinator, code="J9"))
    refused(
        lambda: Membership.objects.create(panel=cast.panel, user=cast.coordinator, role="judge")
    )


def test_no_report_of_an_open_panel_and_no_v1_without_the_verdict(cast):
    def report(verdict):
        return Report.objects.create(
            panel=cast.panel, number=Report.objects.count() + 1, document="{}", sha256="0",
            inputs_sha256="0", verdict=verdict, at=NOW,
        )  # fmt: skip

    refused(lambda: report("met"))
    close_panel(panel=cast.panel, actor="", at=NOW)
    missed = report("not_met")
    refused(
        lambda: Publication.objects.create(
            panel=cast.panel, report=missed, kind="v1", at=NOW, actor=""
        )
    )
    refused(
        lambda: Publication.objects.create(
            panel=cast.panel, report=missed, kind="not_registered", at=NOW, actor=""
        )
    )
    refused(lambda: Panel.objects.filter(pk=cast.panel.pk).update(state="published"))


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no TRUNCATE")
@pytest.mark.parametrize("name", ["ratings_rating", "ratings_auditevent", "dilemmas_level"])
def test_tables_cannot_be_truncated(name):
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {name} CASCADE")
