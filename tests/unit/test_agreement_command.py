"""`manage.py agreement`: a table of ratings in, figures or one sentence out; never a database."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import krippendorff
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from ratings.agreement.reading import Names, parse_scale, read_table
from ratings.agreement.results import KEYS

ROOT = Path(__file__).resolve().parents[2]
LONG = """item_id,prompt_id,rater_id,criterion,score
i1,p1,ann,clarity,0
i1,p1,bob,clarity,0
i2,p1,ann,clarity,1
i2,p1,bob,clarity,2
i3,p2,ann,clarity,3
i3,p2,bob,clarity,3
i4,p2,ann,clarity,2
i4,p2,bob,clarity,2
i5,p3,ann,clarity,1
i5,p3,bob,clarity,1
i6,p4,ann,clarity,3
i6,p4,bob,clarity,
"""
WIDE = """item_id;ann;bob
i1;0;0
i2;1;2
i3;3;3
i4;2;2
i5;1;1
i6;3;
"""
# From the definitions, on the five pairs (0,0) (1,2) (3,3) (2,2) (1,1): 4 of 5 agree; Cohen's
# chance is (1*1 + 2*1 + 1*2 + 1*1) / 25 = 6/25, so kappa = (4/5 - 6/25) / (19/25) = 14/19. Alpha's
# marginals are 2, 3, 3, 2 of 10: expected = (100 - 26) / 90 = 37/45, observed 1/5, so 1 - 9/37.
COHEN, ALPHA = 14 / 19, 1 - 9 / 37


@pytest.fixture
def run(tmp_path, capsys):
    """Run the command on a text; return what it printed, and what it noted."""

    def act(text: str, *options: str, scale: str = "0-3", encoding: str = "utf-8", **streams):
        path = tmp_path / "ratings.csv"
        path.write_bytes(text.encode(encoding))
        call_command("agreement", str(path), "--scale", scale, *options, **streams)
        return capsys.readouterr()

    return act


def refused(run, text: str, *options: str, **named) -> str:
    with pytest.raises(CommandError) as error:
        run(text, *options, **named)
    assert error.value.returncode == 64
    return str(error.value)


def test_json_has_every_key_and_the_values_of_the_definitions(run):
    document = json.loads(run(LONG, "--json", "--draws", "200").out)
    one = document["criteria"]["clarity"]
    assert (one["n_units"], one["n_raters"], one["n_ratings"]) == (6, 2, 11)
    assert set(one["coefficients"]) == set(KEYS)
    for found in one["coefficients"].values():
        assert set(found) == {
            "estimate", "undefined", "ci95", "percentile95", "lower95", "n_units",
        }  # fmt: skip
    pair = one["pairs"]["ann|bob"]
    assert set(pair) == {"n", "cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic"}
    assert pair["n"] == 5 and pair["cohen_kappa"] == pytest.approx(COHEN, abs=1e-12)
    alpha = one["coefficients"]["krippendorff_alpha_nominal"]
    assert alpha["estimate"] == pytest.approx(ALPHA, abs=1e-12)
    assert set(one["leave_one_out"]) == {"ann", "bob"}
    assert one["leave_one_out"]["ann"]["krippendorff_alpha_nominal"] is None


def test_wide_tables_give_the_same_figures(run):
    long = json.loads(run(LONG.replace("clarity", "score"), "--json", "--draws", "0").out)
    wide = json.loads(run(WIDE, "--wide", "--json", "--draws", "0").out)
    first, second = long["criteria"]["score"], wide["criteria"]["score"]
    assert first["pairs"] == second["pairs"]
    for key in KEYS:
        assert first["coefficients"][key]["estimate"] == second["coefficients"][key]["estimate"]


def test_columns_may_be_called_otherwise(run):
    renamed = LONG.replace("item_id", "text").replace("rater_id", "who").replace("score", "mark")
    options = ("--unit", "text", "--rater", "who", "--score", "mark", "--json", "--draws", "0")
    assert json.loads(run(renamed, *options).out)["criteria"]["clarity"]["n_units"] == 6


def test_what_a_person_reads_names_figures_pairs_and_method(run):
    out = run(LONG, "--draws", "500", "--seed", "7").out
    assert "clarity: 6 units, 2 raters, 11 ratings" in out
    assert f"{ALPHA:.4f}" in out and f"{COHEN:.4f}" in out
    assert "ann|bob" in out and "n = 5   few units in common" in out
    assert "500 draws of clusters, seed 7" in out


def test_without_clusters_each_unit_is_one_and_that_is_said(run):
    noted = run(WIDE, "--wide", "--json", "--draws", "0")
    assert "each unit is its own cluster" in noted.err
    assert "cluster" not in run(LONG, "--json", "--draws", "0").err


def test_same_seed_same_bits_other_seed_other_draws(run):
    more = LONG.removesuffix("bob,clarity,\n") + "bob,clarity,2\n"  # four clusters that count
    first, again, other = (
        run(more, "--json", "--draws", "300", "--seed", seed).out for seed in ("1", "1", "2")
    )
    assert first == again != other


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            ("i4,p2,bob,clarity,2", "i4,p2,bob,clarity,7"),
            "Row 9 (unit i4, rater bob) has the score 7",
        ),
        (("i4,p2,bob,clarity,2", "i4,p2,bob,clarity,good"), "Row 9 (unit i4, rater bob)"),
        (("i4,p2,bob,clarity,2", "i1,p1,ann,clarity,2"), "what row 2 rates already"),
        (("i4,p2,bob", "i4,p1,bob"), "a unit belongs to one cluster"),
        (("rater_id", "who"), 'no column "rater_id"'),
        (("i4,p2,bob,clarity,2", "i4,p2,bob,clarity,2,9"), "Line 9 has 6 fields"),
        (("i4,p2,bob,clarity", "i4,p2,,clarity"), "Row 9 has no rater"),
        (("bob", "ann "), "rates a second time"),
    ],
)
def test_bad_rows_are_named_with_the_remedy(run, change, says):
    assert says in refused(run, LONG.replace(*change))


def test_a_column_that_was_named_and_is_missing_is_an_error(run):
    assert 'no column "theme"' in refused(run, LONG, "--cluster", "theme")


def test_one_rater_is_refused(run):
    only = "\n".join(line for line in LONG.splitlines() if "bob" not in line)
    assert "by one rater, ann" in refused(run, only)


@pytest.mark.parametrize("text", ["", "\n", "item_id,rater_id,score\n"])
def test_empty_files_are_refused(run, text):
    assert refused(run, text)


def test_another_encoding_is_refused(run):
    assert "CSV UTF-8" in refused(run, LONG.replace("ann", "Núria"), encoding="utf-16")


def test_file_that_is_not_there_and_options_that_make_no_sense(run, tmp_path):
    with pytest.raises(CommandError) as error:
        call_command("agreement", str(tmp_path / "none.csv"), "--scale", "0-3")
    assert error.value.returncode == 64 and "No such file" in str(error.value)
    assert "Draws" in refused(run, LONG, "--draws", "-1")
    assert "level" in refused(run, LONG, scale="good,bad")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_takes_long_shows_how_far_it_is_on_a_terminal_alone(run):
    rows = [f"{u},c{u % 9},{r},{(u * 7 + r) % 4}" for u in range(100_000) for r in (1, 2)]
    text = "\n".join(["item_id,prompt_id,rater_id,score", *rows])
    terminal, file = Terminal(), io.StringIO()
    run(text, "--draws", "2000", "--json", stderr=terminal)
    steps = terminal.getvalue().split("\r")
    assert steps[1] == f"[{'#' * 20}{' ' * 20}] 1,000 of 2,000 draws "
    assert f"[{'#' * 40}] 2,000 of 2,000 draws" in steps[2]
    run(text, "--draws", "1000", "--json", stderr=file)
    run(LONG, "--draws", "1000", "--json", stderr=(short := Terminal()))
    assert file.getvalue() == short.getvalue() == ""


def test_library_that_says_otherwise_ends_it(run, monkeypatch):
    right = krippendorff.alpha
    monkeypatch.setattr(krippendorff, "alpha", lambda **named: right(**named) + 2e-9)
    assert "the engine gives" in refused(run, LONG)


def test_runs_without_settings_of_any_kind_and_leaves_no_database(tmp_path):
    """As on a bare clone: nothing in the environment; the exit code and the stream are the real ones."""
    (tmp_path / "good.csv").write_text(LONG)
    (tmp_path / "bad.csv").write_text(LONG.replace("i4,p2,bob,clarity,2", "i4,p2,bob,clarity,9"))
    ran = {
        name: subprocess.run(
            [sys.executable, ROOT / "manage.py", "agreement", f"{name}.csv", "--scale", "0-3"],
            cwd=tmp_path, env={"PATH": os.defpath}, capture_output=True, text=True, check=False,
        )
        for name in ("good", "bad")
    }  # fmt: skip
    assert (ran["good"].returncode, ran["good"].stderr) == (0, "")
    assert "clarity: 6 units, 2 raters, 11 ratings" in ran["good"].stdout
    assert (ran["bad"].returncode, ran["bad"].stdout) == (64, "")
    assert "Row 9 (unit i4, rater bob) has the score 9" in ran["bad"].stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "good.csv"]


def test_scales_are_ranges_or_lists():
    assert parse_scale("0-3") == (0, 1, 2, 3)
    assert parse_scale("-1-1") == (-1, 0, 1)
    assert parse_scale("0, 0.5, 1") == (0, 0.5, 1)


def test_spaces_around_names_are_left_out_and_told(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(LONG.replace("i1,p1,ann", "i1 ,p1,ann"))
    table = read_table(path, parse_scale("0-3"), Names())
    assert table.matrices["clarity"].units[0] == "i1"
    assert any("Spaces around" in warning for warning in table.warnings)
