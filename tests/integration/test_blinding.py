"""Blinding from import to report: what is held, what a person decides, what judges see, what tells."""

import json
import re

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client

from dilemmas import blinding
from dilemmas.models import BlindedPart, Blinding
from dilemmas.services.blinding import BlindingRefused, StillTells, decide_blinding
from dilemmas.services.responses import import_responses
from ratings.models import Panel, Slot
from ratings.reports.blinding import document_of, still_tells
from ratings.reports.render import view_of
from ratings.services import judging
from ratings.services.freezing import freeze_panel
from ratings.services.panels import open_panel
from ratings.services.protocols import DEFAULTS, write_protocol
from ratings.services.reporting import compute_report
from tests.cast import CONDITIONS, NOW, closed_cast, draft_panel, join, table

pytestmark = pytest.mark.django_db
CODED = "**FEN — Phenomenon.** It rains.\n\nThe figure (OBJ) says so, and MON contexts agree."


def as_(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def text_of(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def reimport(cast, text: str, *, condition: str = CONDITIONS[0], language: str = "en", **more):
    row = {"dilemma": "HND-001", "condition": condition, "text": text, "language": language} | more
    import_responses(
        content=table([row]), name="responses.csv", set_name=cast.panel.slug, at=NOW, update=True
    )


def newest(cast, condition: str = CONDITIONS[0]) -> Blinding:
    return Blinding.objects.newest_in(cast.panel.response_set).get(
        version__response__condition__label=condition,
        version__response__dilemma__code="HND-001",
        version__response__replicate=1,
    )


# what is held


@pytest.mark.parametrize("language", ["en", ""])
def test_a_coded_text_is_held_with_a_proposal_in_its_language(language):
    cast = draft_panel()
    reimport(cast, CODED, language=language)
    row = newest(cast)
    assert row.state == "held"
    assert row.parts.get().text == (
        "**Phenomenon.** It rains.\n\nThe figure says so, and MON contexts agree."
    )
    assert row.version.parts.get().raw == CODED
    assert [(f["kind"], f["suggestion"]) for f in row.findings] == [
        ("header", "Phenomenon."), ("code", ""), ("code", None),
    ]  # fmt: skip


def test_a_label_that_comes_later_holds_texts_that_name_it():
    cast = draft_panel()
    reimport(cast, "Nothing here tells the GREEN-TEA way.")
    reimport(cast, "Nor here.", condition=CONDITIONS[1])
    assert {newest(cast, one).state for one in CONDITIONS[:2]} == {"clean"}
    reimport(cast, "Another.", condition="GREEN-TEA")
    named = newest(cast)
    assert (named.state, named.findings[0]["kind"]) == ("held", "condition")
    assert named.parts.get().text == "Nothing here tells the GREEN-TEA way."
    assert newest(cast, CONDITIONS[1]).state == "clean"


# what a person decides


def test_an_edit_that_still_tells_is_asked_about_once():
    cast = draft_panel()
    reimport(cast, CODED)
    row = newest(cast)
    client, path = as_(cast.coordinator), f"/coordinate/panel/blinding/{row.pk}/"
    page = client.get(path)
    assert "left for you to rewrite: «MON»: code of the scaffold" in text_of(page)
    assert '<mark class="by-hand">MON' in page.content.decode()
    sent = {"decision": "edit", "text-1": "It rains, says TEO."}
    asked = client.post(path, sent)
    assert asked.status_code == 422
    assert "Nothing has been saved yet. «TEO»: code of the scaffold" in text_of(asked)
    assert "It rains, says TEO.</textarea>" in asked.content.decode()
    assert newest(cast).state == "held"
    knowing = re.search(r'name="(knowing)" value="(1)"', asked.content.decode())
    assert client.post(path, sent | {knowing[1]: knowing[2]}).status_code == 302
    assert (newest(cast).state, newest(cast).parts.get().text) == ("edited", "It rains, says TEO.")


def test_an_edit_that_tells_nothing_is_taken_at_once():
    cast = draft_panel()
    reimport(cast, CODED)
    path = f"/coordinate/panel/blinding/{newest(cast).pk}/"
    sent = {"decision": "edit", "text-1": "It rains, and the figure says so."}
    assert as_(cast.coordinator).post(path, sent).status_code == 302
    assert newest(cast).state == "edited"


def test_decisions_that_are_refused():
    cast = draft_panel()
    reimport(cast, CODED)
    row = newest(cast)
    decide = {"blinding_": row, "actor": "", "at": NOW}
    with pytest.raises(BlindingRefused, match="The text is empty"):
        decide_blinding(texts={1: " \n"}, **decide)
    with pytest.raises(BlindingRefused, match="The text is empty"):
        decide_blinding(texts={}, **decide)
    with pytest.raises(StillTells) as told:
        decide_blinding(texts={1: "Under condition OKAPI, ChatGPT."}, knowing=False, **decide)
    assert [f.kind for _part, f in told.value.findings] == ["condition", "model"]
    decide_blinding(texts={1: "It rains."}, **decide)
    freeze_panel(panel=cast.panel, actor="", at=NOW)
    with pytest.raises(BlindingRefused, match="frozen"):
        decide_blinding(texts={1: "Other."}, **decide)


def test_the_list_says_how_much_is_left_to_a_person():
    cast = draft_panel()
    reimport(cast, CODED)
    html = as_(cast.coordinator).get("/coordinate/panel/blinding/").content.decode()
    html = html[html.index("<tbody>") :]
    row = html[: html.index("waits for a decision")]
    assert re.findall(r'<td class="number">(\d+)</td>', row) == ["3", "1"]


def test_the_demonstration_is_blinded_without_a_hole():
    call_command("load_demo", verbosity=0)
    panels = Panel.objects.filter(is_demo=True).select_related("response_set")
    assert {panel.content_language for panel in panels} >= {"ca", "en"}
    for panel in panels:
        labels = list(panel.response_set.conditions.values_list("label", flat=True))
        newest_ones = Blinding.objects.newest_in(panel.response_set)
        texts = BlindedPart.objects.filter(blinding__in=newest_ones).values_list("text", flat=True)
        assert len(texts) >= 10
        for text in texts:
            found = blinding.find(text, condition_labels=labels, language=panel.content_language)
            assert found == []
            assert "[…]" not in text


# how responses are shown


MARKED = "## Head\n\n- one **word**\n- [link](http://x.test) <i>raw</i>"


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        (
            "shown",
            "<h4>Head</h4> <ul> <li>one <strong>word</strong></li> "
            "<li>[link](http://x.test) &lt;i&gt;raw&lt;/i&gt;</li> </ul>",
        ),
        (
            "flattened",
            '<p dir="auto">Head</p> <p dir="auto">one word</p> '
            '<p dir="auto">[link](http://x.test) &lt;i&gt;raw&lt;/i&gt;</p>',
        ),
    ],
)
def test_responses_are_shown_as_the_protocol_says(markdown, shown):
    cast = draft_panel(markdown=markdown)
    for condition in CONDITIONS:
        reimport(cast, MARKED, condition=condition)
    freeze_panel(panel=cast.panel, actor="", at=NOW)

    open_panel(panel=Panel.objects.get(pk=cast.panel.pk), actor="", at=NOW)
    judge = join(cast, "judge@panel.test")
    cast.judges.append(judge)
    judging.consent(judge=cast.seat(0), language="en", conflicts="", exposure="no", at=NOW)
    slots = Slot.objects.filter(judge=cast.seat(0), response__dilemma__code="HND-001")
    assert slots.count() == len(CONDITIONS)
    for slot in slots:
        html = as_(judge).get(f"/judge/batch/{slot.batch.code}/{slot.position}/").content.decode()
        response = html[html.index('id="response-title"') : html.index("</section>")]
        assert shown in " ".join(response.split()), response


def test_how_responses_are_shown_is_frozen_with_the_protocol():
    hashes = {}
    for markdown in ("shown", "flattened"):
        cast = draft_panel(slug=markdown, markdown=markdown)
        freeze = freeze_panel(panel=cast.panel, actor="", at=NOW)
        assert cast.panel.protocol.document["markdown"] == markdown
        hashes[markdown] = json.loads(freeze.manifest)["protocol"]
    assert hashes["shown"] != hashes["flattened"]


def test_protocol_page_asks_how_responses_are_shown():
    cast = draft_panel()
    client = as_(cast.coordinator)
    html = client.get("/coordinate/panel/protocol/").content.decode()
    assert re.search(r'name="markdown" value="shown" checked', html)
    data = {"policy": "literal", "rationales": "none", "judges_planned": 3, "batch_size": 10}
    assert client.post("/coordinate/panel/protocol/", data | {"markdown": "x"}).status_code == 422
    assert client.post("/coordinate/panel/protocol/", data | {"markdown": "flattened"}).url
    assert Panel.objects.get(slug="panel").protocol.document["markdown"] == "flattened"
    assert "flattened to plain paragraphs" in text_of(client.get("/coordinate/panel/freeze/"))


def test_a_protocol_from_before_the_choice_shows_markdown():
    cast = draft_panel()
    protocol = cast.panel.protocol
    del protocol.document["markdown"]
    protocol.save()
    client = as_(cast.coordinator)
    html = client.get("/coordinate/panel/protocol/").content.decode()
    assert re.search(r'name="markdown" value="shown" checked', html)
    assert client.get("/coordinate/panel/freeze/").status_code == 200
    written = write_protocol(panel=cast.panel, changes={"batch_size": 5}, actor="", at=NOW)
    assert written.document["markdown"] == DEFAULTS["markdown"] == "shown"


# what still tells


LONG = "Words about it. " * 60
HEADED = "\n\n".join(f"## Head {n}\n\n- **word**" for n in range(9))


def rewrite(cast, condition: str, text: str) -> None:
    """Give one condition's responses another text, so that its length or layout tells."""
    rows = [
        {"dilemma": f"HND-{n:03}", "condition": condition, "language": "en",
         "text": text}
        for n in range(1, 7)
    ]  # fmt: skip
    import_responses(
        content=table(rows), name="r.csv", set_name=cast.panel.slug, at=NOW, update=True
    )


def test_blinding_page_says_what_still_tells():
    cast = draft_panel(dilemmas=6)
    rewrite(cast, "OKAPI", LONG)
    client = as_(cast.coordinator)
    page = client.get("/coordinate/panel/blinding/")
    text = text_of(page)
    measured = still_tells(cast.panel, Blinding.objects.newest_in(cast.panel.response_set))
    assert measured["guesses"]["layout"]["by_condition"]["OKAPI"] == 1.0
    assert (measured["n_texts"], measured["n_clusters"], measured["chance"]) == (30, 6, 0.2)
    right = measured["guesses"]["both"]["right"]
    assert f"guessed the condition of {right:.0f} of 30 texts" in text
    assert "By chance it would be 0.20." in text
    assert "as they were written, with headings" in text


def test_a_few_dilemmas_are_not_measured():
    cast = draft_panel(dilemmas=2)
    page = text_of(as_(cast.coordinator).get("/coordinate/panel/blinding/"))
    assert "Not measured: it takes five dilemmas or more." in page


def test_what_still_tells_is_measured_anew_when_a_text_or_the_display_changes():
    cast = draft_panel(dilemmas=6)
    client, path = as_(cast.coordinator), "/coordinate/panel/blinding/"
    before = client.get(path)
    assert client.get(path).content.decode().count("telling") == before.content.decode().count(
        "telling"
    )
    rewrite(cast, "OKAPI", LONG)
    after = text_of(client.get(path))
    assert text_of(before) != after
    rewrite(cast, "TAPIR", HEADED)
    shown = still_tells(cast.panel, Blinding.objects.newest_in(cast.panel.response_set))
    write_protocol(panel=cast.panel, changes={"markdown": "flattened"}, actor="", at=NOW)
    panel = Panel.objects.get(slug="panel")
    flattened = still_tells(panel, Blinding.objects.newest_in(panel.response_set))
    assert shown["medians"]["TAPIR"]["headings"] == 9
    assert flattened["medians"]["TAPIR"]["headings"] == 0
    assert "flattened to plain paragraphs" in text_of(client.get(path))
    cache.clear()
    assert client.get(path).status_code == 200


def test_a_large_set_is_measured_on_whole_dilemmas():
    cast = draft_panel(dilemmas=12)
    blindings = Blinding.objects.newest_in(cast.panel.response_set)
    found = still_tells(cast.panel, blindings, at_most=31)
    assert (found["n_texts"], found["n_clusters"], found["n_responses"]) == (30, 6, 60)
    assert found == still_tells(cast.panel, blindings, at_most=31)


def test_report_keeps_what_became_of_blinding():
    cast = closed_cast(lambda *_: 1, dilemmas=6, slug="plain", judges=2)
    report = compute_report(panel=cast.panel, at=NOW)
    document = json.loads(report.document)
    part = document["blinding"]
    assert part["markdown"] == "shown"
    assert part["decided"] == {"clean": 30}
    assert (part["found"], part["left"]) == ({}, {"responses": 0})
    assert part["still_tells"]["n_texts"] == 30
    assert part["still_tells"]["method"] == "naive-bayes-1"
    page = text_of(as_(cast.coordinator).get("/report/plain/"))
    assert "What still told the condition Texts in which nothing was found: 30; edited" in page


def test_report_counts_what_was_left_in_the_texts():
    cast = draft_panel(dilemmas=2)
    reimport(cast, CODED)
    decide_blinding(blinding_=newest(cast), texts={1: "It rains, says TEO."}, actor="", at=NOW)
    freeze_panel(panel=cast.panel, actor="", at=NOW)

    panel = Panel.objects.get(slug="panel")
    part = document_of(panel, by=panel.freeze.at)
    assert part["decided"] == {"clean": 9, "edited": 1}
    assert part["found"] == {"code": 2, "header": 1}
    assert part["left"] == {"code": 1, "responses": 1}
    assert part["still_tells"]["undefined"] == "too_few_dilemmas"


def test_report_without_the_part_is_still_shown():
    """Reports that were kept before have none."""
    cast = closed_cast(lambda *_: 1, slug="older", judges=2)
    document = json.loads(compute_report(panel=cast.panel, at=NOW).document)
    del document["blinding"]
    assert view_of(document)["telling"] is None
