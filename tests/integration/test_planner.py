"""What PostgreSQL makes of our queries when it is wrong about its tables, as after a large import."""

import pytest
from django.db import connection

from dilemmas.models import Criterion
from ratings.models import Batch, Rating, Slot, Submission
from ratings.services import judging
from ratings.services.panels import close_panel
from ratings.services.reporting import compute_report
from tests.cast import NOW, make_set, open_cast

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans without figures"),
]


@pytest.fixture
def tables_believed_empty(db: None) -> None:
    """A table that was vacuumed while it was empty counts as empty until it is looked at again."""
    apart = connection.copy()  # not in the test's transaction
    with apart.cursor() as cursor:
        cursor.execute("VACUUM")
    apart.close()
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE pg_class SET reltuples = 0, relpages = 1"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        cursor.execute("SET LOCAL statement_timeout = '4s'")


def rate(panel) -> None:
    """Mark everything done and hand it in, all at once: it is the reading that is tried here."""
    slots = Slot.objects.filter(judge__panel=panel).order_by("pk")
    done = Submission.objects.bulk_create(
        [Submission(slot=slot, number=1, draft_version=0, at=NOW) for slot in slots], batch_size=50
    )
    criteria = Criterion.objects.filter(version=panel.rubric_version)
    ratings = [
        Rating(submission=one, criterion=criterion, score=(one.pk + criterion.pk) % 4)
        for one in done
        for criterion in criteria
    ]
    Rating.objects.bulk_create(ratings, batch_size=50)
    for batch in Batch.objects.filter(judge__panel=panel):
        judging.hand_in(batch=batch, at=NOW)


def test_no_query_of_a_panels_life_takes_for_ever(tables_believed_empty, client):
    cast = open_cast(judges=2, dilemmas=30, judges_planned=2)
    rate(cast.panel)
    client.force_login(cast.coordinator)
    slug = cast.panel.slug
    for page in ("", "blinding/", "order/", "progress/", "judges/", "audit/", "flags/"):
        assert client.get(f"/coordinate/{slug}/{page}").status_code == 200, page
    close_panel(panel=cast.panel, actor="", at=NOW)
    cast.panel.refresh_from_db()
    compute_report(panel=cast.panel, reason="", at=NOW)
    for page in ("", "rationales/"):
        assert client.get(f"/report/{slug}/{page}").status_code == 200, page


@pytest.mark.django_db(transaction=True)
def test_after_an_import_the_database_knows_its_tables():
    make_set(dilemmas=4)
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'dilemmas_response'")
        assert cursor.fetchone() == (20.0,)
