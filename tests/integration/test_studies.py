"""A study that was rated elsewhere becomes a closed panel and a report with the right figures."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from dilemmas.services.reading import ImportRefused
from ratings.models import AuditEvent, Panel, Rating, Report
from ratings.services.errors import Refused
from ratings.services.panels import publish
from ratings.services.studies import StudyFiles, import_study
from tests.cast import NOW, table

pytestmark = pytest.mark.django_db
SHARED = Path(__file__).parents[3] / "shared" / "data"
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "study"


def report_of(slug: str) -> dict:
    out = io.StringIO()
    call_command("report", slug, json=True, stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.parametrize(
    ("name", "scale"), [("summeval_experts", "1-5"), ("summeval_op", "1-5"), ("squality", "0-100")]
)
def test_published_studies_come_out_as_published(name, scale):
    folder = SHARED / name
    if not folder.exists():
        pytest.skip("the published studies are not here (../shared/data)")
    call_command("import_study", folder, slug=name, scale=scale, stdout=io.StringIO())
    document, facts = report_of(name), json.loads((folder / "facts.json").read_text())
    for what, key in (("conditions", "condition_means"), ("judges", "rater_means")):
        for label, by_criterion in facts.get(key, {}).items():
            for criterion, mean in by_criterion.items():
                found = document[what][label][criterion]["mean"]
                assert found == pytest.approx(mean, abs=6e-4), (label, criterion)
    for criterion, alphas in facts["alpha"].items():
        entry = document["criteria"][criterion]
        for level, value in alphas.items():
            level, _, rater = level.partition("_without_")
            key = f"krippendorff_alpha_{level}"
            if rater:
                found = entry["leave_one_out"][rater][key]
            else:
                found = entry["coefficients"][key]["estimate"]
            assert found == pytest.approx(value, abs=6e-7), (criterion, level, rater)
    assert document["gate"] is None
    assert document["panel"]["registered"] is False


def small_study() -> StudyFiles:
    """Four items, two raters who differ once by one level: worked out by hand below."""
    items = [
        {"item_id": f"i{n}", "prompt_id": f"p{n // 2}", "prompt_text": f"Prompt {n // 2}",
         "condition": "AB"[n % 2], "response_text": "" if n == 3 else f"Text {n}"}
        for n in range(4)
    ]  # fmt: skip
    first, second = [1, 2, 3, 3], [1, 2, 3, 2]
    ratings = [
        {"item_id": f"i{n}", "rater_id": rater, "criterion": "clarity", "score": score,
         "rationale": "=1+1, «so», 🙂\nsecond line"}
        for rater, scores in (("ann", first), ("bob", second))
        for n, score in enumerate(scores)
    ]  # fmt: skip
    judgements = [
        {"item_id": f"i{n}", "judge": "gpt", "repetition": r, "criterion": "clarity",
         "score": 0.5 * n + r}
        for n in range(4) for r in (1, 2)
    ]  # fmt: skip
    return StudyFiles(table(items), table(ratings), table(judgements))


def test_small_study_by_hand():
    outcome = import_study(files=small_study(), slug="small", title="", scale="1-3", at=NOW)
    assert (outcome.items, outcome.ratings, outcome.judgements) == (4, 8, 8)
    assert outcome.without_text == 1
    document = report_of("small")
    entry = document["criteria"]["clarity"]["coefficients"]
    # Three of four items agree.
    assert entry["percent_agreement"]["estimate"] == 0.75
    # Values 1,1,2,2,2,3,3,3: alpha nominal = 1 - (n - 1) D / E with D = 2 and
    # E = 64 - (4 + 9 + 9) = 42: 1 - 7 * 2 / 42 = 2/3.
    assert entry["krippendorff_alpha_nominal"]["estimate"] == pytest.approx(2 / 3, abs=1e-12)
    # Fleiss: P_e = (2/8)^2 + 2 (3/8)^2 = 22/64; (3/4 - 22/64) / (1 - 22/64) = 13/21.
    assert entry["fleiss_kappa"]["estimate"] == pytest.approx(13 / 21, abs=1e-12)
    model = document["model_judges"]["gpt"]["clarity"]
    # Means of repetitions 1.5, 2, 2.5, 3 against 1, 2, 3, 2.5: ranks 1 2 3 4 against 1 2 4 3.
    assert model["spearman"] == pytest.approx(0.8, abs=1e-12)
    assert model["mean_difference"] == pytest.approx(9 / 4 - 8.5 / 4, abs=1e-12)
    assert document["flow"]["without_text"] == 1
    assert document["flow"]["served_order_known"] is False


def test_same_study_again_changes_nothing_and_another_is_refused():
    import_study(files=small_study(), slug="small", title="", scale="1-3", at=NOW)
    before = (Rating.objects.count(), AuditEvent.objects.count())
    again = import_study(files=small_study(), slug="small", title="", scale="1-3", at=NOW)
    assert not again.is_new
    other = StudyFiles(small_study().items, small_study().ratings + b"\n", None)
    with pytest.raises(ImportRefused):
        import_study(files=other, slug="small", title="", scale="1-3", at=NOW)
    assert (Rating.objects.count(), AuditEvent.objects.count()) == before


def test_rationales_are_kept_byte_for_byte():
    import_study(files=small_study(), slug="small", title="", scale="1-3", at=NOW)
    assert set(Rating.objects.values_list("rationale", flat=True)) == {
        "=1+1, «so», 🙂\nsecond line"
    }


def test_report_is_stored_and_not_computed_twice():
    import_study(files=small_study(), slug="small", title="", scale="1-3", at=NOW)
    assert report_of("small") == report_of("small")
    assert Report.objects.count() == 1


def test_imported_study_is_never_v1_and_has_no_gate():
    panel = import_study(files=small_study(), slug="small", title="", scale="1-3", at=NOW).panel
    assert panel.state == "closed"
    with pytest.raises(CommandError) as error:
        call_command("gate", "small")
    assert error.value.returncode == 64
    with pytest.raises(Refused):
        publish(panel=panel, actor="", at=NOW)
    call_command("report", "small", stdout=io.StringIO())
    assert publish(panel=panel, actor="", at=NOW).kind == "not_registered"


@pytest.mark.parametrize(
    ("change", "line", "column"),
    [
        (("i0,ann,clarity,1", "i0,ann,clarity,9"), 2, "score"),
        (("i0,ann,clarity,1", "i0,ann,clarity,1.5"), 2, "score"),
        (("i0,ann,clarity,1", "i0,ann,clarity,good"), 2, "score"),
        (("i0,ann,clarity,1", "i99,ann,clarity,1"), 2, "item_id"),
        (("i1,ann,clarity,2", "i0,ann,clarity,2"), 4, "item_id"),
    ],
)
def test_bad_rating_names_its_line_and_nothing_is_written(change, line, column):
    files = small_study()
    assert change[0].encode() in files.ratings
    broken = files.ratings.replace(change[0].encode(), change[1].encode())
    with pytest.raises(ImportRefused) as refused:
        import_study(
            files=StudyFiles(files.items, broken), slug="bad", title="", scale="1-3", at=NOW
        )
    problem = refused.value.problems[0]
    assert (problem.line, problem.column) == (line, column)
    assert problem.remedy
    assert not Panel.objects.exists()


@pytest.mark.parametrize("slug", ["new", "import", "a b", ""])
def test_slug_that_is_no_address_is_refused(slug):
    with pytest.raises(ImportRefused):
        import_study(files=small_study(), slug=slug, title="", scale="1-3", at=NOW)


@pytest.mark.parametrize("scale", ["", "5", "five", "3-1", "1-1", "1-99999"])
def test_scale_that_is_none_is_refused(scale):
    with pytest.raises(ImportRefused):
        import_study(files=small_study(), slug="bad", title="", scale=scale, at=NOW)


def test_example_study_of_the_documentation_imports():
    ratings = (EXAMPLE / "ratings.csv").read_text()
    highest = max(
        int(float(row.split(",")[3])) for row in ratings.splitlines()[1:] if row.count(",") >= 3
    )
    out = io.StringIO()
    call_command("import_study", EXAMPLE, slug="example", scale=f"0-{max(highest, 3)}", stdout=out)
    assert "Not registered beforehand" in out.getvalue()
