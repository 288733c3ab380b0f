"""PURE. Looking in many texts for what tells their condition: on every core if there are many."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dilemmas.blinding import Proposal, blind

Text = tuple[str, str]  # the raw text, its language
_PIECE = 100
_MANY = 2_000_000  # characters: about three seconds on one core, and cores take one to start
_WHO = re.compile(
    r"\bwho (?:are|made) you\b|\b(?:what|which) (?:\w+ )?(?:model|ai|system) are you\b"
    r"|\bare you an? (?:ai|machine|robot|language model|human|person)\b"
    r"|\bqui (?:ets|sou|t'ha fet)\b|\bquin (?:model|sistema) (?:ets|sou)\b|\bquina IA (?:ets|sou)\b"
    r"|\b(?:ets|sou) una? (?:IA|màquina|robot|model de llenguatge)\b"
    r"|\bquién (?:eres|te ha hecho|es usted)\b|\bqué (?:modelo|sistema|IA) (?:eres|es usted)\b"
    r"|\b(?:eres|es usted) una? (?:IA|máquina|robot|modelo de lenguaje)\b",
    re.IGNORECASE,
)


def asks_who(text: str) -> bool:
    """Tell whether a prompt may ask the system who it is, and so invite it to say so."""
    return _WHO.search(text) is not None


def proposals(
    texts: Sequence[Text], *, labels: Sequence[str], many: int = _MANY
) -> Iterator[Proposal]:
    """Yield a proposal for each text, in order."""
    pieces = (texts[start : start + _PIECE] for start in range(0, len(texts), _PIECE))
    if sum(len(raw) for raw, _language in texts) < many:
        for piece in pieces:
            yield from _propose(piece, labels)
        return
    # Only who imports a large file needs it: no page waits for it to load.
    from joblib import Parallel, delayed

    made: Any = Parallel(n_jobs=-1, return_as="generator")(
        delayed(_propose)(piece, labels) for piece in pieces
    )
    for some in made:
        yield from some


def _propose(texts: Sequence[Text], labels: Sequence[str]) -> list[Proposal]:
    return [blind(raw, condition_labels=labels, language=language) for raw, language in texts]
