"""The content that is shipped, shown in the docs or worked by hand is what it says it is."""

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dilemmas import blinding

ROOT = Path(__file__).resolve().parents[2]
RUBRICS, DEMO = ROOT / "fixtures" / "rubrics", ROOT / "fixtures" / "demo"
DILEMMAS = ROOT / "fixtures" / "dilemmas"
PANEL, HAND = ROOT / "tests" / "fixtures" / "hand", ROOT / "tests" / "hand"
DOCS = ROOT / "docs"
CRITERIA = ["opposition", "synthesis", "anchoring", "coherence"]
LABELS = ["ZEBRA-CONTROL", "OKAPI", "TAPIR", "LEMUR", "IBIS"]
LANGUAGES = {"ca", "es", "en"}
AXES = {"D1", "D2", "D3", "D4"}
COMPONENTS = {
    "prosocial",
    "emotional_regulation",
    "self_reflection",
    "divergent_perspectives",
    "decisiveness",
    "social_advising",
    "spirituality",
}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def words(text: str) -> int:
    return len(text.split())


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def texts_in(value: Any) -> Iterable[dict[str, str]]:
    """Every text by language, however deep."""
    if isinstance(value, dict):
        if set(value) & LANGUAGES:
            yield value
        else:
            for inner in value.values():
                yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


# The rubric


def test_the_shipped_rubric_is_complete_in_its_languages() -> None:
    rubric = json.loads((RUBRICS / "awb-semantic.json").read_text(encoding="utf-8"))
    assert (rubric["code"], rubric["version_label"]) == ("awb-semantic", "reconstruction-1")
    assert set(rubric["languages"]) == LANGUAGES
    assert [criterion["key"] for criterion in rubric["criteria"]] == CRITERIA
    for criterion in rubric["criteria"]:
        assert criterion["kind"] == "ordinal"
        assert criterion["scope"] == "whole"
        assert criterion["asks_rationale"] is True
        assert [level["value"] for level in criterion["levels"]] == [0, 1, 2, 3]
        assert (criterion["boundary"]["lower"], criterion["boundary"]["upper"]) == (2, 3)
        for level in criterion["levels"]:
            assert all(len(short) <= 60 for short in level["short"].values())
    # Per criterion: name, question, boundary and two texts for each level.
    every = list(texts_in(rubric))
    assert len(every) == 3 + 4 * (3 + 4 * 2) + len(rubric["needs_owner_consent"])
    assert all(set(text) == LANGUAGES and all(text.values()) for text in every)


def test_what_the_rubric_owner_has_not_agreed_to_is_marked_and_stands_in_the_rubric() -> None:
    rubric = json.loads((RUBRICS / "awb-semantic.json").read_text(encoding="utf-8"))
    marked = {entry["key"]: entry for entry in rubric["needs_owner_consent"]}
    assert set(marked) == {"between", "invented_facts"}
    anchoring = rubric["criteria"][CRITERIA.index("anchoring")]["boundary"]["text"]
    for language, sentence in marked["invented_facts"]["text"].items():
        assert sentence in anchoring[language]


# The dilemmas


def awb() -> list[dict[str, Any]]:
    return list(json.loads((DILEMMAS / "awb.json").read_text(encoding="utf-8")))


def test_there_are_thirty_dilemmas_of_four_families_that_do_not_run_by_number() -> None:
    found = awb()
    assert [one["code"] for one in found] == [f"AWB-{n:03}" for n in range(1, 31)]
    families = Counter(one["family"] for one in found)
    assert families == {"personal": 10, "collective": 10, "existential": 5, "technological": 5}
    by_code = {one["code"]: one for one in found}
    assert by_code["AWB-014"]["family"] == "existential"
    assert by_code["AWB-022"]["family"] == "technological"
    assert len({tuple(one["family"] for one in found[n : n + 10]) for n in (0, 10, 20)}) == 3


def test_each_dilemma_is_whole_in_three_languages() -> None:
    for one in awb():
        for key in ("title", "context", "actors", "costs"):
            assert set(one[key]) == LANGUAGES and all(one[key].values()), (one["code"], key)
        for language, context in one["context"].items():
            assert 80 <= words(context) <= 180, (one["code"], language, words(context))
            assert context.rstrip('»"').endswith("?"), (one["code"], language, "asks nothing")
    for language in LANGUAGES:
        questions = [one["context"][language].replace("¿", ". ").split(". ")[-1] for one in awb()]
        assert len(set(questions)) == 30, "each asks its own question"
        assert len({one["title"][language] for one in awb()}) == 30


def test_figures_are_the_same_in_three_languages() -> None:
    for one in awb():
        figures = {
            language: sorted(re.findall(r"\d{4}", one["context"][language]))
            for language in LANGUAGES
        }
        assert figures["ca"] == figures["es"] == figures["en"], one["code"]


def test_masks_are_of_the_hundred_point_rubric_and_existential_ones_ask_for_d4() -> None:
    for one in awb():
        assert 2 <= len(one["required_axes"]) <= 4 and set(one["required_axes"]) <= AXES
        assert 2 <= len(one["required_components"]) <= 5
        assert set(one["required_components"]) <= COMPONENTS, one["code"]
        assert one["family"] != "existential" or "D4" in one["required_axes"]
    assert len({tuple(one["required_components"]) for one in awb()}) > 10, "they differ"


# The demonstration


DEMO_LANGUAGES = ("ca", "en")


@pytest.mark.parametrize("language", DEMO_LANGUAGES)
def test_demo_responses_are_some_dilemmas_by_five(language: str) -> None:
    found = rows(DEMO / language / "responses.csv")
    codes = {row["dilemma"] for row in found}
    assert codes <= {one["code"] for one in awb()}
    assert [(r["dilemma"], r["condition"]) for r in found] == [
        (c, x) for c in sorted(codes) for x in "ABCDE"
    ]
    assert {row["language"] for row in found} == {language}
    assert all(110 <= words(row["text"]) <= 360 for row in found)
    families = {one["family"] for one in awb() if one["code"] in codes}
    assert len(families) >= 3, "the demonstration shows more than one kind of dilemma"


def test_demo_is_the_same_panel_told_twice() -> None:
    for name, keys in (
        ("judgements.csv", ("dilemma", "condition", "repetition", "criterion", "score")),
        ("ratings.csv", ("dilemma", "condition", "judge", "criterion", "score", "missing")),
    ):
        told = [[tuple(r[k] for k in keys) for r in rows(DEMO / x / name)] for x in DEMO_LANGUAGES]
        assert told[0] == told[1], name


@pytest.mark.parametrize("language", DEMO_LANGUAGES)
def test_demo_leaks_are_found_and_rewritten(language: str) -> None:
    """Every C shows the scaffold; some others name a product, a condition or a machine."""
    rewritten = [(row["said"], row["instead"]) for row in rows(DEMO / language / "rewritten.csv")]
    used, kinds = set(), {}
    for row in rows(DEMO / language / "responses.csv"):
        found = blinding.find(row["text"], condition_labels="ABCDE", language=language)
        if found:
            kinds[row["dilemma"], row["condition"]] = {one.kind for one in found}
        text = blinding.blind(row["text"], condition_labels="ABCDE", language=language).text
        for said, instead in rewritten:
            used |= {said} if said in text else set()
            text = text.replace(said, instead)
        left = blinding.find(text, condition_labels="ABCDE", language=language)
        assert not left, (row["dilemma"], row["condition"], left)
        assert "WHO" not in row["text"] or "WHO" in text, "an organisation is no code"
        assert "OMS" not in row["text"] or "OMS" in text
    codes = {row["dilemma"] for row in rows(DEMO / language / "responses.csv")}
    assert {code for code, label in kinds if label == "C"} == codes
    elsewhere = set().union(*(v for (_code, label), v in kinds.items() if label != "C"))
    assert {"name", "self", "condition"} <= elsewhere
    assert len(kinds) < 5 * len(codes), "not every response leaks"
    assert used == {said for said, _instead in rewritten}, "nothing is rewritten that is not there"


@pytest.mark.parametrize("language", DEMO_LANGUAGES)
def test_demo_judgements_are_complete_and_of_these_texts(language: str) -> None:
    texts = {
        (r["dilemma"], r["condition"]): r["text"] for r in rows(DEMO / language / "responses.csv")
    }
    found = rows(DEMO / language / "judgements.csv")
    keys = [(r["dilemma"], r["condition"], r["repetition"], r["criterion"]) for r in found]
    assert sorted(keys) == sorted(
        (*response, repetition, key)
        for response in texts
        for repetition in "123"
        for key in CRITERIA
    )
    for row in found:
        assert row["judge"] == "model-judge"
        assert row["score"] in {"0", "1", "2", "3"}
        assert row["reason"].strip()
        assert row["text_sha256"] == sha256(texts[row["dilemma"], row["condition"]])


@pytest.mark.parametrize("language", DEMO_LANGUAGES)
def test_demo_ratings_are_of_two_judges_who_explain_and_do_not_always_agree(language: str) -> None:
    found = rows(DEMO / language / "ratings.csv")
    places = {(r["dilemma"], r["condition"]) for r in rows(DEMO / language / "responses.csv")}
    by: dict[tuple[str, ...], dict[str, str]] = {}
    for row in found:
        assert (row["score"] in {"0", "1", "2", "3"}) != bool(row["missing"])
        by.setdefault((row["dilemma"], row["condition"], row["judge"]), {})[row["criterion"]] = row[
            "score"
        ]
    assert set(by) == {(*place, judge) for place in places for judge in ("J1", "J2")}
    assert all(list(scores) == CRITERIA for scores in by.values())
    reasons = Counter((r["dilemma"], r["condition"], r["judge"]) for r in found if r["rationale"])
    assert set(reasons) == set(by), "each response has a reason from each judge"
    apart = [
        abs(int(by[(*place, "J1")][key]) - int(by[(*place, "J2")][key]))
        for place in places
        for key in CRITERIA
        if by[(*place, "J1")][key] and by[(*place, "J2")][key]
    ]
    assert (
        0 < sum(d == 1 for d in apart) < len(apart) and sum(d > 1 for d in apart) < len(apart) / 5
    )
    assert any(row["missing"] for row in found), "somebody could not judge something"


# The panel worked by hand


def scores() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((PANEL / "scores.json").read_text(encoding="utf-8"))
    return document


CASES = [
    (name, key) for name in ("exactly_three_fifths", "rounds_up_but_misses") for key in CRITERIA
]


def agreement(table: list[list[int]]) -> dict[str, Fraction]:
    """Agreement from its definitions: units by raters, nothing missing, exact."""
    raters, size = len(table[0]), len(table) * len(table[0])
    totals = Counter(score for unit in table for score in unit)
    agreeing = sum(n * (n - 1) for unit in table for n in Counter(unit).values())
    p_bar = Fraction(agreeing, len(table) * raters * (raters - 1))
    p_e = Fraction(sum(n * n for n in totals.values()), size * size)

    def alpha(distance: Any) -> Fraction:
        observed = sum(
            Fraction(distance(a, b), raters - 1)
            for unit in table
            for i, a in enumerate(unit)
            for j, b in enumerate(unit)
            if i != j
        )
        expected = sum(totals[a] * totals[b] * distance(a, b) for a in totals for b in totals)
        return 1 - (size - 1) * observed / Fraction(expected)

    def ordinal(a: int, b: int) -> Fraction:
        low, high = min(a, b), max(a, b)
        between = sum(totals[level] for level in range(low, high + 1))
        return (
            (between - Fraction(totals[low] + totals[high], 2)) ** 2 if low < high else Fraction(0)
        )

    return {
        "p_bar": p_bar,
        "p_e": p_e,
        "fleiss_kappa": (p_bar - p_e) / (1 - p_e),
        "alpha_nominal": alpha(lambda a, b: Fraction(a != b)),
        "alpha_ordinal": alpha(ordinal),
        "alpha_interval": alpha(lambda a, b: Fraction((a - b) ** 2)),
    }


@pytest.mark.parametrize(("name", "key"), CASES)
def test_hand_figures_follow_from_the_hand_scores(name: str, key: str) -> None:
    document = scores()
    given = document["tables"][name]["scores"][key]
    table = [given[response] for response in document["responses"]]
    assert len(table) == 10
    assert all(len(unit) == 3 and set(unit) <= {0, 1, 2, 3} for unit in table)
    expected = document["tables"][name]["expected"][key]
    for figure, exact in agreement(table).items():
        assert Fraction(expected[figure]) == exact, figure
    assert expected["totals"] == {
        str(level): sum(unit.count(level) for unit in table) for level in range(4)
    }
    for number, judge in enumerate(document["judges"]):
        assert Fraction(expected["mean_by_judge"][judge]) == Fraction(
            sum(unit[number] for unit in table), len(table)
        )
    conditions = {r["id"]: r["condition"] for r in rows(PANEL / "responses.csv")}
    for condition in LABELS:
        own = [s for r in document["responses"] if conditions[r] == condition for s in given[r]]
        assert Fraction(expected["mean_by_condition"][condition]) == Fraction(sum(own), len(own))


def test_one_hand_table_meets_three_fifths_exactly_and_the_other_only_when_rounded() -> None:
    kappa = {
        name: [Fraction(table["expected"][key]["fleiss_kappa"]) for key in CRITERIA]
        for name, table in scores()["tables"].items()
    }
    assert kappa["exactly_three_fifths"] == [Fraction(3, 5)] * 4
    assert kappa["rounds_up_but_misses"] == [Fraction(40, 67), *[Fraction(3, 5)] * 3]
    assert f"{float(Fraction(40, 67)):.2f}" == "0.60"
    assert Fraction(40, 67) < Fraction(3, 5)


def test_hand_readme_prints_the_same_fractions() -> None:
    readme = (PANEL / "README.md").read_text(encoding="utf-8")
    tables = scores()["tables"]
    for name, key in [*CASES[:4], CASES[4]]:
        lines = [line for line in readme.splitlines() if line.startswith(f"| {name} | {key} |")]
        assert len(lines) == 2
        for figure in ("fleiss_kappa", "alpha_nominal", "alpha_ordinal"):
            assert tables[name]["expected"][key][figure] in " ".join(lines)


def test_hand_responses_tell_nothing_but_the_two_planted_leaks() -> None:
    found = rows(PANEL / "responses.csv")
    codes = {row["code"] for row in rows(PANEL / "dilemmas.csv")}
    assert {(r["dilemma"], r["condition"]) for r in found} == {
        (c, x) for c in codes for x in LABELS
    }
    every = [row["text"] for row in found]
    assert len(every) == 10
    assert all(60 <= words(text) <= 120 for text in every)
    assert not any(label.lower() in text.lower() for text in every for label in LABELS)
    assert sum("ChatGPT" in text for text in every) == 1
    assert sum("(OBJ)" in text for text in every) == 1
    leaks = [
        f.text for t in every for f in blinding.find(t, condition_labels=LABELS, language="en")
    ]
    assert leaks == [" (OBJ)", "ChatGPT"]


def test_hand_judgements_are_complete_and_give_the_means_of_their_readme() -> None:
    texts = {row["id"]: row["text"] for row in rows(PANEL / "responses.csv")}
    found = rows(HAND / "judgements.csv")
    keys = [(r["response"], r["repetition"], r["criterion"]) for r in found]
    assert sorted(keys) == sorted((r, n, key) for r in texts for n in "12" for key in CRITERIA)
    assert all(row["text_sha256"] == sha256(texts[row["response"]]) for row in found)
    readme = (HAND / "README.md").read_text(encoding="utf-8")
    tables = scores()["tables"]
    for key in CRITERIA:
        given = [int(row["score"]) for row in found if row["criterion"] == key]
        model, cells = Fraction(sum(given), len(given)), [key]
        cells.append(str(model))
        for name in ("exactly_three_fifths", "rounds_up_but_misses"):
            human = Fraction(tables[name]["expected"][key]["mean"])
            cells += [str(human), str(model - human)]
        assert f"| {' | '.join(cells)} |" in readme


# The import page and its examples


def documented() -> dict[str, dict[str, bool]]:
    """Each table of docs/import.md by its heading or file: the columns, and whether required."""
    found: dict[str, dict[str, bool]] = {}
    place = ""
    for line in (DOCS / "import.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            place = line[3:].split(":")[0]
        elif named := re.match(r"\[`examples/study/(\w+)\.csv`\]", line):
            place = named[1]
        elif row := re.match(r"\| `(\w+)` \| [^|]+ \| ([^|]+) \|", line):
            found.setdefault(place, {})[row[1]] = row[2].startswith("yes")
    return found


@pytest.mark.parametrize(
    ("heading", "example"),
    [
        ("Dilemmas", "dilemmas.csv"),
        ("Responses", "responses.csv"),
        ("Model judgements", "judgements.csv"),
        ("items", "study/items.csv"),
        ("ratings", "study/ratings.csv"),
        ("model_judgements", "study/model_judgements.csv"),
    ],
)
def test_the_columns_of_each_example_are_documented(heading: str, example: str) -> None:
    columns = documented()[heading]
    found = rows(DOCS / "examples" / example)
    assert found
    assert set(found[0]) <= set(columns)
    assert {column for column, required in columns.items() if required} <= set(found[0])


def test_the_columns_of_shipped_and_hand_made_files_are_documented() -> None:
    columns = documented()
    for folder in (DEMO / "ca", DEMO / "en", PANEL, HAND):
        for path in sorted(folder.glob("*.csv")):
            if path.stem in ("ratings", "rewritten"):  # read by the demonstration alone
                continue
            heading = {"dilemmas": "Dilemmas", "responses": "Responses"}.get(path.stem)
            assert set(rows(path)[0]) <= set(columns[heading or "Model judgements"]), path


def test_the_examples_fit_together() -> None:
    examples = DOCS / "examples"
    codes = {row["code"] for row in rows(examples / "dilemmas.csv")}
    responses = rows(examples / "responses.csv")
    assert {row["dilemma"] for row in responses} <= codes
    judgements = rows(examples / "judgements.csv")
    assert {row["response"] for row in judgements} <= {row["id"] for row in responses}
    rubric = json.loads((examples / "rubric.json").read_text(encoding="utf-8"))
    keys = {criterion["key"] for criterion in rubric["criteria"]}
    assert {row["criterion"] for row in judgements} == keys
    items = {row["item_id"] for row in rows(examples / "study" / "items.csv")}
    for name in ("ratings", "model_judgements"):
        assert {row["item_id"] for row in rows(examples / "study" / f"{name}.csv")} == items


def test_each_linked_example_exists() -> None:
    page = (DOCS / "import.md").read_text(encoding="utf-8")
    links = set(re.findall(r"\]\((examples/[^)]*)\)", page))
    assert len(links) == 9
    assert all((DOCS / link).exists() for link in links)
