"""The coordinator's pages: set up, watch, close, publish; nothing of the figures before closing."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from dilemmas.models import Blinding, Dilemma, ResponseVersion, Rubric
from dilemmas.services.blinding import decide_blinding
from ratings import words
from ratings.models import Flag, Invitation, Membership, Panel, Upload
from ratings.services import judging, reporting
from ratings.services.freezing import freeze_panel
from ratings.services.judging import Change
from ratings.services.outlook import outlook
from ratings.services.panels import close_panel
from ratings.services.progress import judge_progress
from ratings.services.uploads import keep_upload
from tests.cast import (
    CRITERIA,
    NOW,
    closed_cast,
    draft_panel,
    join,
    make_rubric,
    make_set,
    open_cast,
    rate_all,
    rate_slot,
    table,
)

pytestmark = pytest.mark.django_db
DILEMMAS = table(
    [
        {"code": f"D-{n}", "language": "en", "title": f"Title {n}", "context": f"Context {n}"}
        for n in range(1, 8)
    ]
)


def as_(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def text_of(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def assert_described(response) -> None:
    """Every aria-describedby of the page points to something that is on it."""
    html = response.content.decode()
    ids = set(re.findall(r'\bid="([^"]+)"', html))
    named = {
        one for value in re.findall(r'aria-describedby="([^"]+)"', html) for one in value.split()
    }
    assert named <= ids, named - ids
    for_ = set(re.findall(r'<label[^>]* for="([^"]+)"', html))
    assert for_ <= ids, for_ - ids


# words


def test_every_refusal_obstacle_and_finding_has_a_sentence():
    root = settings.BASE_DIR
    services = "\n".join(p.read_text() for p in (root / "ratings").rglob("*.py"))
    assert set(re.findall(r'\bRefused\(\s*"(\w+)"', services)) <= set(words.REFUSALS)
    assert set(re.findall(r'\bObstacle\("(\w+)"', services)) == set(words.OBSTACLES)
    pure = "".join(
        (root / "dilemmas" / name).read_text() for name in ("blinding.py", "scaffold.py")
    )
    kinds = set(re.findall(r'\badd\(\s*"(\w+)"', pure)) | {"name", "model", "condition", "axis"}
    assert kinds == set(words.FINDINGS)
    assert set(words.STATES) == set(Panel.State.values)
    assert set(words.FLAGS) == set(Flag.Kind.values)


# panels


def test_empty_desk_says_what_to_do_next():
    cast = draft_panel()
    page = as_(cast.owner).get("/coordinate/")
    assert "There is no panel yet. Import dilemmas" in text_of(page)
    assert as_(cast.stranger).get("/coordinate/").status_code == 404


def test_observer_finds_no_link_that_leads_nowhere():
    cast = open_cast(judges=1)
    page = as_(cast.observer).get("/coordinate/")
    assert cast.panel.title in text_of(page)
    assert f"/{cast.panel.slug}/" not in page.content.decode()
    Panel.objects.filter(pk=cast.panel.pk).update(state="closed")
    page = as_(cast.observer).get("/coordinate/").content.decode()
    assert f"/report/{cast.panel.slug}/" in page


def new_panel(owner, **changes):
    response_set = make_set("mine", uploader=owner)
    data = {
        "title": "Primer panell V1",
        "slug": "",
        "response_set": response_set.pk,
        "rubric_version": make_rubric(code="mine").pk,
        "content_language": "en",
    }
    return as_(owner).post("/coordinate/new/", data | changes)


def test_new_panel_takes_its_address_from_the_title():
    cast = draft_panel()
    made = new_panel(cast.owner)
    assert (made.status_code, made.url) == (302, "/coordinate/primer-panell-v1/")
    panel = Panel.objects.get(slug="primer-panell-v1")
    assert Membership.objects.get(panel=panel).role == "coordinator"
    assert panel.protocol.document["policy"] is None, "no rule is preselected"


@pytest.mark.parametrize("slug", ["new", "import", "panel"])
def test_new_panel_refuses_an_address_that_is_taken(slug):
    cast = draft_panel()
    page = new_panel(cast.owner, slug=slug)
    assert page.status_code == 422
    assert "There is another panel with this address" in text_of(page)
    assert_described(page)
    assert not Panel.objects.filter(title="Primer panell V1").exists()


def test_new_panel_offers_only_ones_own_responses():
    cast = draft_panel()
    page = new_panel(cast.owner, response_set=cast.panel.response_set_id)
    assert page.status_code == 422
    assert not Panel.objects.filter(title="Primer panell V1").exists()


# importing


def upload(client, content=DILEMMAS, kind="dilemmas", target="mine", name="dilemmas.csv"):
    from django.core.files.uploadedfile import SimpleUploadedFile

    data = {"kind": kind, "target": target, "file": SimpleUploadedFile(name, content)}
    return client.post("/coordinate/import/", data)


def test_nothing_is_written_before_confirming():
    client = as_(draft_panel().owner)
    before = Dilemma.objects.count()
    kept = upload(client)
    assert kept.status_code == 302
    page = client.get(kept.url)
    shown = text_of(page)
    assert "7 new" in shown and "The file has 7 rows" in shown
    assert "Context 5" in shown and "Context 6" not in shown, "the first rows only"
    assert Dilemma.objects.count() == before
    assert_described(page)
    done = client.post(kept.url, follow=True)
    assert "7 new, 0 changed, 0 as they were" in text_of(done)
    assert Dilemma.objects.count() == before + 7
    assert not Upload.objects.exclude(content=b"").exists(), "its bytes are forgotten"
    assert client.post(kept.url).url == kept.url, "a second click does nothing"
    again = upload(client)
    assert "importing would change nothing" in text_of(client.get(again.url))


def test_import_shows_every_problem_with_its_line_and_writes_nothing():
    client = as_(draft_panel().owner)
    before = Dilemma.objects.count()
    rows = [{"code": "", "language": "en", "context": f"Context {n}"} for n in range(60)]
    kept = upload(client, table(rows))
    for page in (client.get(kept.url), client.post(kept.url)):
        assert page.status_code == 422
        assert "Nothing was imported: 60 things must be mended first." in text_of(page)
        assert "Line 2, code: The cell is empty. Fill it in, for example: EX-001." in text_of(page)
        assert page.content.decode().count("<li>") == 51, "the first 50, and how many more"
    assert Dilemma.objects.count() == before


def test_known_content_is_replaced_only_when_asked_for():
    client = as_(draft_panel().owner)
    client.post(upload(client).url)
    changed = upload(client, DILEMMAS.replace(b"Context 3", b"Another context"))
    refused = client.get(changed.url)
    assert refused.status_code == 422 and 'name="update"' in refused.content.decode()
    client.post(changed.url, {"action": "look", "update": "1"})
    assert "6 are here already" in text_of(client.get(changed.url))
    client.post(changed.url, {"action": "import"})
    assert Dilemma.objects.get(code="D-3").versions.count() == 2


def test_upload_is_its_owners_and_expires():
    cast, other = draft_panel(), draft_panel(slug="other")
    kept = upload(as_(cast.owner))
    assert as_(other.owner).get(kept.url).status_code == 404
    Upload.objects.update(expires_at=NOW - timedelta(days=400))
    assert as_(cast.owner).post(kept.url).status_code == 404
    keep_upload(owner=cast.owner, kind="rubric", name="x", content=b"", target="", at=NOW)
    assert Upload.objects.count() == 1, "what has expired goes"


def test_nobody_imports_into_another_persons_set():
    cast = draft_panel()
    page = upload(as_(cast.owner), kind="responses", target=cast.panel.slug)
    assert page.url == "/coordinate/import/"
    assert not Upload.objects.exists()


def test_shipped_rubric_is_imported_by_one_button():
    client = as_(draft_panel().owner)
    kept = client.post("/coordinate/import/", {"shipped": "rubric"})
    assert "opposition" in text_of(client.get(kept.url))
    client.post(kept.url)
    assert Rubric.objects.filter(code="awb-semantic").exists()


def test_import_form_says_what_is_missing():
    page = as_(draft_panel().owner).post("/coordinate/import/", {"kind": "dilemmas"})
    assert page.status_code == 422 and "Give a name." in text_of(page)
    assert_described(page)


# overview and progress


def test_overview_names_what_is_missing_and_leads_there():
    cast = draft_panel()
    document = cast.panel.protocol.document | {"policy": None}
    type(cast.panel.protocol).objects.update(document=document)
    page = as_(cast.coordinator).get("/coordinate/panel/")
    assert str(words.OBSTACLES["no_policy"]) in text_of(page)
    assert 'href="/coordinate/panel/protocol/">Go there' in page.content.decode()
    assert 'href="/coordinate/panel/freeze/"' not in page.content.decode()


def test_progress_counts_and_tells_no_score():
    cast = open_cast(judges=2)
    first, second, third = cast.slots(0)[:3]
    rate_slot(first, dict.fromkeys(CRITERIA, 3))
    answers = dict.fromkeys(CRITERIA, "2") | {"opposition": "cannot:knowledge"}
    changes = {f"0-{key}-answer": Change("", value) for key, value in answers.items()}
    judging.save(slot=second, changes=changes, at=NOW)
    judging.done(slot=second, language="en", at=NOW)
    judging.save(slot=third, changes={"0-opposition-answer": Change("", "1")}, at=NOW)
    judging.flag(slot=third, kind="damaged", note="half of it is gone", at=NOW)
    row, other = judge_progress(cast.panel)
    assert (row.slots, row.done, row.drafts, row.cannot_judge, row.flags) == (10, 2, 1, 1, 1)
    assert (row.batches, row.handed_in, row.last_seen) == (1, 0, NOW)
    assert (other.done, other.drafts, other.cannot_judge, other.last_seen) == (0, 0, 0, None)
    page = text_of(as_(cast.coordinator).get("/coordinate/panel/"))
    assert "J1 physician 0 / 1 2 / 10 1 1 1" in page
    assert "One waits for an answer." in page
    assert "half of it is gone" in text_of(as_(cast.coordinator).get("/coordinate/panel/flags/"))
    assert "You see no score and no agreement until you close" in page


def test_a_withdrawn_answer_no_longer_counts_as_not_judged():
    cast = open_cast(judges=1)
    slot = cast.slots(0)[0]
    changes = {f"0-{key}-answer": Change("", "2") for key in CRITERIA}
    changes["0-opposition-answer"] = Change("", "cannot:knowledge")
    judging.save(slot=slot, changes=changes, at=NOW)
    judging.done(slot=slot, language="en", at=NOW)
    assert judge_progress(cast.panel)[0].cannot_judge == 1
    judging.save(
        slot=slot, changes={"0-opposition-answer": Change("cannot:knowledge", "3")}, at=NOW
    )
    judging.done(slot=slot, language="en", at=NOW)
    assert judge_progress(cast.panel)[0].cannot_judge == 0


@pytest.mark.parametrize("path", ["", "blinding/", "judges/", "close/", "audit/", "protocol/"])
def test_queries_do_not_grow_with_the_panel(path):
    counts = []
    for slug, judges, dilemmas in (("small", 1, 1), ("large", 3, 3)):
        cast = open_cast(judges=judges, dilemmas=dilemmas, slug=slug)
        for number in range(judges):
            slot = cast.slots(number)[0]
            judging.flag(slot=slot, kind="attention", note="", at=NOW)
        client = as_(cast.coordinator)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(f"/coordinate/{slug}/{path}").status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 20, counts


# blinding


def held_panel():
    """A draft panel with one text that names a model."""
    cast = draft_panel()
    version = ResponseVersion.objects.filter(response__response_set=cast.panel.response_set).first()
    raw = "As ChatGPT, I think <b>both</b> count."
    version.parts.update(raw=raw)
    start = raw.index("ChatGPT")
    finding = {"kind": "name", "part": 1, "start": start, "end": start + 7, "text": "ChatGPT",
               "suggestion": "[name]"}  # fmt: skip
    held = Blinding.objects.create(
        version=version, number=version.blindings.count() + 1, state="held", findings=[finding]
    )
    held.parts.create(number=1, text=raw.replace("ChatGPT", "[name]"))
    return cast, held


def test_held_texts_come_first_and_show_what_was_found():
    cast, held = held_panel()
    client = as_(cast.coordinator)
    page = client.get("/coordinate/panel/blinding/").content.decode()
    assert page.index("waits for a decision") < page.index("nothing found")
    one = client.get(f"/coordinate/panel/blinding/{held.pk}/")
    html = one.content.decode()
    assert '<mark>ChatGPT<span class="visually-hidden"> (name of a product or company)' in html
    assert "&lt;b&gt;both" in html, "a response is never markup"
    assert "As [name], I think" in html
    assert_described(one)


@pytest.mark.parametrize(
    ("decision", "state", "text"),
    [
        ("edit", "edited", "As [name], I think."),
        ("accept", "accepted", "As ChatGPT, I think <b>both</b> count."),
    ],
)
def test_deciding_on_a_text(decision, state, text):
    cast, held = held_panel()
    client = as_(cast.coordinator)
    page = f"/coordinate/panel/blinding/{held.pk}/"
    done = client.post(page, {"decision": decision, "text-1": "As [name], I think."})
    assert done.url == "/coordinate/panel/blinding/"
    newest = Blinding.objects.newest_in(cast.panel.response_set).get(version=held.version)
    assert (newest.state, newest.parts.get().text) == (state, text)
    assert newest.actor == cast.coordinator.opaque_id
    assert client.get(page).url == f"/coordinate/panel/blinding/{newest.pk}/"


def test_an_empty_text_is_refused():
    cast, held = held_panel()
    page = as_(cast.coordinator).post(f"/coordinate/panel/blinding/{held.pk}/", {"text-1": " "})
    assert page.status_code == 422 and "The text is empty. Write what judges will read." in text_of(
        page
    )
    assert "File" not in text_of(page)
    assert_described(page)


def test_an_old_page_loses_nothing():
    """Somebody decided meanwhile: what this page sends is kept as a further decision."""
    cast, held = held_panel()
    decide_blinding(blinding_=held, texts={1: "Theirs."}, actor="", at=NOW)
    as_(cast.coordinator).post(
        f"/coordinate/panel/blinding/{held.pk}/", {"decision": "edit", "text-1": "Ours."}
    )
    texts = [b.parts.get().text for b in held.version.blindings.order_by("number")]
    assert texts[-2:] == ["Theirs.", "Ours."]


def test_texts_of_another_set_are_not_found():
    cast, other = draft_panel(), draft_panel(slug="other")
    foreign = Blinding.objects.newest_in(other.panel.response_set).first()
    client = as_(cast.coordinator)
    assert client.get(f"/coordinate/panel/blinding/{foreign.pk}/").status_code == 404


def test_neighbours_are_one_link_away():
    cast = draft_panel()
    client = as_(cast.coordinator)
    row = Blinding.objects.newest_in(cast.panel.response_set).order_by(
        "version__response__dilemma__code", "version__response__condition__label"
    )[0]
    path, seen = f"/coordinate/panel/blinding/{row.pk}/", set()
    while path:
        seen.add(path)
        page = client.get(path).content.decode()
        found = re.search(r'href="([^"]+)" rel="next"', page)
        path = found[1] if found else ""
    assert len(seen) == 10


# protocol

ANSWERS = {
    "policy": "ordinal", "rationales": "all", "judges_planned": "3", "batch_size": "5",
    "ends_on": "2027-01-31", "contrasts": "OKAPI - ZEBRA-CONTROL\nIBIS − LEMUR",
}  # fmt: skip


def test_protocol_is_written_as_answered():
    cast = draft_panel()
    done = as_(cast.coordinator).post("/coordinate/panel/protocol/", ANSWERS)
    assert done.url == "/coordinate/panel/"
    cast.panel.protocol.refresh_from_db()
    document = cast.panel.protocol.document
    assert document["policy"]["name"] == "ordinal"
    assert document["contrasts"] == [["OKAPI", "ZEBRA-CONTROL"], ["IBIS", "LEMUR"]]
    assert (document["ends_on"], document["publish_missed"]) == ("2027-01-31", False)


def test_no_rule_is_preselected_and_one_must_be_chosen():
    cast = draft_panel()
    document = cast.panel.protocol.document | {"policy": None}
    type(cast.panel.protocol).objects.update(document=document)
    client = as_(cast.coordinator)
    page = client.get("/coordinate/panel/protocol/")
    assert not re.search(r'name="policy"[^>]*checked', page.content.decode())
    assert "2 against 3 counts as much as 0 against 3" in text_of(page)
    for key in ("bootstrap_seed", "order_seed"):
        assert str(document[key]) in text_of(page).replace("\u202f", "").replace(",", "")
    refused = client.post(
        "/coordinate/panel/protocol/", {k: v for k, v in ANSWERS.items() if k != "policy"}
    )
    assert refused.status_code == 422 and "Choose one of the rules." in text_of(refused)
    assert_described(refused)


@pytest.mark.parametrize(
    "wrong",
    [
        {"contrasts": "OKAPI - NOBODY"},
        {"judges_planned": "1"},
        {"ends_on": "soon"},
        {"policy": "x"},
    ],
)
def test_protocol_keeps_what_was_typed_when_something_is_wrong(wrong):
    cast = draft_panel()
    page = as_(cast.coordinator).post("/coordinate/panel/protocol/", ANSWERS | wrong)
    assert page.status_code == 422
    assert next(iter(wrong.values())) in page.content.decode() or "policy" in wrong
    assert_described(page)


def test_frozen_protocol_is_read_only_and_shows_its_hash():
    cast = open_cast(judges=1)
    client = as_(cast.coordinator)
    page = client.get("/coordinate/panel/protocol/").content.decode()
    assert cast.panel.freeze.sha256 in page and "<fieldset disabled" in page
    refused = client.post("/coordinate/panel/protocol/", ANSWERS)
    assert refused.status_code == 422
    cast.panel.protocol.refresh_from_db()
    assert cast.panel.protocol.document["policy"]["name"] == "literal"


# the steps


def test_from_draft_to_open():
    cast = draft_panel()
    client = as_(cast.coordinator)
    before = text_of(client.get("/coordinate/panel/freeze/"))
    assert "Freeze for good" in before
    assert "10 responses · 5 conditions" in before and "Judges planned 3 · 0 have come in" in before
    assert client.post("/coordinate/panel/open/").status_code == 422
    assert client.post("/coordinate/panel/freeze/").url == "/coordinate/panel/"
    cast.panel.refresh_from_db()
    page = client.get("/coordinate/panel/freeze/")
    assert cast.panel.freeze.sha256 in text_of(page) and "Freeze for good" not in text_of(page)
    assert client.post("/coordinate/panel/freeze/").status_code == 422
    assert "No judge has come in yet." in text_of(client.get("/coordinate/panel/open/"))
    assert client.post("/coordinate/panel/open/").status_code == 302
    assert (
        '<form method="post" class="actions">'
        not in client.get("/coordinate/panel/open/").content.decode()
    )
    cast.panel.refresh_from_db()
    assert cast.panel.state == "open"


def test_freeze_is_refused_with_what_stands_in_its_way():
    cast, _held = held_panel()
    client = as_(cast.coordinator)
    page = client.get("/coordinate/panel/freeze/")
    assert str(words.OBSTACLES["blinding_undecided"]) in text_of(page)
    assert "Freeze for good" not in text_of(page)
    assert client.post("/coordinate/panel/freeze/").status_code == 422


def test_close_says_what_is_missing():
    cast = open_cast(judges=2)
    rate_slot(cast.slots(0)[0], dict.fromkeys(CRITERIA, 1))
    client = as_(cast.coordinator)
    page = text_of(client.get("/coordinate/panel/close/"))
    assert "19 responses are not done" in page
    assert "2 of the 3 planned judges have come in" in page
    client.post("/coordinate/panel/close/")
    assert client.post("/coordinate/panel/close/").status_code == 422
    assert "Close for good" not in text_of(client.get("/coordinate/panel/close/"))


def test_close_says_what_it_means_for_the_requirement_without_a_score():
    cast = open_cast(judges=3, dilemmas=2)  # 30 scores a criterion, of which one may be missing
    client = as_(cast.coordinator)
    for number in range(3):
        for slot in cast.slots(number):
            rate_slot(slot, dict.fromkeys(CRITERIA, number % 3))
    page = text_of(client.get("/coordinate/panel/close/"))
    assert "Closed now, the scores would decide it: met at best, not met at worst." in page
    rate_slot(cast.slots(0)[0], {"opposition": "cannot:knowledge"})
    assert outlook(cast.panel).criteria[0].missing == 1
    assert outlook(cast.panel).now == {"best": "met", "worst": "not_met"}, "5 % may be missing"
    rate_slot(cast.slots(0)[1], {"opposition": "cannot:knowledge"})
    found = outlook(cast.panel)
    first, second = found.criteria[:2]
    assert (first.key, first.required, first.cannot_judge, first.allowed) == (
        "opposition",
        30,
        2,
        1,
    )
    assert (first.decidable_now, second.decidable_now) == (False, True)
    assert found.now == {"best": "undecidable", "worst": "not_met"}
    assert found.finished["best"] == "undecidable"
    page = text_of(client.get("/coordinate/panel/close/"))
    assert "Closed now, it could not be decided, however well the judges agree." in page


def test_close_foresees_the_same_as_the_report_decides():
    cast = open_cast(judges=2, dilemmas=2)  # one of the three who were planned never came
    rate_all(cast, lambda judge, dilemma, condition, criterion: len(condition) % 4)
    found = outlook(cast.panel)
    assert {one.unsubmitted for one in found.criteria} == {10}
    assert found.now["best"] == "undecidable"
    assert found.finished == {"best": "met", "worst": "not_met"}
    close_panel(panel=cast.panel, actor="", at=NOW)
    report = reporting.compute_report(panel=cast.panel, at=NOW)
    assert report.verdict == "undecidable"


def scored(judge, dilemma, condition, criterion):
    return (len(condition) + len(criterion) + int(dilemma[-1])) % 4


@pytest.mark.parametrize("disagree", [False, True])
def test_publish_says_as_what_or_why_not(disagree):
    def scores(judge, *where):
        return (scored(judge, *where) + disagree * judge) % 4

    cast = closed_cast(scores, dilemmas=2)
    client = as_(cast.coordinator)
    assert str(words.REFUSALS["no_report"]) in text_of(client.get("/coordinate/panel/publish/"))
    assert client.post("/coordinate/panel/publish/").status_code == 422
    reporting.compute_report(panel=cast.panel, at=NOW)
    page = text_of(client.get("/coordinate/panel/publish/"))
    done = client.post("/coordinate/panel/publish/")
    if disagree:
        assert str(words.REFUSALS["gate_not_met"]) in page
        assert done.status_code == 422
        return
    assert "the result will be published as V1" in page
    assert done.status_code == 302
    assert cast.panel.publication.kind == "v1"
    assert client.post("/coordinate/panel/publish/").status_code == 422


# people

INVITED = {"email": "Puig@Example.org", "role": "judge", "profession": "metgessa",
           "greeting": "Benvolguda doctora Puig", "language": "ca"}  # fmt: skip


def test_invitation_is_mailed_in_its_language_and_its_link_is_shown_once():
    cast = draft_panel(ends_on="2027-01-31")
    client = as_(cast.coordinator)
    page = client.post("/coordinate/panel/judges/", INVITED)
    assert page.status_code == 200
    message = mail.outbox[0]
    assert message.to == ["puig@example.org"] and message.reply_to == [cast.coordinator.email]
    link = re.search(r"http\S+/invitation/[\w-]+/$", message.body, re.M)[0]
    assert link in page.content.decode()
    assert f"{link}decline/" in message.body
    assert message.body.startswith("Benvolguda doctora Puig,")
    with translation.override("ca"):
        assert (
            translation.gettext("On a computer or a tablet, open this personal link:")
            in message.body
        )
    assert "Final previst: 31 de gener de 2027." in message.body
    token = link.split("/")[-2]
    assert token not in client.get("/coordinate/panel/judges/").content.decode()
    assert Client().get(f"/invitation/{token}/").status_code == 200
    assert Client().get(f"/invitation/{token}/decline/").status_code == 200


def test_sending_the_page_again_leaves_the_first_link_alone():
    cast = draft_panel()
    client = as_(cast.coordinator)
    client.post("/coordinate/panel/judges/", INVITED)
    again = client.post("/coordinate/panel/judges/", INVITED)
    assert again.status_code == 422 and "waiting for an answer" in text_of(again)
    assert len(mail.outbox) == 1
    token = re.search(r"/invitation/([\w-]+)/$", mail.outbox[0].body, re.M)[1]
    assert "It does not suit me" in text_of(
        Client(headers={"accept-language": "en"}).get(f"/invitation/{token}/")
    )
    first = Invitation.objects.get()
    client.post(f"/coordinate/panel/judges/{first.pk}/revoke/")
    assert client.post("/coordinate/panel/judges/", INVITED).status_code == 200


def test_the_mail_promises_a_reason_only_if_one_is_asked():
    for rationales, promised in (("one", True), ("none", False)):
        cast = draft_panel(slug=f"asks-{rationales}", rationales=rationales)
        mail.outbox.clear()
        as_(cast.coordinator).post(
            f"/coordinate/asks-{rationales}/judges/", INVITED | {"language": "en"}
        )
        assert ("with a short reason" in mail.outbox[0].body) is promised


def test_an_observer_is_not_invited_to_judge():
    cast = draft_panel()
    as_(cast.coordinator).post(
        "/coordinate/panel/judges/", INVITED | {"role": "observer", "language": "en"}
    )
    message = mail.outbox[0]
    assert "to follow" in message.subject and "judge" not in message.subject
    assert "score each" not in message.body


def test_a_failing_mail_server_leaves_a_link_to_pass_on(settings):
    settings.EMAIL_BACKEND = "tests.integration.test_coordinating.Unreachable"
    cast = draft_panel()
    page = as_(cast.coordinator).post("/coordinate/panel/judges/", INVITED)
    assert page.status_code == 200
    assert "could not be sent" in text_of(page)
    link = re.search(r"http\S+/invitation/[\w-]+/", text_of(page))[0]
    assert Client().get("/" + link.split("/", 3)[3]).status_code == 200
    assert "is on its way" not in text_of(page)


class Unreachable:
    """A mail back end whose server is not there."""

    def __init__(self, **_options: object) -> None:
        pass

    def send_messages(self, _messages: object) -> int:
        raise ConnectionRefusedError


@pytest.mark.parametrize("wrong", [{"email": "nobody"}, {"role": "owner"}, {"language": "xx"}])
def test_a_wrong_invitation_sends_nothing(wrong):
    cast = draft_panel()
    page = as_(cast.coordinator).post("/coordinate/panel/judges/", INVITED | wrong)
    assert page.status_code == 422
    assert not mail.outbox and not Invitation.objects.exists()
    assert_described(page)


def test_whoever_knows_the_conditions_is_not_invited():
    cast = draft_panel()
    page = as_(cast.coordinator).post(
        "/coordinate/panel/judges/", INVITED | {"email": cast.owner.email}
    )
    assert page.status_code == 422
    assert str(words.REFUSALS["knows_the_conditions"]) in text_of(page)
    assert not mail.outbox


def test_invitations_are_listed_by_state_and_withdrawn():
    cast = draft_panel()
    join(cast, "here@panel.test")
    client = as_(cast.coordinator)
    for name in ("waiting", "gone", "late"):
        client.post("/coordinate/panel/judges/", INVITED | {"email": f"{name}@panel.test"})
    gone = Invitation.objects.get(email="gone@panel.test")
    Invitation.objects.filter(email="late@panel.test").update(expires_at=NOW - timedelta(days=900))
    client.post(f"/coordinate/panel/judges/{gone.pk}/revoke/")
    page = client.get("/coordinate/panel/judges/")
    shown = text_of(page)
    for email, state in (("here", "accepted"), ("gone", "withdrawn"), ("late", "expired"),
                         ("waiting", "waiting")):  # fmt: skip
        assert re.search(rf"{email}@panel.test Judge (?:\w+ )?\w+ {state}", shown), email
    assert page.content.decode().count("revoke/") == 1
    accepted = Invitation.objects.get(email="here@panel.test")
    refused = client.post(f"/coordinate/panel/judges/{accepted.pk}/revoke/", follow=True)
    assert "accepted already" in text_of(refused)


def test_invitation_of_another_panel_is_not_found():
    cast, other = draft_panel(), draft_panel(slug="other")
    as_(other.coordinator).post("/coordinate/other/judges/", INVITED)
    pk = Invitation.objects.get().pk
    client = as_(cast.coordinator)
    assert client.post(f"/coordinate/panel/judges/{pk}/revoke/").status_code == 404
    assert Invitation.objects.get().revoked_at is None


# audit


def test_audit_lists_events_and_checks_the_chain(lift_guards):
    cast = draft_panel()
    freeze_panel(panel=cast.panel, actor=cast.coordinator.opaque_id, at=NOW)
    client = as_(cast.coordinator)
    page = text_of(client.get("/coordinate/panel/audit/"))
    assert "panel frozen" in page and "The chain of events is unbroken." in page
    assert cast.coordinator.email not in page
    event = cast.panel.events.order_by("number").first()
    type(event).objects.filter(pk=event.pk).update(payload='{"slug":"another"}')
    broken = text_of(client.get("/coordinate/panel/audit/"))
    assert f"The chain is broken at event {event.number}." in broken


def test_templates_have_no_inline_script_or_style():
    folder = Path(settings.BASE_DIR) / "templates" / "ratings" / "coordinating"
    for path in folder.glob("*.html"):
        assert not re.search(r"<script(?! src=)|\sstyle=|\son\w+=", path.read_text()), path.name
