"""The labelled sentences: nothing that tells is missed, no sentence is broken, look-alikes stay."""

from pathlib import Path

import pytest

from dilemmas import wording
from tests.unit import labelled_sentences as labelled
from tests.unit.labelled_sentences import Sentence

SENTENCES = labelled.read()
DOCS = Path(__file__).resolve().parents[2] / "docs" / "blinding.md"


def test_there_are_enough_of_each_language_and_kind() -> None:
    assert len(SENTENCES) >= 220
    for language in ("ca", "es", "en"):
        own = [sentence for sentence in SENTENCES if sentence.language == language]
        assert len(own) > 100
        assert sum(not any(s.kind != "ask" for s in one.spans) for one in own) > 25
        kinds = {span.kind for sentence in own for span in sentence.spans}
        assert kinds >= {"code", "path", "axis", "name", "model", "self", "condition", "ask"}


def test_nothing_that_tells_is_missed_and_little_else_is_found() -> None:
    score = labelled.measure(SENTENCES)
    assert score.missed == ()
    assert score.precision >= 0.99, score.false
    assert score.precision_with_questions >= 0.92


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda sentence: sentence.text[:40])
def test_sentence_is_blinded_or_held(sentence: Sentence) -> None:
    proposal = sentence.blind()
    assert proposal.safe == (sentence.blinded is not None)
    if sentence.blinded is not None:
        assert proposal.text == sentence.blinded
        if any(span.kind == "code" for span in sentence.spans):
            assert not wording.split(proposal.text)
    else:
        assert tuple(finding.text for finding in proposal.unsafe) == sentence.held
        assert all(text in proposal.text for text in sentence.held)


def test_docs_print_these_figures() -> None:
    page = DOCS.read_text(encoding="utf-8")
    score = labelled.measure(SENTENCES)
    for part in (labelled.table(score), labelled.summary(SENTENCES, score)):
        assert part in page, f"docs/blinding.md should have:\n{part}"
