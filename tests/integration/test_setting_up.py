"""Setting a panel up in the browser: protocol, simulation, registration, judges, checklist."""

import json
import re

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from awb_panel import pdf
from dilemmas.canonical import sha256
from ratings import tasks
from ratings.models import Consent, Invitation, Job, Panel
from ratings.services import invitations, jobs, judging, planning, registering
from ratings.services.errors import Refused
from ratings.services.freezing import freeze_panel
from ratings.services.invitations import Guest, GuestsRefused, invite, invite_all
from ratings.services.panels import open_panel
from ratings.services.protocols import DECLARATIONS, DEFAULTS, write_protocol
from tests.cast import NOW, Cast, draft_panel, join, open_cast

pytestmark = pytest.mark.django_db


def as_(user) -> Client:
    client = Client(headers={"accept-language": "en"})
    client.force_login(user)
    return client


def text_of(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def at(cast: Cast, name: str, *more) -> str:
    return reverse(name, args=[cast.panel.slug, *more])


def protocol_form(**changes):
    return {
        "policy": "ordinal", "rationales": "one", "order": "williams-1", "markdown": "shown",
        "judges_planned": 3, "batch_size": 10, "guesses": 0, "repeats": 0,
    } | changes  # fmt: skip


# protocol


def test_what_only_people_know_is_written_and_read_back():
    cast = draft_panel()
    client = as_(cast.coordinator)
    said = {key: f"Said of {key}: <b>" for key in DECLARATIONS}
    data = protocol_form(margin="0.05", contrasts="OKAPI - TAPIR", **said)
    assert client.post(at(cast, "protocol"), data).status_code == 302
    document = Panel.objects.get(pk=cast.panel.pk).protocol.document
    assert {key: document[key] for key in DECLARATIONS} == said
    assert document["margin"] == 0.05 and document["practice"] is False
    page = client.get(at(cast, "protocol")).content.decode()
    assert "Said of estimand: &lt;b&gt;" in page
    for language in ("V1 només si es compleix", "V1 solo si se cumple", "as V1 only if this holds"):
        assert language in page, "the sentence of the paper stands there in three languages"


def test_what_is_wrong_opens_its_group_and_loses_nothing():
    cast = draft_panel()
    data = protocol_form(margin="2", estimand="kept")
    page = as_(cast.coordinator).post(at(cast, "protocol"), data)
    html = page.content.decode()
    assert page.status_code == 422
    assert re.search(r'<details class="group" open>\s*<summary>The study', html)
    assert "kept" in html
    assert Panel.objects.get(pk=cast.panel.pk).protocol.document["margin"] is None


def test_too_long_an_answer_is_refused_by_the_service():
    cast = draft_panel()
    with pytest.raises(Refused) as refused:
        write_protocol(panel=cast.panel, changes={"pay": "x" * 4001}, actor="", at=NOW)
    assert refused.value.code == "protocol_too_long"


# simulation


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(planning, "PANELS", 10)
    monkeypatch.setattr(planning, "DRAWS", 20)
    monkeypatch.setattr(planning, "GRID", (0.6, 0.8))


def work() -> None:
    for job in Job.objects.filter(state=Job.State.WAITING):
        jobs.run(job_id=job.pk, works=tasks.WORKS)


def test_simulation_runs_in_the_background_and_is_attached_and_frozen(quick):
    cast = draft_panel(dilemmas=6)
    client = as_(cast.coordinator)
    asked = client.post(at(cast, "planning"), {"shares": "0.1 0.2 0,4 0.3"})
    assert asked.url == at(cast, "protocol") + "#planning"
    assert "is being simulated" in text_of(client.get(at(cast, "protocol")))
    work()
    panel = Panel.objects.get(pk=cast.panel.pk)
    plan = panel.protocol.document["planning"]
    assert plan["design"]["dilemmas"] == 6 and plan["design"]["responses"] == 5
    assert plan["design"]["shares"] == pytest.approx([0.1, 0.2, 0.4, 0.3])
    assert len(plan["points"]) == 2
    page = text_of(client.get(at(cast, "protocol")))
    assert "10 panels at each true value" in page and "Simulate again" in page
    freeze = freeze_panel(panel=panel, actor="", at=NOW)
    assert json.loads(freeze.manifest)["protocol"] == sha256(panel.protocol.document)


def test_a_plan_of_another_protocol_says_so(quick):
    cast = draft_panel(dilemmas=6)
    planning.attach_plan(panel=cast.panel, shares=(), actor="", at=NOW)
    assert planning.is_of_this_design(Panel.objects.get(pk=cast.panel.pk))
    write_protocol(panel=cast.panel, changes={"judges_planned": 4}, actor="", at=NOW)
    assert not planning.is_of_this_design(Panel.objects.get(pk=cast.panel.pk))
    page = as_(cast.coordinator).get(at(cast, "protocol"))
    assert "changed since this was simulated" in text_of(page)


@pytest.mark.parametrize("shares", ["0.5 0.5", "a b c d", "0.5 0.5 0.5 0.5", "-1 1 0.5 0.5"])
def test_shares_that_make_no_sense_are_refused_in_words(shares):
    cast = draft_panel(dilemmas=6)
    client = as_(cast.coordinator)
    page = client.post(at(cast, "planning"), {"shares": shares}, follow=True)
    assert "one share for each level" in text_of(page)
    assert not Job.objects.exists()


def test_nothing_is_attached_after_the_freeze(quick):
    cast = draft_panel(dilemmas=6)
    freeze_panel(panel=cast.panel, actor="", at=NOW)
    cast.panel.refresh_from_db()
    with pytest.raises(Refused):
        planning.attach_plan(panel=cast.panel, shares=(), actor="", at=NOW)
    page = as_(cast.coordinator).post(at(cast, "planning"), {"shares": ""}, follow=True)
    assert "nothing is attached to it any more" in text_of(page)
    assert not Job.objects.exists()


# registration


def test_registration_says_all_that_was_fixed_and_nothing_hidden():
    cast = draft_panel()
    write_protocol(panel=cast.panel, changes={"estimand": "The mean of E."}, actor="", at=NOW)
    client = as_(cast.coordinator)
    assert "how it would read today" in text_of(client.get(at(cast, "registration")))
    assert client.get(at(cast, "registration_json")).status_code == 404
    freeze = freeze_panel(panel=Panel.objects.get(pk=cast.panel.pk), actor="", at=NOW)
    page = text_of(client.get(at(cast, "registration")))
    assert freeze.sha256 in page and "The mean of E." in page and "not stated" in page
    document = json.loads(client.get(at(cast, "registration_json")).content)
    assert document["sha256"] == freeze.sha256 == sha256(document["manifest"])
    assert document["manifest"]["protocol"] == sha256(document["protocol"])
    assert document["manifest"]["rubric"] == sha256(document["rubric"])
    everything = json.dumps(document)
    assert "about the case" not in everything, "no text that judges read"
    assert freeze.key_salt not in everything


def test_deposits_are_noted_with_their_date_and_never_changed():
    cast = draft_panel()
    client = as_(cast.coordinator)
    early = client.post(at(cast, "registration"), {"address": "https://osf.io/abc"})
    assert early.status_code == 422 and "Freeze the panel first" in text_of(early)
    freeze_panel(panel=cast.panel, actor="", at=NOW)
    assert "First deposit the registration" in text_of(client.get(at(cast, "overview")))
    bad = client.post(at(cast, "registration"), {"address": "javascript:alert(1)"})
    assert bad.status_code == 422
    for address in ("https://osf.io/abc", "https://zenodo.org/1"):
        client.post(at(cast, "registration"), {"address": address})
    found = registering.deposits(cast.panel)
    assert [one.address for one in found] == ["https://osf.io/abc", "https://zenodo.org/1"]
    assert "First deposit" not in text_of(client.get(at(cast, "overview")))


# judges

LIST = """núria@example.org; metgessa; Benvolguda Núria; ca
pau@example.org\tphilosopher\tDear Pau\ten

last@example.org
"""


def test_a_list_is_invited_as_a_whole_each_in_their_language():
    cast = draft_panel()
    page = as_(cast.coordinator).post(
        at(cast, "judges"), {"list-people": LIST.replace("núria", "nuria"), "list-language": "es"}
    )
    assert page.status_code == 200
    found = {one.email: one for one in Invitation.objects.filter(panel=cast.panel)}
    assert {e: (o.language, o.profession) for e, o in found.items()} == {
        "nuria@example.org": ("ca", "metgessa"),
        "pau@example.org": ("en", "philosopher"),
        "last@example.org": ("es", ""),
    }
    assert len(mail.outbox) == 3 and text_of(page).count("/invitation/") == 3
    assert mail.outbox[0].body.startswith("Benvolguda Núria,")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a@example.org\nnobody; x", "Line 2: «nobody» is no e-mail address."),
        ("a@example.org;;;fr", "Line 1: the language is ca, es or en, not «fr»."),
        ("a@example.org\nA@example.org", "Line 2: the same address stands on line 1."),
        ("a@example.org\n\nstranger@panel.test\nowner@panel.test", "Line 4: This person can see"),
        ("", "Write a line for each judge."),
    ],
)
def test_one_bad_line_and_nobody_is_invited(text, says):
    cast = draft_panel()
    page = as_(cast.coordinator).post(
        at(cast, "judges"), {"list-people": text, "list-language": "en"}
    )
    assert page.status_code == 422
    assert says in text_of(page).replace("&#x27;", "'")
    assert not Invitation.objects.exists() and not mail.outbox


def test_all_refusals_of_a_list_are_told_at_once():
    cast = draft_panel()
    guests = [
        Guest(n, f"{who}@panel.test") for n, who in enumerate(("owner", "new", "coordinator"))
    ]
    with pytest.raises(GuestsRefused) as refused:
        invite_all(panel=cast.panel, guests=guests, role="judge", language="en", actor="", at=NOW)
    assert [line for line, _ in refused.value.refusals] == [0, 2]
    assert not Invitation.objects.exists()


def test_sending_again_gives_a_new_link_and_voids_the_old():
    cast = draft_panel()
    first = invite(
        panel=cast.panel, email="j@example.org", role="judge", language="ca", actor="",
        at=timezone.now(), profession="metge",
    )  # fmt: skip
    client = as_(cast.coordinator)
    page = client.post(at(cast, "resend", first.invitation.pk))
    assert page.status_code == 200 and len(mail.outbox) == 1
    new = Invitation.objects.get(panel=cast.panel, revoked_at=None)
    assert (new.email, new.language, new.profession) == ("j@example.org", "ca", "metge")
    visitor = Client()
    assert visitor.get(f"/invitation/{first.token}/").status_code != 200
    link = re.search(r"/invitation/[\w-]+/", mail.outbox[0].body).group()
    assert visitor.get(link).status_code == 200


def test_who_said_no_is_not_asked_again():
    cast = draft_panel()
    made = invite(
        panel=cast.panel, email="j@example.org", role="judge", language="ca", actor="", at=NOW
    ).invitation
    invitations.decline(invitation=made, at=NOW)
    page = as_(cast.coordinator).post(at(cast, "resend", made.pk), follow=True)
    assert "was promised not to be asked again" in text_of(page)
    assert not mail.outbox


def test_mail_is_shown_in_three_languages_before_anything_is_sent():
    cast = draft_panel()
    page = as_(cast.coordinator).get(at(cast, "preview_mail")).content.decode()
    for words in ("Us convidem", "Le invitamos", "We invite you"):
        assert words in page
    assert not mail.outbox and not Invitation.objects.exists()


def test_consent_has_the_panels_own_text_and_its_version():
    cast = draft_panel(consent_text="Approved by the committee, ref. 12/2026.")
    freeze_panel(panel=cast.panel, actor="", at=NOW)
    open_panel(panel=cast.panel, actor="", at=NOW)
    judge = join(cast, "j@panel.test")
    page = as_(judge).get(reverse("consent", args=[cast.panel.slug]))
    assert "ref. 12/2026" in text_of(page)
    seat = judge.judges.get()
    judging.consent(judge=seat, language="en", conflicts="", exposure="no", at=NOW)
    version = Consent.objects.get(judge=seat).version
    assert version.startswith("1+") and len(version) == 14
    assert draft_version() == "1"


def draft_version() -> str:
    return judging.consent_version(draft_panel(slug="other").panel)


# overview


def test_checklist_leads_to_what_is_missing():
    cast = draft_panel()
    write_protocol(panel=cast.panel, changes={"policy": None}, actor="", at=NOW)
    page = as_(cast.coordinator).get(at(cast, "overview")).content.decode()
    rows = dict(re.findall(r'data-state="(\w+)">[^<]*</span> <a href="[^"]*">([^<]+)', page))
    states = re.findall(r'data-state="(\w+)"', page)
    assert states == ["done", "done", "done", "missing", "optional", "optional"]
    assert rows["missing"] == "Protocol"
    assert at(cast, "protocol") in page and "0 / 3" in page


def test_defaults_cover_every_declaration():
    assert set(DECLARATIONS) <= set(DEFAULTS)


def test_the_registration_is_a_pdf_where_the_extra_is_installed(monkeypatch):
    """Without it (as in CI) the words are tried all the same, with a stand-in for the library."""
    cast = open_cast(judges=1)
    client, address = as_(cast.coordinator), at(cast, "registration_pdf")
    if pdf.is_available():
        assert client.get(address).content.startswith(b"%PDF-")
        with pytest.raises(ValueError, match="is not fetched"):
            pdf._refuse("http://example.org/")
    given = []
    monkeypatch.setattr(pdf, "is_available", lambda: True)
    monkeypatch.setattr(pdf, "pdf_of", lambda html: given.append(html) or b"%PDF-")
    reply = client.get(address)
    assert (reply["Content-Type"], reply.content) == ("application/pdf", b"%PDF-")
    assert cast.panel.freeze.sha256 in given[0]
    assert f'href="{address}"' in client.get(at(cast, "registration")).content.decode()
    monkeypatch.setattr(pdf, "is_available", lambda: False)
    assert client.get(address).status_code == 404
    assert "PDF</a>" not in client.get(at(cast, "registration")).content.decode()
