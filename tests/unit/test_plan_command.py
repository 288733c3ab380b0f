"""`manage.py plan`: a table, JSON, and a sentence for what cannot be planned."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from ratings.agreement.planning import Outcome
from ratings.gate import LITERAL, ORDINAL
from ratings.services.planning import decide_by

QUICK = (
    "--policy",
    "literal",
    "--panels",
    "10",
    "--draws",
    "20",
    "--dilemmas",
    "8",
    "--criteria",
    "2",
)


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("plan", *QUICK, *arguments, stdout=out)
    return out.getvalue()


def test_table_is_read_by_people():
    shown = run(
        "--grid", ".5,.6", "--contrast-sd", ".1", "--margin", ".1", "--shares", ".1,.2,.3,.4"
    )
    assert "8 dilemmas x 5 responses, 3 of 3 judges each, 2 criteria, 4.0 hours per judge" in shown
    assert "true value needed for 80 % (all criteria): beyond this grid" in shown
    assert "lower limit above the margin" in shown


def test_json_holds_the_whole_plan():
    found = json.loads(run("--grid", ".6", "--json", "--judges", "4", "--per-response", "2"))
    assert found["policy"] == "literal"
    assert found["design"]["per_response"] == 2
    assert found["points"][0]["criterion"].keys() == {"met", "not_met", "undecidable", "error"}


def test_pilot_sets_the_shares(tmp_path):
    path = tmp_path / "pilot.csv"
    lines = [
        f"u{u},{rater},{(u * 7 + shift) % 3},d{u // 2}"
        for u in range(12)
        for rater, shift in (("a", 0), ("b", u % 5 == 0))
    ]
    path.write_text("unit,rater,score,cluster\n" + "\n".join(lines) + "\n")
    found = json.loads(run("--grid", ".6", "--json", "--pilot", str(path)))
    assert found["design"]["shares"][3] == 0
    assert sum(found["design"]["shares"]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--dilemmas", "1"), "dilemmas of 2 or more"),
        (("--shares", "a,b"), "numbers with commas"),
        (("--pilot", "nowhere.csv"), "nowhere.csv"),
    ],
)
def test_what_cannot_be_planned_ends_with_64(arguments, sentence):
    with pytest.raises(CommandError, match=sentence) as refused:
        run(*arguments)
    assert refused.value.returncode == 64


def test_the_gates_own_rules_decide():
    full = {"undefined": None, "required": 100, "rated": 100, "varies": True}
    good = Outcome(estimate=0.65, lower95=0.55, **full)
    assert decide_by(LITERAL)([good, good]) == (["met", "met"], "met")
    assert decide_by(ORDINAL)([good]) == (["not_met"], "not_met")
    missing = Outcome(estimate=0.65, lower95=0.55, **full | {"rated": 94})
    assert decide_by(LITERAL)([good, missing])[1] == "undecidable"
