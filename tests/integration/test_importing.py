"""Importing content: what files may look like, what is kept of them, what is refused and how."""

import hashlib
import io
import json
import re
import shlex
import time
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import translation

from dilemmas.looking import proposals
from dilemmas.models import (
    Blinding,
    Dilemma,
    DilemmaVersion,
    ModelJudgement,
    Provenance,
    Response,
    ResponsePart,
    ResponseVersion,
)
from dilemmas.services.importing import import_dilemmas, import_rubric
from dilemmas.services.reading import KNOWN, UNREADABLE, ImportRefused
from dilemmas.services.responses import import_judgements, import_responses
from ratings.services.freezing import rubric_document as rubric_document_of
from ratings.services.serving import rubric_item
from tests import workbooks
from tests.cast import CONDITIONS, NOW, closed_cast, open_cast, rubric_document, table

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]

# dilemmas: actors, costs, masks; one object a dilemma

NESTED = {
    "code": "AWB-001",
    "family": "personal",
    "required_axes": ["D3", "D1"],
    "required_components": ["self_reflection", "prosocial"],
    "title": {"ca": "La pregunta", "en": "The question"},
    "context": {"ca": "On és?", "en": "Where is she?"},
    "actors": {"ca": "Pare i filla", "en": "Father and daughter"},
    "costs": {"ca": "La veritat fa mal"},
}
FLAT = [
    {"code": "AWB-001", "family": "personal", "language": "ca", "title": "La pregunta",
     "context": "On és?", "actors": "Pare i filla", "costs": "La veritat fa mal",
     "required_axes": "d1; D3", "required_components": "prosocial self_reflection"},
    {"code": "AWB-001", "family": "", "language": "en", "title": "The question",
     "context": "Where is she?", "actors": "Father and daughter", "costs": "",
     "required_axes": "", "required_components": '["prosocial","self_reflection"]'},
]  # fmt: skip


def dilemmas(content, **options):
    if not isinstance(content, bytes):
        content = json.dumps(content, ensure_ascii=False).encode()
    options = {"name": "file", "collection": "c", "actor": "", "at": NOW} | options
    return import_dilemmas(content=content, **options)


def refused(act) -> ImportRefused:
    with pytest.raises(ImportRefused) as caught, translation.override("en"):
        act()
    assert all(problem.message for problem in caught.value.problems)
    return caught.value


def refusal(act) -> list[tuple[int, str]]:
    return [(problem.line, problem.column) for problem in refused(act).problems]


def test_one_object_a_dilemma_is_the_same_as_one_row_a_language():
    assert dilemmas([NESTED]).created == 1
    version = DilemmaVersion.objects.get()
    assert version.required_axes == ["D1", "D3"]
    assert version.required_components == ["prosocial", "self_reflection"]
    texts = {t.language: (t.title, t.context, t.actors, t.costs) for t in version.texts.all()}
    assert texts == {
        "ca": ("La pregunta", "On és?", "Pare i filla", "La veritat fa mal"),
        "en": ("The question", "Where is she?", "Father and daughter", ""),
    }
    for same in ([NESTED], table(FLAT), FLAT, "\n".join(map(json.dumps, FLAT)).encode()):
        assert dilemmas(same).unchanged == 1


def test_dilemma_without_new_columns_is_as_it_was():
    plain = [{"code": "X", "language": "en", "title": "T", "context": "C"}]
    dilemmas(plain)
    assert dilemmas([plain[0] | {"actors": "", "required_axes": []}]).unchanged == 1
    assert dilemmas([plain[0] | {"costs": "Much"}], update=True).changed == 1


@pytest.mark.parametrize(
    ("change", "column"),
    [
        ({"required_axes": ["D5"]}, "required_axes"),
        ({"required_axes": "[D1"}, "required_axes"),
        ({"required_components": "wisdom"}, "required_components"),
        ({"context": "not by language"}, "context"),
        ({"context": {"ca": ["a list"]}}, "context"),
        ({"title": {}, "context": {}, "actors": {}, "costs": {}}, "title"),
    ],
)
def test_what_a_dilemma_cannot_have_is_refused(change, column):
    other = NESTED | {"code": "AWB-002"}
    assert refusal(lambda: dilemmas([other, NESTED | change])) == [(2, column)]
    assert not Dilemma.objects.exists()


def test_rows_of_one_dilemma_must_not_contradict_each_other():
    rows = [FLAT[0], FLAT[1] | {"family": "collective", "required_axes": "D2"}]
    assert refusal(lambda: dilemmas(table(rows))) == [(3, "family"), (3, "required_axes")]


def test_examples_of_the_documentation_are_imported_as_it_says():
    page = (ROOT / "docs" / "import.md").read_text()
    lines = re.findall(r"^python manage.py (import_\w+) +docs/examples/(\S+)(.*)$", page, re.M)
    assert len({name for name, _file, _options in lines}) == 5
    lines.append(("import_dilemmas", "dilemmas.json", "--collection example"))
    for name, file, options in lines:
        for there in (False, True):
            out, path = io.StringIO(), str(ROOT / "docs" / "examples" / file)
            with translation.override("en"):
                call_command(name, path, *shlex.split(options), stdout=out)
            assert ("already" in out.getvalue()) == there, out.getvalue()
    assert Dilemma.objects.get(code="EX-003").versions.get().required_axes == ["D1", "D3"]


def test_one_dilemma_twice_names_both_lines():
    rows = [FLAT[0], FLAT[1], FLAT[0]]
    (problem,) = refused(lambda: dilemmas(table(rows))).problems
    assert (problem.line, problem.column) == (4, "code")
    assert "first on line 2" in problem.message


def test_dilemmas_that_ask_who_answers_are_pointed_out():
    rows = [
        {"code": "A", "language": "en", "context": "Which model are you, and would you lie?"},
        {"code": "B", "language": "ca", "context": "Sou una IA? Qui t'ha fet?"},
        {"code": "C", "language": "es", "context": "¿Quién dirá la verdad al padre?"},
    ]
    with translation.override("en"):
        notes = dilemmas(table(rows)).notes
    assert notes == ["Dilemmas that may ask a system who it is, and so invite it to say so: A, B."]


def test_thousands_of_dilemmas_cost_a_few_queries(django_assert_max_num_queries):
    rows = [{"code": f"X{n}", "language": "en", "context": f"C{n}"} for n in range(3_000)]
    for _there in range(2):
        with django_assert_max_num_queries(90):  # as many rows as SQLite takes at once
            dilemmas(table(rows))


# responses


def responses(rows, **options):
    content = rows if isinstance(rows, bytes) else table(rows)
    options = {"name": "file", "set_name": "s", "collection": "", "at": NOW} | options
    return import_responses(content=content, **options)


def row(number, **changes):
    return {
        "id": f"R{number}", "dilemma": "AWB-001", "condition": "plain", "text": f"Text {number}.",
        "generator": "g", "replicate": 1, "language": "en", "latency_s": 1.5, "cost": "",
        "cluster_id": "", "kind": "", "my id": f"x{number}",
    } | changes  # fmt: skip


@pytest.fixture
def _a_dilemma():
    dilemmas(FLAT)


@pytest.mark.usefixtures("_a_dilemma")
def test_other_columns_come_back_as_they_were():
    responses([row(1, **{"Score by model": "=5"}), row(2, **{"Score by model": " 4 "})])
    extra = list(ResponsePart.objects.order_by("pk").values_list("extra", flat=True))
    assert extra == [
        {"my id": "x1", "Score by model": "=5"},
        {"my id": "x2", "Score by model": " 4 "},
    ]


def test_other_columns_are_exported_beside_our_key(client):
    cast = closed_cast(lambda *_: 2)
    client.force_login(cast.coordinator)
    exported = client.get(f"/report/{cast.panel.slug}/ratings.json").json()["responses"]
    assert len(exported) == 10
    assert {one["other_columns"]["my note"] for one in exported} == {
        f"made by {condition}" for condition in CONDITIONS
    }
    assert len({one["key"] for one in exported}) == 10


@pytest.mark.usefixtures("_a_dilemma")
def test_correcting_one_row_is_one_change_that_somebody_asks_for():
    rows = [row(n) for n in range(1, 101)]
    assert responses(rows).created == 100
    assert responses(rows).unchanged == 100
    rows[6] = row(7, text="Another text.")
    again = refused(lambda: responses(rows))
    assert [(one.line, one.column) for one in again.problems] == [(8, "text")]
    assert again.is_only(KNOWN)
    looked = responses(rows, update=True, dry_run=True)
    assert (looked.created, looked.changed, looked.unchanged) == (0, 1, 99)
    assert ResponseVersion.objects.count() == 100, "nothing was written"
    done = responses(rows, update=True)
    assert (done.created, done.changed, done.unchanged) == (0, 1, 99)
    assert Response.objects.get(external_id="R7").versions.count() == 2


@pytest.mark.usefixtures("_a_dilemma")
@pytest.mark.parametrize(
    ("change", "says", "versions"),
    [
        ({"latency_s": 2}, "latency_s", 1),
        ({"generator": "other", "cluster_id": "c"}, "generator, cluster_id", 1),
        ({"language": "ca"}, "text", 2),
        ({"my id": "other"}, "text", 2),
    ],
)
def test_a_change_beside_the_text_is_a_change_too(change, says, versions):
    responses([row(1)])
    (problem,) = refused(lambda: responses([row(1, **change)])).problems
    assert says in problem.message
    assert responses([row(1, **change)], update=True).changed == 1
    assert responses([row(1, **change)]).unchanged == 1
    assert Response.objects.get().versions.count() == versions


@pytest.mark.usefixtures("_a_dilemma")
def test_a_known_response_keeps_its_condition():
    responses([row(1)])
    other = [row(1, condition="two-step")]
    again = refused(lambda: responses(other, update=True))
    assert [one.column for one in again.problems] == ["condition"]
    assert not again.is_only(KNOWN), "an update would not help"


@pytest.mark.usefixtures("_a_dilemma")
def test_names_that_differ_are_different_and_twins_are_refused_with_both_lines():
    rows = [row(n, id=one) for n, one in enumerate(("7", "07", "A7", "a7"), start=1)]
    assert responses(rows).created == 4
    rows += [row(5, id=" 7"), row(6, id="7 ")]
    again = refused(lambda: responses(rows, set_name="other"))
    assert [(one.line, one.column) for one in again.problems] == [(6, "id"), (7, "id")]
    assert all("first on line 2" in one.message for one in again.problems)


@pytest.mark.usefixtures("_a_dilemma")
def test_stages_of_one_response_must_agree():
    rows = [row(1, stage=1), row(1, stage=2, text="Later."), row(1, stage=3, condition="other")]
    assert refusal(lambda: responses(rows)) == [(4, "condition")]
    assert responses(rows[:2]).created == 1
    assert Response.objects.get().versions.get().parts.count() == 2


@pytest.mark.usefixtures("_a_dilemma")
def test_texts_that_name_a_model_are_counted():
    with translation.override("en"):
        outcome = responses(
            [row(1, text="As ChatGPT I would."), row(2), row(3, text="I'm Claude.")]
        )
    assert "2 texts may tell their condition" in outcome.notes[-1]
    assert Blinding.objects.filter(state="held").count() == 2


@pytest.mark.usefixtures("_a_dilemma")
def test_texts_are_stored_as_they_came():
    kept = [
        "  lead\r\n\r\ntrail \n",
        "a<b & <i>c</i>",
        "\u202eعدد\u202c",
        "a\u200bb",
        "=1+1",
        "🙂" * 9,
    ]
    responses([row(n, text=text) for n, text in enumerate(kept)])
    assert list(ResponsePart.objects.order_by("pk").values_list("raw", flat=True)) == kept


@pytest.mark.usefixtures("_a_dilemma")
def test_unreadable_characters_are_replaced_only_on_demand():
    content = json.dumps([row(1, text="a\0b"), row(2, text="c\ud800d"), row(3, text="\x1b[31m")])
    again = refused(lambda: responses(content.encode()))
    assert again.count == 2 and again.is_only(UNREADABLE)
    responses(content.encode(), repair=True)
    raw = list(ResponsePart.objects.order_by("pk").values_list("raw", flat=True))
    assert raw == ["a\ufffdb", "c\ufffdd", "\x1b[31m"]


@pytest.mark.usefixtures("_a_dilemma")
def test_spreadsheet_comes_in_like_csv():
    header = ["id", "dilemma", "condition", "text", "replicate", "when"]
    content = workbooks.table(
        [header, [7.0, "AWB-001", "plain", "Two\nlines.", 1, ('s="1"', "<v>46282</v>")]],
        formats=[0, 14],
    )
    assert responses(content).facts.startswith("XLSX")
    response = Response.objects.get()
    assert response.external_id == "7"
    part = response.versions.get().parts.get()
    assert (part.raw, part.extra) == ("Two\nlines.", {"when": "2026-09-17"})


def test_many_long_texts_are_read_and_looked_at_on_every_core():
    texts = [(f"Text {n} by ChatGPT." + " More of it." * 50, "en") for n in range(250)]
    alone = list(proposals(texts, labels=["plain"]))
    together = list(proposals(texts, labels=["plain"], many=0))
    assert together == alone and len(alone) == 250
    assert all(one.findings for one in alone)


@pytest.mark.usefixtures("_a_dilemma")
def test_a_long_text_and_a_long_line_take_no_time():
    started = time.monotonic()
    responses([row(1, text="Lorem ipsum. " * 80_000), row(2, text="x" * 50_000)])
    assert time.monotonic() - started < 10
    assert len(ResponsePart.objects.first().raw) == 80_000 * 13


def test_provenance_names_the_file_by_its_own_hash():
    content = table(FLAT)
    dilemmas(content)
    payload = json.loads(Provenance.objects.get(kind="dilemmas_imported").payload)
    assert payload["sha256"] == hashlib.sha256(content).hexdigest()


# a model judge's scores


def judgements(rows, **options):
    options = {"name": "file", "set_name": "s", "actor": "", "at": NOW} | options
    return import_judgements(content=table(rows), **options)


def judgement(**changes):
    return {"response": "R1", "judge": "m", "repetition": 1, "criterion": "c", "score": 2,
            "model_version": "v", "prompt_sha256": "a" * 64, "text_sha256": "b" * 64,
            "date": "2026-12-01"} | changes  # fmt: skip


@pytest.mark.usefixtures("_a_dilemma")
def test_repetitions_and_judges_are_kept_apart_and_twins_refused():
    responses([row(1)])
    rows = [judgement(), judgement(repetition=2), judgement(judge="M"), judgement(repetition=0)]
    assert judgements(rows).created == 4
    (problem,) = refused(lambda: judgements([*rows, judgement(score=3)])).problems
    assert (problem.line, problem.column) == (6, "repetition")
    assert "first on line 2" in problem.message


@pytest.mark.usefixtures("_a_dilemma")
def test_another_score_is_a_change_that_somebody_asks_for():
    responses([row(1)])
    judgements([judgement()])
    assert refused(lambda: judgements([judgement(score=3)])).is_only(KNOWN)
    assert judgements([judgement(score=3)], update=True).changed == 1
    assert judgements([judgement(score=3)]).unchanged == 1


@pytest.mark.usefixtures("_a_dilemma")
def test_what_is_not_said_of_the_judge_is_pointed_out():
    responses([row(1)])
    with translation.override("en"):
        assert judgements([judgement()]).notes == []
        notes = judgements([judgement(repetition=2, model_version="", date="")]).notes
    assert notes == [
        "Not said for every score, and then not known to who reads the report: model_version, date."
    ]


@pytest.mark.usefixtures("_a_dilemma")
def test_problems_with_scores_are_named_together():
    responses([row(1)])
    rows = [judgement(response="R9"), judgement(score="good"), judgement(judge="")]
    assert refusal(lambda: judgements(rows)) == [(2, "response"), (3, "score"), (4, "judge")]
    assert not ModelJudgement.objects.exists()


# the rubric


@pytest.mark.parametrize(
    ("change", "column"),
    [
        ({"code": ""}, "code"),
        ({"code": "a b"}, "code"),
        ({"criteria": []}, "code"),
        ({"criteria": {}}, ""),
        ({"criteria": ["x"]}, "criterion 1"),
        ({"title": "not by language"}, "title"),
        ({"norms": {"en": 3}}, "norms"),
        ({"title": {"a-very-long-code-of-a-language": "x"}}, "title"),
        ({"version_label": "x" * 101}, "version_label"),
    ],
)
def test_rubric_that_cannot_be_one_is_refused(change, column):
    content = json.dumps(rubric_document(criteria=("c",)) | change).encode()
    found = refusal(lambda: import_rubric(content=content, name="r", actor="", at=NOW))
    assert found == [(0, column)]


@pytest.mark.parametrize(
    ("change", "column"),
    [
        ({"key": "a b"}, "criterion 1"),
        ({"kind": ["ordinal"]}, "criterion 1"),
        ({"scope": "half"}, "criterion 1"),
        ({"asks_rationale": "yes"}, "criterion 1"),
        ({"name": {}}, "criterion 1"),
        ({"name": {"en": "x" * 201}}, "criterion 1, name"),
        ({"applicability": {"stages": [0]}}, "criterion 1"),
        ({"applicability": ["2"]}, "criterion 1"),
        ({"applicability": {"text": "later"}}, "criterion 1, text"),
        ({"levels": "0-3"}, "criterion 1"),
        ({"levels": [{"value": 0}, {"value": 0}]}, "criterion 1"),
        ({"levels": [{"value": 0}, {"value": "1"}]}, "criterion 1"),
        ({"levels": [{"value": 0, "short": {"en": "x" * 61}}, {"value": 1}]}, "criterion 1, short"),
        ({"levels": [{"value": 0, "full": []}, {"value": 1}]}, "criterion 1, full"),
        ({"levels": [{"value": 0}, {"value": 2**60}]}, ""),
    ],
)
def test_criterion_that_cannot_be_one_is_refused(change, column):
    document = rubric_document(criteria=("c",))
    document["criteria"][0] |= change
    content = json.dumps(document).encode()
    found = refusal(lambda: import_rubric(content=content, name="r", actor="", at=NOW))
    assert found == [(0, column)]


# which two levels a boundary tells apart


def rubric(boundary):
    document = rubric_document(criteria=("opposition",))
    document["criteria"][0]["boundary"] = boundary
    content = json.dumps(document).encode()
    return import_rubric(content=content, name="rubric.json", actor="", at=NOW)[0]


@pytest.mark.parametrize(
    ("levels", "between"),
    [({"lower": 2, "upper": 3}, "2 → 3"), ({"lower": 0, "upper": 1.0}, "0 → 1"), ({}, "")],
)
def test_boundary_names_its_levels(levels, between):
    version = rubric({"text": {"en": "Ask whether …"}, **levels})
    shown = rubric_item(version, language="en").criteria[0]
    assert (shown.between, shown.boundary) == (between, "Ask whether …")


@pytest.mark.parametrize(
    "boundary",
    [{"lower": 1, "upper": 3}, {"lower": 3, "upper": 2}, {"lower": 2}, {"lower": 3, "upper": 4}, 2],
)
def test_boundary_stands_between_neighbours_or_is_refused(boundary):
    assert refusal(lambda: rubric(boundary)) == [(0, "criterion 1")]


def test_levels_of_a_boundary_are_frozen_and_shown_to_judges(client):
    cast = open_cast(judges=1)
    assert "boundary" not in rubric_document_of(cast.panel)["criteria"][0]
    second = open_cast(judges=1, slug="second", boundary={"lower": 2, "upper": 3})
    frozen = rubric_document_of(second.panel)["criteria"][0]["boundary"]
    assert frozen == {"lower": 2, "upper": 3}
    client.force_login(second.judges[0])
    slot = second.slots(0)[0]
    for page in (f"batch/{slot.batch.code}/1/", "second/instructions/"):
        assert "<b>2 → 3</b> Ask." in client.get(f"/judge/{page}").content.decode()
