"""The rubric editor: versions, criteria and levels by plain forms; what is sealed stays as it is."""

import json
import re

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from dilemmas.models import Criterion, Level, LevelText, Provenance, Rubric, RubricVersion
from dilemmas.services import provenance
from dilemmas.services.importing import import_rubric
from dilemmas.services.rubric_documents import check, document_of, missing, moved, with_criterion
from dilemmas.services.rubric_editing import (
    ChangedMeanwhile,
    RubricRefused,
    create_rubric,
    new_version,
    save_rubric,
)
from ratings.forms.rubrics import KINDS, SCOPES
from ratings.models import Panel
from ratings.services.errors import Refused
from ratings.services.freezing import freeze_panel, manifest_parts, obstacles
from ratings.services.panels import choose_rubric
from ratings.services.serving import rubric_item
from tests.cast import CRITERIA, NOW, draft_panel, make_rubric, open_cast, rubric_document
from tests.integration.test_blinding import as_, text_of

pytestmark = pytest.mark.django_db


def fields_of(html: str) -> dict[str, str | list[str]]:
    """Return what a browser would post of the page's largest form, without its buttons."""
    form = max(re.findall(r"<form method=\"post\".*?</form>", html, flags=re.S), key=len)
    found: dict[str, str | list[str]] = {}
    for tag in re.findall(r"<input[^>]*>", form):
        named = re.search(r'name="([^"]+)"', tag)
        if named is None or ('type="checkbox"' in tag and " checked" not in tag):
            continue
        value = re.search(r'value="([^"]*)"', tag)
        if value and 'type="checkbox"' in tag:
            found[named[1]] = [*found.get(named[1], []), value[1]]
        else:
            found[named[1]] = value[1] if value else "on" if "checkbox" in tag else ""
    for name, text in re.findall(
        r'<textarea[^>]*name="([^"]+)"[^>]*>\n?(.*?)</textarea>', form, flags=re.S
    ):
        found[name] = text
    for name, options in re.findall(
        r'<select[^>]*name="([^"]+)"[^>]*>(.*?)</select>', form, flags=re.S
    ):
        chosen = re.search(r'value="([^"]*)" selected', options)
        found[name] = chosen[1] if chosen else ""
    return found


def edit(client: Client, path: str, action: str = "save", **changes):
    """Open a page, change some of its fields, and press a button."""
    names = {name.replace("__", "-"): value for name, value in changes.items()}
    fields = fields_of(client.get(path).content.decode()) | names
    fields = {name: value for name, value in fields.items() if value is not None}
    return client.post(path, fields | {"action": action})


@pytest.fixture
def cast():
    return draft_panel()


def version_path(cast) -> str:
    return f"/coordinate/rubrics/{cast.panel.rubric_version_id}/"


# documents


def test_a_version_read_and_written_again_is_the_same():
    version = make_rubric(boundary={"lower": 2, "upper": 3})
    document = document_of(version)
    assert document["languages"] == ["ca", "en"]
    before = [dict(row) for row in LevelText.objects.values("language", "short", "full")]
    save_rubric(
        version=version, document=document, base_sha256=version.content_sha256, actor="", at=NOW
    )
    version.refresh_from_db()
    assert document_of(version) == document
    assert [dict(row) for row in LevelText.objects.values("language", "short", "full")] == before
    assert document["criteria"][0]["boundary"]["lower"] == 2


def test_check_names_criterion_level_language_and_remedy():
    document = document_of(make_rubric())
    item = document["criteria"][1]
    item["levels"][2]["short"]["ca"] = "x" * 61
    item["levels"][3]["value"] = 1.0
    item["boundary"] |= {"lower": 0.0, "upper": 2.0}
    item["applicability"] = {"stages": [0]}
    document["criteria"][2]["key"] = "a b"
    document["criteria"][3]["key"] = "opposition"
    said = [str(problem) for problem in check(document)]
    assert (
        "Criterion «synthesis», level 2, Català: The short text has 61 characters. Keep it to 60."
        in said
    )
    assert "Criterion «synthesis», level 1: Another level has this value. Give each one of its own." in said  # fmt: skip
    for start in (
        "Criterion «synthesis»: The boundary is not between",
        "Criterion «synthesis»: Stages are whole numbers",
        "Criterion «a b»: The key has letters",
        "Criterion «opposition»: Another criterion has this key.",
    ):
        assert any(sentence.startswith(start) for sentence in said), (start, said)


def test_missing_texts_are_named_in_each_language():
    document = document_of(make_rubric())
    said = [str(problem) for problem in missing(document)]
    assert (
        "Criterion «opposition», level 0, Català: There is no short text. "
        "Write it: it stands beside the button." in said
    )
    assert not [sentence for sentence in said if "English" in sentence]
    assert [str(one) for one in missing(document | {"criteria": []})] == [
        "There is no criterion yet. Add one."
    ]


def test_criteria_move_and_stay_at_the_ends():
    document = document_of(make_rubric())

    def keys(changed):
        return [item["key"] for item in changed["criteria"]]

    assert keys(moved(document, 0, 1))[:2] == ["synthesis", "opposition"]
    assert keys(moved(document, 0, -1)) == keys(moved(document, 3, 1)) == list(CRITERIA)
    more = with_criterion(document, key="new", name="New", lowest=0, highest=4)
    assert [level["value"] for level in more["criteria"][4]["levels"]] == [0, 1, 2, 3, 4]


def test_every_kind_and_scope_has_words():
    assert set(KINDS) == set(Criterion.Kind.values)
    assert set(SCOPES) == set(Criterion.Scope.values)


# services


def test_saving_is_refused_on_an_older_content_and_on_a_sealed_version(cast):
    version = cast.panel.rubric_version
    document = document_of(version) | {"version_label": "mine"}
    save = {"version": version, "actor": "me", "at": NOW}
    first = save_rubric(document=document, base_sha256=version.content_sha256, **save)
    with pytest.raises(ChangedMeanwhile):
        save_rubric(document=document, base_sha256=version.content_sha256, **save)
    freeze_panel(panel=cast.panel, actor="", at=NOW)
    with pytest.raises(RubricRefused, match="sealed"):
        save_rubric(document=document, base_sha256=first.content_sha256, **save)
    made = new_version(version=version, actor="me", at=NOW)
    assert (made.number, made.sealed_at) == (2, None)
    assert document_of(made) == document_of(version) | {"version_label": ""}


def test_every_save_leaves_its_hashes_in_the_chain(cast):
    version = cast.panel.rubric_version
    before = version.content_sha256
    saved = save_rubric(
        version=version, document=document_of(version) | {"version_label": "b"},
        base_sha256=before, actor="me", at=NOW,
    )  # fmt: skip
    last = Provenance.objects.order_by("-number").first()
    assert (last.kind, last.actor) == ("rubric_edited", "me")
    assert json.loads(last.payload)["before"] == before
    assert json.loads(last.payload)["sha256"] == saved.content_sha256 != before
    assert provenance.broken_at() is None


def test_nothing_is_written_if_something_cannot_be(cast):
    version = cast.panel.rubric_version
    document = document_of(version)
    document["criteria"][0]["levels"][0]["short"]["en"] = "x" * 61
    with pytest.raises(RubricRefused) as refused:
        save_rubric(
            version=version, document=document, base_sha256=version.content_sha256, actor="",
            at=NOW,
        )  # fmt: skip
    assert refused.value.problems[0].language == "en"
    assert Level.objects.filter(criterion__version=version).count() == 16


def test_what_the_judge_reads_follows_each_save(cast):
    version = cast.panel.rubric_version
    assert rubric_item(version, language="en").criteria[0].question == "Is there opposition?"
    document = document_of(version)
    document["criteria"][0]["question"]["en"] = "Are there two?"
    document["criteria"][0]["applicability"] = {"text": {"en": "Where two disagree."}}
    saved = save_rubric(
        version=version, document=document, base_sha256=version.content_sha256, actor="", at=NOW
    )
    shown = rubric_item(saved, language="en").criteria[0]
    assert (shown.question, shown.applies) == ("Are there two?", "Where two disagree.")


def test_an_imported_rubric_keeps_its_applicability():
    document = rubric_document(code="masked")
    document["criteria"][0]["applicability"] = {"stages": [2], "text": {"en": "Later."}}
    content = json.dumps(document).encode()
    version, _new = import_rubric(content=content, name="r.json", actor="", at=NOW)
    assert document_of(version)["criteria"][0]["applicability"]["stages"] == [2]


# pages


def test_a_rubric_is_made_from_nothing_with_plain_forms(cast):
    client = as_(cast.coordinator)
    data = {"code": "Fresh", "title": "Frescor", "languages": ["ca", "en"]}
    made = client.post("/coordinate/rubrics/", data)
    assert made.status_code == 302
    version = RubricVersion.objects.get(rubric__code="fresh")
    assert version.rubric.author == cast.coordinator
    added = edit(client, made.url, "add", name="Claredat", key="", lowest="0", highest="2")
    assert added.url == f"{made.url}criteria/1/"
    more = edit(client, added.url, "more", name__en="Clarity", level__2__short__ca="Clar.")
    html = more.content.decode()
    assert more.status_code == 200 and "Nothing is saved yet" in text_of(more)
    assert 'name="level-3-value"' in html and 'value="Clarity"' in html
    assert Level.objects.filter(criterion__version=version).count() == 3
    fields = fields_of(html) | {"level-3-value": "2,5", "level-3-short-en": "Very clear."}
    fields |= {"level-0-remove": "on", "between": "2 2.5", "boundary-en": "Look twice.",
               "stages": "2, 1", "applies-en": "Always.", "action": "save"}  # fmt: skip
    assert client.post(added.url, fields).url == added.url
    item = document_of(version)["criteria"][0]
    assert item["key"] == "claredat"
    assert item["name"] == {"ca": "Claredat", "en": "Clarity"}
    assert [level["value"] for level in item["levels"]] == [1, 2, 2.5]
    assert item["levels"][1]["short"]["ca"] == "Clar."
    assert item["boundary"] == {
        "lower": 2, "upper": 2.5, "text": {"ca": "", "en": "Look twice."},
    }  # fmt: skip
    assert item["applicability"] == {"stages": [1, 2], "text": {"en": "Always."}}
    page = text_of(client.get(added.url))
    assert "Criterion «claredat», level 1, English: There is no full text." in page


def test_errors_name_criterion_level_and_language_beside_the_field(cast):
    client, path = as_(cast.coordinator), version_path(cast) + "criteria/2/"
    page = edit(client, path, level__2__short__en="x" * 61, level__3__value="many")
    assert page.status_code == 422
    html = page.content.decode()
    sentence = "Criterion «synthesis», level 2, English: The short text has 61 characters. Keep it to 60."  # fmt: skip
    assert f'<a href="#id_level-2-short-en">{sentence}</a>' in html
    assert f'id="id_level-2-short-en_error">{sentence}' in html
    field = re.search(r'<input[^>]*name="level-2-short-en"[^>]*>', html)[0]
    assert 'aria-describedby="id_level-2-short-en_error"' in field and "aria-invalid" in field
    assert "Criterion «synthesis», level many: The level&#x27;s value is not a number." in html
    assert "x" * 61 in html, "what was typed is still there"
    assert LevelText.objects.filter(short="synthesis 2").count() == 1


def test_problems_after_a_removed_level_stand_beside_the_right_one(cast):
    client, path = as_(cast.coordinator), version_path(cast) + "criteria/1/"
    page = edit(client, path, level__0__remove="on", level__2__short__en="y" * 61)
    assert 'id="id_level-2-short-en_error"' in page.content.decode()


def test_a_boundary_between_levels_that_are_gone_is_asked_about():
    cast = draft_panel(boundary={"lower": 2, "upper": 3})
    client, path = as_(cast.coordinator), version_path(cast) + "criteria/1/"
    page = edit(client, path, level__3__remove="on")
    assert page.status_code == 422
    assert "These are no longer two neighbouring levels." in text_of(page)
    assert edit(client, path, level__3__remove="on", between="").status_code == 302


def test_criteria_are_moved_and_removed_by_buttons(cast):
    client, path = as_(cast.coordinator), version_path(cast)
    version = cast.panel.rubric_version
    assert edit(client, path, "down:1").url == path + "#criteria"
    assert [item["key"] for item in document_of(version)["criteria"]][:2] == [
        "synthesis", "opposition",
    ]  # fmt: skip
    assert edit(client, path + "criteria/2/", "remove").url == path + "#criteria"
    assert [item["key"] for item in document_of(version)["criteria"]] == [
        "synthesis", "anchoring", "coherence",
    ]  # fmt: skip
    assert client.get(path + "criteria/4/").status_code == 404
    for nonsense in ("up:x", "down:99", "up:", "other"):
        assert edit(client, path, nonsense).status_code in (302, 422), nonsense


def test_a_key_that_stands_twice_is_refused(cast):
    client, path = as_(cast.coordinator), version_path(cast)
    page = edit(client, path, "add", name="Opposition", key="opposition", lowest="0", highest="3")
    assert page.status_code == 422
    assert "Criterion «opposition»: Another criterion has this key." in text_of(page)


def test_languages_come_and_go_but_not_with_their_texts(cast):
    client, path = as_(cast.coordinator), version_path(cast)
    version = cast.panel.rubric_version
    fields = fields_of(client.get(path).content.decode())
    client.post(path, fields | {"languages": ["ca", "en", "es"], "action": "save"})
    assert document_of(version)["languages"] == ["ca", "es", "en"]
    fields = fields_of(client.get(path).content.decode())
    kept = client.post(path, fields | {"languages": ["ca", "es"], "action": "save"})
    assert kept.status_code == 422
    assert re.search(r"English still has texts \(\d+\). Empty them first", text_of(kept))
    without = client.post(path, fields | {"languages": ["ca", "en"], "action": "save"})
    assert without.status_code == 302
    assert document_of(version)["languages"] == ["ca", "en"]


def test_two_windows_do_not_overwrite_each_other_unasked(cast):
    client, path = as_(cast.coordinator), version_path(cast) + "criteria/1/"
    old = fields_of(client.get(path).content.decode())
    edit(client, path, question__en="Theirs?")
    page = client.post(path, old | {"question-en": "Mine?", "action": "save"})
    assert page.status_code == 422 and "changed meanwhile" in text_of(page)
    again = fields_of(page.content.decode())
    assert again["question-en"] == "Mine?"
    assert client.post(path, again | {"action": "save"}).status_code == 302
    assert document_of(cast.panel.rubric_version)["criteria"][0]["question"]["en"] == "Mine?"


# sealed, and of others


def test_no_form_changes_a_sealed_version():
    cast = open_cast(judges=0)
    client, path = as_(cast.coordinator), version_path(cast)
    version = cast.panel.rubric_version
    before, sha = document_of(version), version.content_sha256
    pages = {
        path: ("save", "add", "up:2", "down:1", ""),
        path + "criteria/1/": ("save", "more", "remove", ""),
    }
    for page, actions in pages.items():
        for action in actions:
            answer = client.post(page, {"action": action, "base": sha, "levels": "4"})
            assert answer.status_code == 422, (page, action)
            assert "A change of what a criterion or a level means is refused" in text_of(answer)
        assert "Clarify to all judges" in text_of(client.get(page))
        assert "disabled" in client.get(page).content.decode()
    assert document_of(version) == before
    with pytest.raises(IntegrityError), transaction.atomic():
        RubricVersion.objects.filter(pk=version.pk).update(label="x")
    with pytest.raises(IntegrityError), transaction.atomic():
        Criterion.objects.filter(version=version).update(applicability={"stages": [1]})
    made = client.post(path, {"action": "version"})
    assert made.status_code == 302 and made.url != path
    assert edit(client, made.url, version_label="second").status_code == 302


def test_a_version_of_another_panel_is_not_changed_under_it(cast):
    other = draft_panel(slug="other")
    choose_rubric(panel=other.panel, rubric_version=cast.panel.rubric_version, actor="", at=NOW)
    for person in (cast.coordinator, other.coordinator, cast.owner):
        answer = edit(as_(person), version_path(cast), version_label="x")
        assert answer.status_code == 422
        assert "A panel that you do not coordinate uses this version" in text_of(answer)
    assert document_of(cast.panel.rubric_version)["version_label"] == ""


def test_a_panel_takes_another_version_until_it_is_frozen(cast):
    client, path = as_(cast.coordinator), "/coordinate/panel/rubric/"
    made = new_version(version=cast.panel.rubric_version, actor="", at=NOW)
    foreign = draft_panel(slug="other").panel.rubric_version
    assert client.post(path, {"rubric_version": foreign.pk}).status_code == 422
    assert client.post(path, {"rubric_version": made.pk}).url == path
    panel = Panel.objects.get(slug="panel")
    assert panel.rubric_version == made
    assert panel.events.order_by("-number").first().kind == "rubric_chosen"
    freeze_panel(panel=panel, actor="", at=NOW)
    page = client.post(path, {"rubric_version": cast.panel.rubric_version_id})
    assert page.status_code == 422
    assert "A change of what a criterion or a level means is refused" in text_of(page)
    with pytest.raises(Refused):
        choose_rubric(panel=panel, rubric_version=made, actor="", at=NOW)


def test_freeze_waits_for_criteria_that_can_be_shown(cast):
    rubric = create_rubric(
        code="bare", title="Bare", languages=["en"], author=cast.coordinator, at=NOW
    )
    panel = choose_rubric(panel=cast.panel, rubric_version=rubric, actor="", at=NOW)
    assert "rubric_incomplete" in {one.code for one in obstacles(panel)}
    page = as_(cast.coordinator).get("/coordinate/panel/").content.decode()
    assert 'href="/coordinate/panel/rubric/">Go there' in page
    document = rubric_document(criteria=("one",)) | {"version_label": "", "provenance": ""}
    document["criteria"][0]["boundary"] = {"text": {}}
    document["criteria"][0]["applicability"] = {"stages": [2]}
    for level in document["criteria"][0]["levels"]:
        level["value"] = float(level["value"])
    save_rubric(
        version=rubric, document=document, base_sha256=rubric.content_sha256, actor="", at=NOW
    )
    assert {one.code for one in obstacles(panel)} == {"criteria_not_shown"}


def test_applicability_is_in_the_frozen_hash(cast):
    before = manifest_parts(cast.panel, salt="x")["rubric"]
    version = cast.panel.rubric_version
    document = document_of(version)
    document["criteria"][0]["applicability"] = {"text": {"en": "If two disagree."}}
    save_rubric(
        version=version, document=document, base_sha256=version.content_sha256, actor="", at=NOW
    )
    assert manifest_parts(cast.panel, salt="x")["rubric"] != before


def test_preview_has_the_parts_of_the_judges_page_in_each_language(cast):
    client, path = as_(cast.coordinator), version_path(cast) + "preview/"
    page = client.get(path + "?language=en")
    html = page.content.decode()
    assert html.count('<fieldset class="criterion"') == 4
    assert "Length earns nothing." in html
    assert "A small rubric" in html
    assert "Una rúbrica petita" in client.get(path + "?language=ca").content.decode()
    assert client.get(path + "?language=zz").status_code == 200
    assert html.count('name="language" value="') == 3, "the page's own languages are all there"


def test_a_judge_reads_when_a_criterion_applies():
    document = rubric_document(code="panel")
    for item in document["criteria"]:
        item["applicability"] = {"text": {"en": "Only if two disagree."}}
    import_rubric(content=json.dumps(document).encode(), name="r.json", actor="", at=NOW)
    cast = draft_panel(slug="other")
    panel = choose_rubric(
        panel=cast.panel, rubric_version=RubricVersion.objects.get(rubric__code="panel"),
        actor="", at=NOW,
    )  # fmt: skip
    assert obstacles(panel) == []
    page = as_(cast.coordinator).get(f"/coordinate/rubrics/{panel.rubric_version_id}/preview/")
    assert page.content.decode().count("Only if two disagree.") == 4


def test_the_panels_page_names_what_its_judges_would_miss(cast):
    client, path = as_(cast.coordinator), "/coordinate/panel/rubric/"
    assert "still missing" not in text_of(client.get(path)), "Catalan is not this panel's"
    edit(client, version_path(cast) + "criteria/1/", question__en="")
    page = text_of(client.get(path))
    assert "Criterion «opposition», English: It has no question. Write it." in page


def test_codes_are_taken_once(cast):
    client = as_(cast.coordinator)
    data = {"code": "panel", "title": "T", "languages": ["en"]}
    taken = client.post("/coordinate/rubrics/", data)
    assert taken.status_code == 422 and "another rubric with this code" in text_of(taken)
    study = client.post("/coordinate/rubrics/", data | {"code": "study-x"})
    assert study.status_code == 422
    like = cast.panel.rubric_version_id
    assert client.post("/coordinate/rubrics/", data | {"code": "copy", "like": like}).url
    copy = Rubric.objects.get(code="copy").versions.get()
    assert len(document_of(copy)["criteria"]) == 4


def test_pages_are_bounded_in_queries(cast, django_assert_max_num_queries):
    client = as_(cast.coordinator)
    for path, most in (
        ("/coordinate/rubrics/", 9), (version_path(cast), 13),
        (version_path(cast) + "criteria/1/", 13), (version_path(cast) + "preview/", 16),
        ("/coordinate/panel/rubric/", 16),
    ):  # fmt: skip
        with django_assert_max_num_queries(most):
            assert client.get(path).status_code == 200
