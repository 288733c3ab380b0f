"""Importing content, in one place: dilemmas and rubrics; responses and scores are in `responses`."""

from dilemmas.services.dilemmas import import_dilemmas
from dilemmas.services.outcomes import Outcome, Progress
from dilemmas.services.reading import refuse_one
from dilemmas.services.rubrics import import_rubric, write_rubric

__all__ = [
    "Outcome", "Progress", "import_dilemmas", "import_rubric", "refuse_one", "write_rubric",
]  # fmt: skip
