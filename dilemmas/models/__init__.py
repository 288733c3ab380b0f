"""What is judged: dilemmas, responses under conditions, rubrics, model judgements."""

from dilemmas.models.content import Collection, Dilemma, DilemmaText, DilemmaVersion
from dilemmas.models.judgements import ModelJudgement
from dilemmas.models.provenance import Provenance
from dilemmas.models.responses import (
    BlindedPart,
    Blinding,
    BlindingConfirmation,
    Condition,
    Response,
    ResponsePart,
    ResponseSet,
    ResponseVersion,
)
from dilemmas.models.rubrics import (
    Criterion,
    CriterionText,
    Level,
    LevelText,
    Rubric,
    RubricText,
    RubricVersion,
)

__all__ = [
    "BlindedPart",
    "Blinding",
    "BlindingConfirmation",
    "Collection",
    "Condition",
    "Criterion",
    "CriterionText",
    "Dilemma",
    "DilemmaText",
    "DilemmaVersion",
    "Level",
    "LevelText",
    "ModelJudgement",
    "Provenance",
    "Response",
    "ResponsePart",
    "ResponseSet",
    "ResponseVersion",
    "Rubric",
    "RubricText",
    "RubricVersion",
]
