"""The marked demonstration: two open panels, in Catalan and in English, and a closed one.

Texts and two judges' ratings are written by hand (`fixtures/demo`); the scores of the closed panel
are generated here from a fixed seed, so that every installation shows the same figures.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction

from awb_panel.accounts.models import User
from dilemmas.canonical import sha256_of_text
from dilemmas.models import Blinding, Dilemma, ResponseSet, RubricVersion
from dilemmas.services.blinding import decide_blinding
from dilemmas.services.importing import import_dilemmas, import_rubric
from dilemmas.services.responses import import_judgements, import_responses
from ratings.design.random64 import Random64
from ratings.models import Judge, Panel
from ratings.services import judging
from ratings.services.answers import CANNOT, field_name
from ratings.services.freezing import freeze_panel
from ratings.services.invitations import accept, invite
from ratings.services.judging import Change
from ratings.services.panels import close_panel, create_panel, open_panel
from ratings.services.protocols import write_protocol

COLLECTION = "AWB"
CONDITIONS = ("A", "B", "C", "D", "E")
CRITERIA = ("opposition", "synthesis", "anchoring", "coherence")
PROFESSIONS = ("physician", "philosopher", "physician")
# Responses left undone: the second judge has stopped in the middle of a batch; the third seat waits
# for the visitor.
_LEFT = (0, 6, None)
# With it the responses on which all reasons are asked for are those for which all were written.
_ORDER_SEED = 56
_FIXTURES = Path(settings.BASE_DIR) / "fixtures"
_TITLES = {"ca": "Demostració: sis dilemes", "en": "Demonstration: six dilemmas"}
_SEATS = {"ca": "jutge", "en": "judge"}

_GENERATED_TITLE = "Demostració: un panell tancat"
_GENERATED_TEXT = (
    "[Text de demostració. D'aquesta resposta només se'n van generar les puntuacions, per ensenyar "
    "com és un informe de trenta dilemes i cinc condicions. Ningú no la va escriure ni la va llegir.]"
)

Answers = Mapping[str, str]  # of one response: field → value
Place = tuple[str, str]  # dilemma's code, condition's label


@dataclass(frozen=True)
class _Content:
    """What a demo panel is made of."""

    slug: str
    title: str
    language: str
    responses: bytes
    judgements: bytes
    rewritten: Sequence[tuple[str, str]]  # by hand, where blinding leaves a text to a person
    rationales: str


@transaction.atomic
def load(*, at: datetime) -> list[Panel]:
    """Load content, people and panels, once. No report is computed yet for the closed one."""
    coordinator = User.objects.create_user("coordinacio@demo.invalid", is_owner=True, is_demo=True)
    actor = coordinator.opaque_id
    rubric, _new = import_rubric(
        content=_read("rubrics/awb-semantic.json"), name="awb-semantic.json", actor=actor, at=at
    )
    dilemmas = _read("dilemmas/awb.json")
    import_dilemmas(content=dilemmas, name="awb.json", collection=COLLECTION, actor=actor, at=at)
    started = at - timedelta(days=9)
    panels = [_written(language, coordinator, rubric, started) for language in _TITLES]
    return [*panels, _generated(coordinator, rubric, at - timedelta(days=40))]


def _written(language: str, coordinator: User, rubric: RubricVersion, at: datetime) -> Panel:
    """The open panel of one language, with what its first two judges wrote."""
    folder = f"demo/{language}"
    content = _Content(
        slug="demo" if language == "ca" else f"demo-{language}",
        title=_TITLES[language],
        language=language,
        responses=_read(f"{folder}/responses.csv"),
        judgements=_read(f"{folder}/judgements.csv"),
        rewritten=[(row["said"], row["instead"]) for row in _rows(f"{folder}/rewritten.csv")],
        rationales="one",
    )
    panel = _opened(content, coordinator, rubric, at)
    written: dict[str, dict[Place, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for row in _rows(f"{folder}/ratings.csv"):
        answer = row["score"] or CANNOT + row["missing"]
        written[row["judge"]][_place(row)] |= {
            field_name(0, row["criterion"], "answer"): answer,
            field_name(0, row["criterion"], "rationale"): row["rationale"],
        }
    for number, profession in enumerate(PROFESSIONS, start=1):
        judge = _seat(panel, f"{_SEATS[language]}{number}@demo.invalid", profession, at)
        if (left := _LEFT[number - 1]) is not None:
            _rate(judge, written[judge.code], limit=len(written[judge.code]) - left, at=at)
    return panel


def _generated(coordinator: User, rubric: RubricVersion, at: datetime) -> Panel:
    """The closed panel: thirty dilemmas, five conditions, three judges and a model judge."""
    codes = Dilemma.objects.filter(collection__name=COLLECTION).order_by("code")
    places = [
        (code, label) for code in codes.values_list("code", flat=True) for label in CONDITIONS
    ]
    scores = _Scores(places, seed=2026)
    digest = sha256_of_text(_GENERATED_TEXT)
    content = _Content(
        slug="demo-closed",
        title=_GENERATED_TITLE,
        language="ca",
        responses=_csv(
            ("dilemma", "condition", "text", "generator", "replicate", "language"),
            [(*place, _GENERATED_TEXT, "demo", 1, "ca") for place in places],
        ),
        judgements=_csv(
            ("dilemma", "condition", "generator", "replicate", "judge", "repetition", "criterion",
             "score", "model_version", "text_sha256"),
            [
                (*place, "demo", 1, "model-judge", repetition, criterion, score, "demo", digest)
                for place in places
                for repetition in (1, 2, 3)
                for criterion, score in scores.by_model(place)
            ],
        ),
        rewritten=[],
        rationales="none",
    )  # fmt: skip
    panel = _opened(content, coordinator, rubric, at)
    for number, profession in enumerate(PROFESSIONS):
        judge = _seat(panel, f"closed{number + 1}@demo.invalid", profession, at, visits=False)
        answers = {
            place: {
                field_name(0, key, "answer"): str(score)
                for key, score in scores.by_judge(place, number)
            }
            for place in places
        }
        _rate(judge, answers, limit=len(places), at=at)
    return close_panel(panel=panel, actor=coordinator.opaque_id, at=at + timedelta(days=30))


def _opened(content: _Content, coordinator: User, rubric: RubricVersion, at: datetime) -> Panel:
    """Import the responses, and take the panel from draft to open."""
    actor, name = coordinator.opaque_id, content.title
    import_responses(
        content=content.responses,
        name="responses.csv",
        set_name=name,
        collection=COLLECTION,
        uploader=coordinator,
        at=at,
    )
    import_judgements(
        content=content.judgements, name="judgements.csv", set_name=name, actor=actor, at=at
    )
    panel = create_panel(
        slug=content.slug,
        title=content.title,
        response_set=ResponseSet.objects.get(name=name),
        rubric_version=rubric,
        content_language=content.language,
        coordinator=coordinator,
        at=at,
        is_demo=True,
    )
    for blinding in Blinding.objects.newest_in(panel.response_set).undecided():
        (text,) = blinding.parts.values_list("text", flat=True)
        for said, instead in content.rewritten:
            text = text.replace(said, instead)
        # not knowing: a text that still told would stop here
        decide_blinding(blinding_=blinding, texts={1: text}, actor=actor, at=at, knowing=False)
    changes = {
        "policy": "ordinal",
        "publish_missed": True,
        "contrasts": [["E", "A"], ["E", "D"]],
        "rationales": content.rationales,
        "order_seed": _ORDER_SEED,
        "judges_qualification": "medicina o filosofia"
        if content.language == "ca"
        else "medicine or philosophy",
    }
    write_protocol(panel=panel, changes=changes, actor=actor, at=at)
    freeze_panel(panel=panel, actor=actor, at=at)
    return open_panel(panel=panel, actor=actor, at=at)


def _seat(panel: Panel, email: str, profession: str, at: datetime, *, visits: bool = True) -> Judge:
    """Invite a judge who accepts at once. Only who `visits` stands at the demonstration's door."""
    invited = invite(
        panel=panel,
        email=email,
        role="judge",
        language="",
        profession=profession,
        actor="",
        at=at,
    )
    person = accept(invitation=invited.invitation, at=at)
    User.objects.filter(pk=person.pk).update(is_demo=visits)
    return Judge.objects.get(panel=panel, user=person)


def _rate(judge: Judge, answers: Mapping[Place, Answers], *, limit: int, at: datetime) -> None:
    """Write a judge's answers in the served order, a batch a day; whole batches are handed in."""
    language = judge.panel.content_language
    judging.consent(judge=judge, language=language, conflicts="", exposure="no", at=at)
    left = limit
    for batch in judge.batches.order_by("number"):
        day = at + timedelta(days=batch.number)
        slots = batch.slots.select_related("response__dilemma", "response__condition")
        for slot in slots.order_by("position")[:left]:
            place = (slot.response.dilemma.code, slot.response.condition.label)
            moment = day + timedelta(minutes=6 * slot.position)
            changes = {name: Change("", value) for name, value in answers[place].items()}
            judging.save(slot=slot, changes=changes, at=moment)
            judging.done(slot=slot, language=language, at=moment + timedelta(seconds=5))
        left -= batch.slots.count()
        if left < 0:
            return
        judging.hand_in(batch=batch, at=day + timedelta(hours=2))
        if not left:
            return


class _Scores:
    """Scores from a latent quality, cut into four levels: dilemma, response, judge and noise.

    The cuts and spreads are chosen for a report worth looking at: agreement about the threshold,
    one criterion weaker than the others, one judge more severe.
    """

    _EFFECTS = {"A": 0.0, "B": 0.1, "C": -0.3, "D": 0.4, "E": 0.8}
    _NOISE = {"opposition": 0.55, "synthesis": 0.5, "anchoring": 0.75, "coherence": 0.5}
    _SEVERITY = (0.0, -0.25, 0.1)
    _CUTS = (-1.0, 0.2, 1.3)

    def __init__(self, places: Sequence[Place], *, seed: int) -> None:
        self._random = Random64(seed)
        dilemmas = {code: self._normal() * 0.5 for code, _label in places}
        self._quality = {
            (place, key): dilemmas[place[0]] + self._EFFECTS[place[1]] + self._normal()
            for place in places
            for key in CRITERIA
        }

    def by_judge(self, place: Place, judge: int) -> list[tuple[str, int]]:
        """Return a judge's score on each criterion."""
        return [(key, self._level(place, key, -self._SEVERITY[judge])) for key in CRITERIA]

    def by_model(self, place: Place) -> list[tuple[str, int]]:
        """Return one repetition of the model judge, who likes the condition that has its rubric."""
        liking = 0.5 if place[1] == "E" else 0.0
        return [(key, self._level(place, key, liking)) for key in CRITERIA]

    def _level(self, place: Place, key: str, shift: float) -> int:
        latent = self._quality[place, key] + shift + self._normal() * self._NOISE[key]
        return sum(latent > cut for cut in self._CUTS)

    def _normal(self) -> float:
        """Twelve uniform numbers, summed: as near to a normal one as a demonstration needs."""
        return sum(self._random.below(1 << 32) for _ in range(12)) / (1 << 32) - 6.0


def _read(name: str) -> bytes:
    return (_FIXTURES / name).read_bytes()


def _rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(_read(name).decode(), newline="")))


def _csv(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerows([columns, *rows])
    return file.getvalue().encode()


def _place(row: Mapping[str, str]) -> Place:
    return row["dilemma"], row["condition"]
