"""Taking an import back until the freeze: what goes, what stays, and what is refused in words."""

import re

import pytest
from django.test import Client

from awb_panel.accounts.models import User
from dilemmas.models import (
    Blinding,
    BlindingConfirmation,
    Collection,
    Dilemma,
    ModelJudgement,
    Provenance,
    Response,
    ResponseSet,
    Rubric,
)
from dilemmas.services import provenance
from dilemmas.services.blinding import decide_blinding
from dilemmas.services.responses import import_judgements, import_responses
from ratings.models import Panel
from ratings.services.freezing import freeze_panel, obstacles
from tests.cast import NOW, draft_panel, table

pytestmark = pytest.mark.django_db
PAGE = "/coordinate/import/take-back/"


def as_(user: User) -> Client:
    client = Client(headers={"accept-language": "en"})
    client.force_login(user)
    return client


def text_of(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def own_panel():
    """A draft panel on two dilemmas × five responses that its owner imported."""
    cast = draft_panel(dilemmas=2)
    ResponseSet.objects.update(uploader=cast.owner)
    return cast


def scored(cast):
    """The panel's set with scores by two model judges."""
    rows = [
        {"dilemma": one.dilemma.code, "condition": one.condition.label, "judge": judge,
         "criterion": "opposition", "score": 1}
        for one in Response.objects.select_related("dilemma", "condition")
        for judge in ("m1", "m2")
    ]  # fmt: skip
    import_judgements(
        content=table(rows), name="j.csv", set_name=cast.panel.response_set.name, actor="", at=NOW
    )


def test_a_set_is_taken_back_with_what_hangs_on_it_and_filled_anew():
    cast = own_panel()
    scored(cast)
    owner, name = as_(cast.owner), cast.panel.response_set.name
    decide_blinding(
        blinding_=Blinding.objects.first(),
        texts={1: "Another text."},
        actor="someone",
        at=NOW,
    )
    asked = text_of(owner.get(PAGE, {"kind": "responses", "name": name}))
    assert "10 responses go." in asked
    assert "20 scores of model judges" in asked and "One decision on a text goes too." in asked
    assert Response.objects.count() == 10, "asking writes nothing"
    assert owner.post(PAGE, {"kind": "responses", "name": name}).status_code == 302
    assert not Response.objects.exists() and not ModelJudgement.objects.exists()
    assert not Blinding.objects.exists()
    assert ResponseSet.objects.filter(name=name).exists(), "a panel is made of it"
    assert Provenance.objects.filter(kind="taken_back").count() == 1
    assert provenance.broken_at() is None
    coordinator = as_(cast.coordinator)
    for page in ("", "blinding/", "order/", "protocol/", "freeze/", "judges/", "rubric/"):
        assert coordinator.get(f"/coordinate/{cast.panel.slug}/{page}").status_code == 200, page
    assert "no_responses" in {one.code for one in obstacles(Panel.objects.get())}
    code = Dilemma.objects.first().code
    rows = [{"dilemma": code, "condition": label, "text": f"Text {label}"} for label in "AB"]
    import_responses(
        content=table(rows),
        name="r.csv",
        set_name=name,
        collection=name,
        uploader=cast.owner,
        at=NOW,
    )
    assert Response.objects.count() == 2


def test_one_model_judges_scores_a_rubric_and_dilemmas_are_taken_back():
    cast = own_panel()
    scored(cast)
    owner, name = as_(cast.owner), cast.panel.response_set.name
    assert owner.post(PAGE, {"kind": "judgements", "name": name, "judge": "m1"}).status_code == 302
    assert set(ModelJudgement.objects.values_list("judge", flat=True)) == {"m2"}
    collection = Collection.objects.get()
    refused = owner.post(PAGE, {"kind": "dilemmas", "name": collection.name})
    assert refused.status_code == 422 and "take those back first" in text_of(refused)
    rubric = cast.panel.rubric_version.rubric.code
    refused = owner.post(PAGE, {"kind": "rubric", "name": rubric})
    assert refused.status_code == 422 and "choose another rubric there first" in text_of(refused)
    assert Rubric.objects.filter(code=rubric).exists()
    owner.post("/coordinate/import/", {"shipped": "rubric"}, follow=True)
    owner.post(PAGE, {"kind": "responses", "name": name})
    assert owner.post(PAGE, {"kind": "dilemmas", "name": collection.name}).status_code == 302
    assert not Dilemma.objects.exists()


def test_what_is_sealed_or_confirmed_stays():
    cast = own_panel()
    owner, name = as_(cast.owner), cast.panel.response_set.name
    first = Blinding.objects.first()
    decided = decide_blinding(blinding_=first, texts={1: "Another text."}, actor="someone", at=NOW)
    BlindingConfirmation.objects.create(blinding=decided, actor="another", at=NOW)
    refused = owner.post(PAGE, {"kind": "responses", "name": name})
    assert refused.status_code == 422 and "second person" in text_of(refused)
    freeze_panel(panel=cast.panel, actor="", at=NOW)
    for kind, of in (
        ("responses", name),
        ("dilemmas", Collection.objects.get().name),
        ("rubric", cast.panel.rubric_version.rubric.code),
    ):
        refused = owner.post(PAGE, {"kind": kind, "name": of})
        assert refused.status_code == 422 and "it is sealed" in text_of(refused), kind
    assert Response.objects.count() == 10


def test_nobody_takes_back_what_is_anothers():
    cast, other = draft_panel(), draft_panel(slug="other")
    for kind, name in (
        ("responses", cast.panel.response_set.name),
        ("responses", "none"),
        ("x", "y"),
    ):
        assert as_(other.owner).post(PAGE, {"kind": kind, "name": name}).status_code == 404
