"""The report's document beside agreement: judges, model judges, guesses, and the gate's company."""

import json

import pytest

from dilemmas.canonical import sha256_of_text
from dilemmas.models import ModelJudgement, Response
from dilemmas.services.responses import import_judgements
from ratings.models import Flag, Slot
from ratings.reports.inputs import read_inputs
from ratings.services import guessing, judging
from ratings.services.panels import close_panel
from ratings.services.reporting import compute_report
from tests.cast import CONDITIONS, CRITERIA, NOW, Cast, open_cast, rate_all, rate_slot, table

pytestmark = pytest.mark.django_db
CONTRAST = ["OKAPI", "TAPIR"]


def wavering(judge, dilemma, condition, key):
    """Judges mostly agree; the third is a level milder where the text allows it."""
    level = (len(condition) + int(dilemma[-1]) + len(key)) % 4
    return min(3, level + (judge == 2 and len(key) % 2))


def judged(cast: Cast, name: str, *, digest) -> None:
    """Let a model judge every response twice; `digest` gives the hash that it claims."""
    rows = []
    for response in Response.objects.filter(response_set=cast.panel.response_set):
        for repetition in (1, 2):
            for key in CRITERIA:
                level = wavering(0, response.dilemma.code, response.condition.label, key)
                rows.append(
                    {"dilemma": response.dilemma.code, "condition": response.condition.label,
                     "judge": name, "repetition": repetition, "criterion": key,
                     "score": (level + (repetition == 2 and response.pk % 3 == 0)) % 4,
                     "text_sha256": digest(response)}
                )  # fmt: skip
    import_judgements(content=table(rows), name="j.csv", set_name=cast.panel.slug, actor="", at=NOW)
    ModelJudgement.objects.filter(sealed_at=None).update(sealed_at=NOW)


def text_of(response: Response) -> str:
    parts = response.versions.get().blindings.order_by("-number").first().parts.order_by("number")
    return "\n\n".join(parts.values_list("text", flat=True))


def closed(**options) -> tuple[Cast, dict]:
    cast = open_cast(dilemmas=4, contrasts=[CONTRAST], guesses=5, **options)
    rate_all(cast, wavering)
    for number in range(3):
        seat = cast.seat(number)
        answers = {
            slot.pk: (slot.response.condition.label, "wording" if n else "quality")
            for n, slot in enumerate(guessing.asked(seat)[:4])
        }
        guessing.guess(judge=seat, answers=answers, at=NOW)
    first = cast.slots(0)[0]
    judging.flag(slot=first, kind=Flag.Kind.DOUBTFUL_FACT, note="", at=NOW)
    judged(cast, "same", digest=lambda response: sha256_of_text(text_of(response)))
    judged(cast, "unknown", digest=lambda response: "")
    judged(cast, "raw", digest=lambda response: sha256_of_text("What the judges never read."))
    close_panel(panel=cast.panel, actor="", at=NOW)
    return cast, json.loads(compute_report(panel=cast.panel, at=NOW).document)


def test_document_holds_judges_model_judges_guesses_and_the_gates_company():
    _, document = closed()
    assert document["schema_version"] == 4

    one = document["judge_figures"]["synthesis"]
    assert set(one["severity"]) == {"J1", "J2", "J3"}
    assert one["severity"]["J3"]["estimate"] > 0 > one["severity"]["J1"]["estimate"]
    assert [level["level"] for level in one["levels"]["J1"]] == [0, 1, 2, 3]
    assert set(one["trends"]) == {"", "J1", "J2", "J3"}
    assert one["trends"][""]["drift"]["n"] == 60
    assert one["repeats"] == {}
    assert one["length"]["panel"]["n"] == 20

    assert set(document["condition_totals"]) == set(CONDITIONS)
    assert 0 < document["condition_totals"]["OKAPI"]["mean"] < 1

    compared = document["human_model"]
    assert set(compared) == {"same", "unknown"}, "another text is no judgement of this one"
    n = 20 * 2 * len(CRITERIA)
    assert compared["same"]["text"] == {"same": n, "unknown": 0, "other": 0}
    assert compared["unknown"]["text"] == {"same": 0, "unknown": n, "other": 0}
    figures = compared["same"]["criteria"]["synthesis"]
    assert figures["judges"]["J1"]["n"] == figures["n_units"] == 20
    assert set(figures["people"]) == {"J1|J2", "J1|J3", "J2|J3"}
    assert figures["repetitions"] == 2
    assert figures["consistency"]["icc_1_1"]["estimate"] < 1
    assert [row["minuend"] for row in compared["same"]["affinity"]] == ["OKAPI"]
    tested = compared["same"]["alternative_annotator"]["units"]["synthesis"]
    assert tested["judges"]["J1"][0]["undefined"] == "too_few_pairs", "30 are needed"
    assert set(document["model_judges"]) == {"same", "unknown"}

    guessed = document["guesses"]
    assert guessed["n_judges"] == 3
    assert guessed["all"]["extended"] is True
    assert sum(map(sum, guessed["all"]["table"])) == 15
    right = sum(one["n_right"] for one in guessed["all"]["bang"].values())
    leaks = sum(one["n_right"] for one in guessed["leaks"]["bang"].values())
    assert (right, leaks) == (12, 9)

    beside = document["gate_beside"]
    parts = beside["criteria"]["synthesis"]["parts"]
    assert parts["without_flagged"]["n_ratings"] == 57
    assert parts["without_edited"] is None
    assert parts["first_seen"]["n_ratings"] == 12
    assert beside["criteria"]["synthesis"]["fills"]["missing"] == 0
    missed = [one["name"] for one in document["gate"]["criteria"] if one["verdict"] == "not_met"]
    assert missed == ["synthesis", "anchoring", "coherence"]
    by_criterion = [beside["criteria"][name]["changes"] for name in missed]
    assert beside["changes"] == sum(by_criterion) > 0, "each that misses must change"


def test_the_same_inputs_give_the_same_document():
    cast, document = closed()
    again = json.loads(compute_report(panel=cast.panel, at=NOW, reason="to see").document)
    assert again == document


def test_what_was_observed_is_part_of_what_is_hashed():
    cast, document = closed()
    Flag.objects.create(slot=cast.slots(1)[0], kind="attention", at=NOW)
    assert read_inputs(cast.panel, judges_planned=3).sha256() != document["inputs_sha256"]


def test_repeats_are_a_judges_agreement_with_oneself():
    cast = open_cast(judges=2, dilemmas=20, repeats=3, batch_size=40)
    for twice in Slot.objects.filter(judge=cast.seat(0), occasion=2):
        once = Slot.objects.get(judge=cast.seat(0), occasion=1, response=twice.response)
        level = twice.response_id % 4
        rate_slot(once, dict.fromkeys(CRITERIA, level))
        rate_slot(twice, dict.fromkeys(CRITERIA, min(3, level + 1)))
    close_panel(panel=cast.panel, actor="", at=NOW)
    document = json.loads(compute_report(panel=cast.panel, at=NOW).document)
    found = document["judge_figures"]["opposition"]["repeats"]
    assert set(found) == {"J1"}
    assert found["J1"]["n"] == 3
    assert found["J1"]["mean_difference"] == pytest.approx(1 - found["J1"]["n_same"] / 3)


def test_a_panel_that_nobody_rated_has_these_keys_too():
    cast = open_cast(judges=1)
    close_panel(panel=cast.panel, actor="", at=NOW)
    document = json.loads(compute_report(panel=cast.panel, at=NOW).document)
    assert (
        document["judge_figures"] == document["human_model"] == document["condition_totals"] == {}
    )
    assert document["guesses"] is None
    assert document["gate_beside"]["changes"] is None
