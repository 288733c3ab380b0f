"""The report's pages: every figure is in the document, every section where there are figures."""

import json
import math
import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from ratings.reports.methods import methods
from ratings.reports.render import view_of
from ratings.services import judging
from ratings.services.judging import Change
from ratings.services.panels import close_panel
from ratings.services.reporting import compute_report
from ratings.templatetags.figures import figure, percent
from tests.cast import CONDITIONS, CRITERIA, NOW, closed_cast, open_cast
from tests.integration.test_report_figures import closed

pytestmark = pytest.mark.django_db


def as_(user) -> Client:
    client = Client(headers={"accept-language": "en"})
    client.force_login(user)
    return client


def numbers_in(value) -> set[float]:
    if isinstance(value, bool) or value is None:
        return set()
    if isinstance(value, int | float):
        return {float(value)}
    if isinstance(value, dict):
        return set().union(*map(numbers_in, value.values()), *map(numbers_in, value))
    if isinstance(value, list):
        return set().union(*map(numbers_in, value)) if value else set()
    return (
        {float(n) for n in re.findall(r"\d+(?:\.\d+)?", value)} if isinstance(value, str) else set()
    )


def test_no_figure_on_the_page_is_missing_from_the_document():
    cast, document = closed()
    page = as_(cast.observer).get(f"/report/{cast.panel.slug}/").content.decode()
    main = page.split("<main")[1].split("</main>")[0]
    text = re.sub(r"<(?:svg|script).*?</(?:svg|script)>", " ", main, flags=re.S)
    text = re.sub(r"<[^>]+>", " ", text)
    known = numbers_in(document)
    with translation.override("en"):
        shown = {figure(n, d).lstrip("−") for n in known for d in range(1, 5)}
        shown |= {percent(n).rstrip("%") for n in known if 0 <= n <= 1}
    decimals = set(re.findall(r"(?<![\w.:/-])\d+\.\d+(?![\w.])", text))
    ours = {"0.1", "0.5"}  # the sentence on other judges, and the test's own threshold
    assert len(decimals) > 100
    assert decimals - shown - ours == set()


def test_sections_stand_where_there_are_figures_and_lead_to_each_other():
    cast, _ = closed()
    html = as_(cast.observer).get(f"/report/{cast.panel.slug}/").content.decode()
    for anchor in re.findall(r'href="#([a-z]+)"', html.split("contents")[1].split("</nav>")[0]):
        assert f'id="{anchor}"' in html, anchor
    for said in (
        "Share of each level, and agreement specific to it", "Beside the requirement",
        "People and the model judge same", "Could the model stand in for a judge?",
        "Severity", "What judges guessed", "For the paper", "Dilemma by dilemma",
    ):  # fmt: skip
        assert said in html, said
    assert html.count("<svg") == html.count("<desc>")


def test_confusions_specific_agreement_and_intervals_are_in_the_document():
    _, document = closed()
    one = document["criteria"]["synthesis"]
    counts = one["confusions"]["J1|J2"]
    assert len(counts) == 4 and sum(map(sum, counts)) == one["pairs"]["J1|J2"]["n"] == 20
    assert sum(level["share"] for level in one["levels"]) == pytest.approx(1)
    assert [row["level"] for row in one["specific"]] == [0, 1, 2, 3]
    for condition in CONDITIONS:
        total = document["condition_totals"][condition]
        low, high = total["ci95"]
        assert low <= total["mean"] <= high
    means = document["dilemmas"]["HND-001"]
    assert set(means) == set(CONDITIONS)
    points = document["human_model"]["same"]["criteria"]["synthesis"]["points"]
    assert len(points) == 20


def test_skew_is_said_in_words():
    cast = closed_cast(
        lambda judge, dilemma, condition, key: 3 - (judge == 0 and dilemma == "HND-001")
    )
    compute_report(panel=cast.panel, at=NOW)
    html = as_(cast.observer).get(f"/report/{cast.panel.slug}/").content.decode()
    assert "Where one level is so frequent, kappa and alpha are low" in html


def test_methods_are_said_in_three_languages_with_their_numbers():
    _, document = closed()
    for language, said in (
        ("ca", "3 jutges van puntuar 20 respostes en 4 criteris"),
        ("es", "3 jueces puntuaron 20 respuestas en 4 criterios"),
        ("en", "3 judges rated 20 responses on 4 criteria"),
    ):
        with translation.override(language):
            found = methods(document, view_of(document)["rule"])
        assert said in found["paragraph"]
        assert document["inputs_sha256"][:16] in found["paragraph"]
    assert document["panel"]["slug"] in found["bibtex"]
    items = {row["item"]: row["said"] for row in found["checklist"]}
    assert any(said is None for said in items.values()), "what nobody stated is shown as such"
    assert "same, unknown" in items.values()


def test_a_panel_of_the_awb_pages_form_gives_its_sign_test():
    """30 dilemmas, five conditions, 24 for, 3 against, 3 ties: p = 2 * P(X <= 3 | 27, 1/2)."""

    def level(judge, dilemma, condition, key):
        number = int(dilemma[-3:])
        if condition != "OKAPI":
            return 1 + (number % 2 and judge == 1 and key == "coherence")
        return (
            2
            if number <= 24
            else 0
            if number <= 27
            else 1 + (number % 2 and judge == 1 and key == "coherence")
        )

    cast = closed_cast(level, dilemmas=30, judges=2, contrasts=[["OKAPI", "TAPIR"]])
    document = json.loads(compute_report(panel=cast.panel, at=NOW).document)
    one = document["contrasts"]["total"][0]
    assert (one["n_for"], one["n_against"], one["n_ties"]) == (24, 3, 3)
    exact = 2 * sum(math.comb(27, k) for k in range(4)) / 2**27
    assert one["p_sign"] == pytest.approx(exact, rel=1e-12)
    assert f"{one['p_sign']:.1e}" == "4.9e-05"
    html = as_(cast.observer).get(f"/report/{cast.panel.slug}/").content.decode()
    assert "4.9 × 10⁻⁵" in html


# rationales


def test_rationales_stand_in_full_beside_scores(django_assert_max_num_queries):
    cast = open_cast(dilemmas=3, judges=2)
    for number in range(2):
        for slot in cast.slots(number):
            code = slot.response.dilemma.code
            changes = {
                f"0-{key}-answer": Change("", str((number * 2 + len(key)) % 4)) for key in CRITERIA
            }
            changes["0-opposition-rationale"] = Change("", f"<b>{code}</b> by {number}, 'quoted'")
            judging.save(slot=slot, changes=changes, at=NOW)
            judging.done(slot=slot, language="en", at=NOW)
    close_panel(panel=cast.panel, actor="", at=NOW)
    address = reverse("rationales", args=[cast.panel.slug])
    client = as_(cast.observer)
    with django_assert_max_num_queries(20):
        page = client.get(address).content.decode()
    assert "15 responses." in page and "Page 1 of 2." in page
    assert "&lt;b&gt;HND-001&lt;/b&gt; by 1, &#x27;quoted&#x27;" in page
    assert "Page 2 of 2." in client.get(address, {"page": 99}).content.decode()
    found = client.get(address, {"search": "HND-002</b> by 1"}).content.decode()
    assert "5 responses." in found and "HND-001 ·" not in found
    only = client.get(address, {"dilemma": "HND-003", "order": "apart"}).content.decode()
    assert "5 responses." in only
    assert "Nothing was found" in client.get(address, {"search": "zzz"}).content.decode()
    assert as_(cast.judges[0]).get(address).status_code == 404
