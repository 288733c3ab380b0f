from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import transaction
from django.utils import timezone

from awb_panel.accounts.models import User
from dilemmas.models import Blinding, ResponseSet
from dilemmas.services.blinding import decide_blinding
from dilemmas.services.importing import import_dilemmas, import_rubric
from dilemmas.services.responses import import_judgements, import_responses
from ratings.models import Panel
from ratings.services.freezing import freeze_panel
from ratings.services.invitations import accept, invite
from ratings.services.panels import create_panel, open_panel
from ratings.services.protocols import write_protocol

_SET = "demo-awb"
_JUDGES = (("Metgessa", "physician"), ("Filòsof", "philosopher"), ("Metge", "physician"))


# What the demonstration's coordinator rewrites by hand, where the program leaves it to a person.
_REWRITTEN = (
    (" Eixos tocats: D1, D2 i D3.", ""),
    ("Com a model de llenguatge, no puc substituir", "[No puc] substituir"),
    ("D1+, D2, D3-. Queda implícit l'eix plasma–món: què vol", "[Queda per pensar] què vol"),
)


def _edited(blinding: Blinding) -> dict[int, str]:
    """Return the program's proposal, rewritten where it holds something."""
    edited = {}
    for number, text in blinding.parts.values_list("number", "text"):
        for said, instead in _REWRITTEN:
            text = text.replace(said, instead)
        edited[number] = text
    return edited


class Command(BaseCommand):
    help = "Load the marked demonstration: 2 dilemmas × 5 conditions, a coordinator, three judges."

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if Panel.objects.filter(is_demo=True).exists():
            self.stdout.write("The demonstration is loaded already.")
            return
        now = timezone.now()
        coordinator = User.objects.create_user(
            "coordinacio@demo.invalid", is_owner=True, is_demo=True
        )
        panel = self._panel(coordinator, now)
        for blinding in Blinding.objects.newest_in(panel.response_set).undecided():
            decide_blinding(
                blinding_=blinding,
                texts=_edited(blinding),
                actor=coordinator.opaque_id,
                at=now,
                knowing=False,  # what still told would stop here
            )
        actor = coordinator.opaque_id
        changes = {"policy": "ordinal", "publish_missed": True, "contrasts": [["E", "A"]]}
        write_protocol(panel=panel, changes=changes, actor=actor, at=now)
        freeze_panel(panel=panel, actor=actor, at=now)
        open_panel(panel=panel, actor=actor, at=now)
        for number, (_name, profession) in enumerate(_JUDGES, start=1):
            invited = invite(
                panel=panel,
                email=f"jutge{number}@demo.invalid",
                role="judge",
                language="",
                profession=profession,
                actor=actor,
                at=now,
            )
            person = accept(invitation=invited.invitation, at=now)
            User.objects.filter(pk=person.pk).update(is_demo=True)
        self.stdout.write("The demonstration is loaded.")

    def _panel(self, coordinator: User, now: Any) -> Panel:
        folder = settings.BASE_DIR / "fixtures"
        actor = coordinator.opaque_id
        rubric, _new = import_rubric(
            content=(folder / "rubrics" / "awb-semantic.json").read_bytes(),
            name="awb-semantic.json",
            actor=actor,
            at=now,
        )
        demo = folder / "demo"
        import_dilemmas(
            content=(demo / "dilemmas.csv").read_bytes(),
            name="dilemmas.csv",
            collection=_SET,
            actor=actor,
            at=now,
        )
        import_responses(
            content=(demo / "responses.csv").read_bytes(),
            name="responses.csv",
            set_name=_SET,
            collection=_SET,
            uploader=coordinator,
            at=now,
        )
        import_judgements(
            content=(demo / "judgements.csv").read_bytes(),
            name="judgements.csv",
            set_name=_SET,
            actor=actor,
            at=now,
        )
        return create_panel(
            slug="demo",
            title="Demostració: dos dilemes",
            response_set=ResponseSet.objects.get(name=_SET),
            rubric_version=rubric,
            content_language="ca",
            coordinator=coordinator,
            at=now,
            is_demo=True,
        )
