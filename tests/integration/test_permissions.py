"""Every address × everybody: what is not yours is not found, in the same words as what is not there."""

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver

from awb_panel import pdf
from awb_panel.accounts.models import User
from dilemmas.models import Blinding
from ratings.models import Invitation, Judge, Membership
from ratings.services.invitations import accept, hash_token, invite
from ratings.services.uploads import keep_upload
from tests.cast import NOW, draft_panel, join, open_cast

pytestmark = pytest.mark.django_db

ROLES = (
    "anonymous", "stranger", "judge", "other_judge", "observer", "adjudicator", "coordinator",
    "other_coordinator", "owner",
)  # fmt: skip
DOOR = 302  # to the sign-in page, or onward to the person's own desk
REFUSED = 401  # a judge's post without a session: the text is carried

# name → (method, who gets what, everybody else signed in gets 404); anonymous gets `DOOR` unless
# said. The panel is open: figures, exports and publication exist for nobody yet.
COORDINATOR = {"coordinator": 200}
JUDGE = {"judge": 200}
ITS_WRITERS = {"coordinator": 200, "owner": 200}  # who works on the rubric of the panel
WRITERS = ITS_WRITERS | {"other_coordinator": 200}
MATRIX: dict[str, dict[str, dict[str, int]]] = {
    "home": {"GET": dict.fromkeys(ROLES, 302) | {"anonymous": 200, "stranger": 200}},
    "language": {"POST": dict.fromkeys(ROLES, 302)},
    "demo": {"GET": {"anonymous": 404}, "POST": {"anonymous": 404}},
    "first_owner": {"GET": {"anonymous": 404}, "POST": {"anonymous": 404}},
    "invitation": {"GET": dict.fromkeys(ROLES, 200)},
    "invitation_decline": {"GET": dict.fromkeys(ROLES, 200)},
    "desk": {"GET": dict.fromkeys(ROLES[1:], 200)},
    "consent": {"GET": {"judge": 302}},
    "instructions": {"GET": JUDGE},
    "preferences": {"GET": dict.fromkeys(ROLES, 200), "POST": dict.fromkeys(ROLES, 302)},
    "clarifications": {"GET": JUDGE, "POST": {"judge": 302}},
    "guess": {"GET": {}, "POST": {}},  # nobody before the last batch is handed in
    "my_ratings": {"GET": JUDGE},
    "batch": {"GET": JUDGE, "POST": {"judge": 422, "anonymous": REFUSED}},
    "rate": {"GET": JUDGE, "POST": {"judge": 302, "anonymous": REFUSED}},
    "draft": {"GET": JUDGE, "POST": {"judge": 400, "anonymous": REFUSED}},
    "flag": {"POST": {"judge": 422, "anonymous": REFUSED}},
    "panels": {
        "GET": {
            "observer": 200,
            "adjudicator": 200,
            "coordinator": 200,
            "other_coordinator": 200,
            "owner": 200,
        }
    },
    "new_panel": {"GET": {"owner": 200}, "POST": {"owner": 422}},
    "import": {"GET": {"owner": 200}, "POST": {"owner": 422}},
    "take_back": {"GET": {}, "POST": {}},  # nothing is named
    "import_formats": {"GET": {"owner": 200}},
    "import_example": {"GET": {"owner": 200}},
    "import_preview": {"GET": {"owner": 422}, "POST": {"owner": 422}},
    "rubrics": {"GET": WRITERS, "POST": dict.fromkeys(WRITERS, 422)},
    "rubric": {"GET": ITS_WRITERS, "POST": dict.fromkeys(ITS_WRITERS, 422)},
    "rubric_criterion": {"GET": ITS_WRITERS, "POST": dict.fromkeys(ITS_WRITERS, 422)},
    "rubric_preview": {"GET": ITS_WRITERS},
    "panel_rubric": {"GET": COORDINATOR, "POST": {"coordinator": 422}},
    "overview": {"GET": COORDINATOR},
    "blinding": {"GET": COORDINATOR},
    "blind_one": {"GET": COORDINATOR, "POST": {"coordinator": 422}},
    "protocol": {"GET": COORDINATOR, "POST": {"coordinator": 422}},
    "order": {"GET": COORDINATOR},
    "planning": {"GET": {"coordinator": 302}, "POST": {"coordinator": 302}},
    "registration": {"GET": COORDINATOR, "POST": {"coordinator": 422}},
    "registration_json": {"GET": COORDINATOR},
    "registration_pdf": {"GET": {"coordinator": 200 if pdf.is_available() else 404}},
    "preview_mail": {"GET": COORDINATOR},
    "resend": {"POST": COORDINATOR},
    "freeze": {"GET": COORDINATOR, "POST": {"coordinator": 422}},
    "open": {"GET": COORDINATOR, "POST": {"coordinator": 422}},
    "judges": {"GET": COORDINATOR, "POST": {"coordinator": 422}},
    "progress": {"GET": COORDINATOR},
    "flags": {"GET": COORDINATOR, "POST": {}},
    "reminders": {"GET": COORDINATOR, "POST": {"coordinator": 422}},
    "seat": {"GET": COORDINATOR, "POST": {"coordinator": 422}},
    "texts_out": {"GET": COORDINATOR, "POST": {}},
    "clarify": {"GET": COORDINATOR, "POST": {"coordinator": 422}},
    "revoke": {"POST": {"coordinator": 302}},
    "close": {"GET": COORDINATOR},
    "publish": {"GET": COORDINATOR, "POST": {"coordinator": 422}},
    "audit": {"GET": COORDINATOR},
    "audit_csv": {"GET": COORDINATOR},
    "audit_jsonl": {"GET": COORDINATOR},
    "resolution": {"GET": COORDINATOR, "POST": {"coordinator": 422}},
    "archive": {"POST": {"coordinator": 302}},
    "cases": {"GET": {}},  # adjudicators', after closing
    "case": {"GET": {}, "POST": {}},
    "decisions_csv": {"GET": {}},
    "report": {"GET": {}},
    "report_compute": {"POST": {}},
    "rationales": {"GET": {}},
    "report_json": {"GET": {}},
    "ratings_csv": {"GET": {}},
    "ratings_json": {"GET": {}},
    "published": {"GET": dict.fromkeys(ROLES, 200)},
    "published_panel": {"GET": {"anonymous": 404}},
    "published_report_json": {"GET": {"anonymous": 404}},
    "account_login": {"GET": dict.fromkeys(ROLES, 302) | {"anonymous": 200}},
    "account_request_login_code": {"GET": dict.fromkeys(ROLES, 302) | {"anonymous": 200}},
    "account_confirm_login_code": {"GET": dict.fromkeys(ROLES, 302)},
    "account_logout": {"GET": dict.fromkeys(ROLES, 200) | {"anonymous": 302}},
}


@pytest.fixture
def world():
    cast = open_cast(judges=1)
    other = open_cast(judges=1, slug="other")
    slot = cast.slots(0)[0]
    token = invite(
        panel=cast.panel, email="new@panel.test", role="judge", language="en", actor="", at=NOW
    ).token
    Invitation.objects.filter(token_sha256=hash_token(token)).update(expires_at="2999-01-01T00:00Z")
    invited = invite(
        panel=cast.panel, email="a@panel.test", role="adjudicator", language="en", actor="", at=NOW
    )
    upload = keep_upload(
        owner=cast.owner, kind="dilemmas", name="x.csv", content=b"", target="x",
        at=NOW.replace(year=2998),
    )  # fmt: skip
    people = {
        "stranger": cast.stranger,
        "judge": cast.judges[0],
        "other_judge": other.judges[0],
        "observer": cast.observer,
        "adjudicator": accept(invitation=invited.invitation, at=NOW),
        "coordinator": cast.coordinator,
        "other_coordinator": other.coordinator,
        "owner": cast.owner,
    }
    slug, code = cast.panel.slug, slot.batch.code
    rubric = cast.panel.rubric_version_id
    blinding = Blinding.objects.newest_in(cast.panel.response_set).first()
    waiting = Invitation.objects.get(email="new@panel.test")
    addresses = {
        "home": "/",
        "language": "/language/",
        "demo": "/demo/",
        "first_owner": "/installation/owner/x/",
        "invitation": f"/invitation/{token}/",
        "invitation_decline": f"/invitation/{token}/decline/",
        "desk": "/judge/",
        "consent": f"/judge/{slug}/consent/",
        "instructions": f"/judge/{slug}/instructions/",
        "preferences": "/reading/",
        "clarifications": f"/judge/{slug}/clarifications/",
        "guess": f"/judge/{slug}/guess/",
        "my_ratings": f"/judge/{slug}/my-ratings.csv",
        "batch": f"/judge/batch/{code}/",
        "rate": f"/judge/batch/{code}/1/",
        "draft": f"/judge/batch/{code}/1/draft/",
        "flag": f"/judge/batch/{code}/1/flag/",
        "panels": "/coordinate/",
        "new_panel": "/coordinate/new/",
        "import": "/coordinate/import/",
        "take_back": "/coordinate/import/take-back/",
        "import_formats": "/coordinate/import/formats/",
        "import_example": "/coordinate/import/examples/dilemmas.csv",
        "import_preview": f"/coordinate/import/{upload.pk}/",
        "blind_one": f"/coordinate/{slug}/blinding/{blinding.pk}/",
        "overview": f"/coordinate/{slug}/",
        "rubrics": "/coordinate/rubrics/",
        "rubric": f"/coordinate/rubrics/{rubric}/",
        "rubric_criterion": f"/coordinate/rubrics/{rubric}/criteria/1/",
        "rubric_preview": f"/coordinate/rubrics/{rubric}/preview/",
        "panel_rubric": f"/coordinate/{slug}/rubric/",
        "revoke": f"/coordinate/{slug}/judges/{waiting.pk}/revoke/",
        "seat": f"/coordinate/{slug}/seats/{Judge.objects.filter(panel__slug=slug).first().pk}/",
        "texts_out": f"/coordinate/{slug}/texts/",
        "audit_csv": f"/coordinate/{slug}/audit.csv",
        "audit_jsonl": f"/coordinate/{slug}/audit.jsonl",
        "resend": f"/coordinate/{slug}/judges/{waiting.pk}/resend/",
        "preview_mail": f"/coordinate/{slug}/judges/mail/",
        "registration_pdf": f"/coordinate/{slug}/registration.pdf",
        "registration_json": f"/coordinate/{slug}/registration.json",
        "resolution": f"/coordinate/{slug}/differences/",
        "archive": f"/coordinate/{slug}/archive/",
        "cases": f"/resolve/{slug}/",
        "case": f"/resolve/{slug}/{code}/",
        "decisions_csv": f"/report/{slug}/decisions.csv",
        "report": f"/report/{slug}/",
        "report_compute": f"/report/{slug}/compute/",
        "report_json": f"/report/{slug}/report.json",
        "rationales": f"/report/{slug}/rationales/",
        "ratings_csv": f"/report/{slug}/ratings.csv",
        "ratings_json": f"/report/{slug}/ratings.json",
        "published": "/published/",
        "published_panel": f"/published/{slug}/",
        "published_report_json": f"/published/{slug}/report.json",
        "account_login": "/account/sign-in/",
        "account_request_login_code": "/account/code/",
        "account_confirm_login_code": "/account/sign-in/code/",
        "account_logout": "/account/sign-out/",
    }
    for name in (
        "blinding",
        "protocol",
        "order",
        "freeze",
        "planning",
        "progress",
        "reminders",
        "flags",
        "registration",
        "open",
        "judges",
        "close",
        "publish",
        "audit",
        "clarify",
    ):
        addresses[name] = f"/coordinate/{slug}/{name}/"
    return people, addresses


def test_matrix_lists_every_address():
    names = {
        pattern.name
        for resolver in get_resolver().url_patterns
        for pattern in getattr(resolver, "url_patterns", [resolver])
    }
    assert names == set(MATRIX), "a new address needs a line in MATRIX"


def test_everybody_everywhere(world):
    """One world for all: what an address writes is taken back before the next."""
    people, addresses = world
    wrong = []
    for name, method, role in [(n, m, r) for n in MATRIX for m in MATRIX[n] for r in ROLES]:
        client = Client()
        place = transaction.savepoint()
        if role != "anonymous":
            client.force_login(people[role])
        data = {"language": "en"} if name == "language" else {}
        response = getattr(client, method.lower())(addresses[name], data)
        transaction.savepoint_rollback(place)
        wanted = MATRIX[name][method].get(role, DOOR if role == "anonymous" else 404)
        if response.status_code != wanted:
            wrong.append((method, name, role, response.status_code, wanted))
    assert wrong == [], "what was answered, and what was to be"


def test_forbidden_and_unknown_look_the_same(world):
    people, addresses = world
    client = Client()
    client.force_login(people["stranger"])
    for name in ("overview", "rate", "report", "blind_one", "draft", "revoke", "panel_rubric"):
        method = client.post if name == "revoke" else client.get
        forbidden = method(addresses[name])
        parts = addresses[name].split("/")
        parts[3 if name in ("rate", "draft") else 2] = "0000unknown"
        unknown = method("/".join(parts))
        assert forbidden.status_code == unknown.status_code == 404, name
        assert forbidden.content == unknown.content, name


@pytest.mark.parametrize("person", ["stranger", "judge", "observer", "other_coordinator"])
def test_a_rubric_of_others_looks_like_one_that_is_not_there(world, person):
    people, addresses = world
    client = Client()
    client.force_login(people[person])
    for name in ("rubric", "rubric_criterion", "rubric_preview"):
        found = []
        for number in (addresses[name].split("/")[3], "999999"):
            parts = addresses[name].split("/")
            parts[3] = number
            with CaptureQueriesContext(connection) as queries:
                answer = client.get("/".join(parts))
            found.append((answer.status_code, answer.content, len(queries)))
        assert found[0] == found[1] and found[0][0] == 404, name


def test_unknown_methods_are_refused(world):
    people, addresses = world
    client = Client()
    client.force_login(people["judge"])
    for name in ("rate", "batch", "desk", "flag"):
        assert client.delete(addresses[name]).status_code == 405, name


def test_owner_and_coordinator_cannot_be_invited_as_judges():
    from ratings.services.errors import Refused

    cast = draft_panel()
    for person in (cast.owner, cast.coordinator):
        with pytest.raises(Refused):
            invite(panel=cast.panel, email=person.email, role="judge", language="en", actor="",
                   at=NOW)  # fmt: skip


def test_judge_of_a_set_never_sees_it_as_coordinator_elsewhere():
    """Who coordinates another panel on the same responses knows their conditions."""
    from ratings.services.errors import Refused
    from ratings.services.panels import create_panel

    cast = draft_panel()
    second = create_panel(
        slug="second", title="Second", response_set=cast.panel.response_set,
        rubric_version=cast.panel.rubric_version, content_language="en",
        coordinator=User.objects.create_user("second@panel.test"), at=NOW,
    )  # fmt: skip
    coordinator = Membership.objects.get(panel=second).user
    with pytest.raises(Refused):
        join(cast, coordinator.email)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({}, 200),
        ({"HTTP_X_FORWARDED_FOR": "1.2.3.4"}, 404),
        ({"HTTP_FORWARDED": "for=1.2.3.4"}, 404),
        ({"REMOTE_ADDR": "10.0.0.7"}, 404),
        ({"HTTP_HOST": "panel.example.org"}, 404),
    ],
)
def test_demo_door_opens_on_this_computer_only(client, settings, change, status):
    settings.DEMO, settings.BIND, settings.ALLOWED_HOSTS = True, "127.0.0.1:8000", ["*"]
    environment = {"HTTP_HOST": "localhost:8000", "REMOTE_ADDR": "127.0.0.1"} | change
    assert client.get("/demo/", **environment).status_code == status
    settings.DEMO = False
    assert client.get("/demo/", **environment).status_code == 404
    settings.DEMO, settings.BIND = True, "0.0.0.0:8000"
    assert client.get("/demo/", **environment).status_code == 404


@pytest.mark.parametrize(("day", "status"), [("2020-01-01", 422), ("2999-01-01", 302), ("", 302)])
def test_planned_end_is_not_in_the_past(client, day, status):
    cast = draft_panel()
    client.force_login(cast.coordinator)
    data = {"policy": "literal", "rationales": "none", "judges_planned": 3, "batch_size": 10}
    page = client.post(f"/coordinate/{cast.panel.slug}/protocol/", data | {"ends_on": day})
    assert page.status_code == status
