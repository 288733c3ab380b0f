"""docs/statistics.md says of the coverage study what the study found."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "statistics.md").read_text(encoding="utf-8")
STUDY = json.loads((DOCS / "coverage.json").read_text(encoding="utf-8"))
METHODS = ("jackknife", "percentile", "bca", "responses", "pairs")
NAMES = {
    "ordinal α": "krippendorff_alpha_ordinal",
    "Fleiss' κ": "fleiss_kappa",
    "Fleiss' κ, quadratic": "fleiss_kappa_quadratic",
    "Light's κ": "light_kappa",
    "Light's κ, quadratic": "light_kappa_quadratic",
    "AC1": "gwet_ac1",
    "AC2, quadratic": "gwet_ac2_quadratic",
    "percent agreement": "percent_agreement",
    "ICC(A,1)": "icc_2_1",
    "Kendall's W": "kendall_w",
}


def rows_under(heading: str) -> list[list[str]]:
    """Return the cells of the first table that has a column of that name."""
    lines = PAGE[PAGE.index(heading) :].splitlines()
    rows = [line for line in lines if line.startswith("|")]
    first = lines.index(rows[0])
    table = [line for line in lines[first:] if line.startswith("|") or not line]
    end = table.index("")
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:end]]


def spread(shares: list[float]) -> str:
    return "–".join(re.sub(r"^0", "", f"{share:.3f}") for share in (min(shares), max(shares)))


@pytest.mark.parametrize(
    ("suffix", "heading"),
    [("", "Share of *two-sided* intervals"), ("_lower", "And of the *one-sided lower bounds*")],
)
def test_coverage_tables_are_the_studys(suffix: str, heading: str) -> None:
    of_thirty = [one["found"] for one in STUDY["coverage"] if one["setting"]["dilemmas"] == 30]
    rows = rows_under(heading)
    assert [row[0] for row in rows] == list(NAMES)
    for name, *cells in rows:
        for method, cell in zip(METHODS, cells, strict=True):
            shares = [found[NAMES[name]].get(method + suffix) for found in of_thirty]
            assert cell == ("" if None in shares else spread(shares)), (name, method)


def test_passing_table_is_the_studys() -> None:
    for kappa, *cells in rows_under("How often a panel of that size passes"):
        found: list[dict[str, Any]] = [
            one["found"]["fleiss_kappa"] for one in STUDY["gate"] if one["kappa"] == float(kappa)
        ]
        assert len(found) == 3
        names = ("point_passes", "lower_passes")
        assert cells == [spread([one[name] for one in found]) for name in names]


def test_study_is_of_the_size_it_says() -> None:
    assert (STUDY["repetitions"], STUDY["gate_repetitions"], STUDY["draws"]) == (2000, 1000, 1000)
    assert len(STUDY["coverage"]) == 9 and "2,000 panels each, 1,000 draws" in PAGE
    for entry in STUDY["coverage"]:
        assert {one["repetitions"] for one in entry["found"].values()} == {2000}
