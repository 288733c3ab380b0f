"""Importing content: what files may look like, what is kept of them, what is refused and how."""

import io
import json
import re
import shlex
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import translation

from dilemmas.models import Dilemma, DilemmaVersion
from dilemmas.services.importing import import_dilemmas, import_rubric
from dilemmas.services.reading import ImportRefused
from ratings.services.freezing import rubric_document as rubric_document_of
from ratings.services.serving import rubric_item
from tests.cast import NOW, open_cast, rubric_document, table

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


def refusal(act) -> list[tuple[int, str]]:
    with pytest.raises(ImportRefused) as refused:
        act()
    assert all(problem.message for problem in refused.value.problems)
    return [(problem.line, problem.column) for problem in refused.value.problems]


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


# the rubric: which two levels a boundary tells apart


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
