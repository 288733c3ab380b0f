"""What in a text gives its condition away, and a text without it.

Pure: no framework, no I/O but the word lists in `data/`. `find` reports, `blind` proposes. A
finding whose `suggestion` is None is for a person: nothing is cut out where a sentence would be
left with a hole. Every pattern is bounded, so that time grows in proportion to the text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from dilemmas import wording
from dilemmas.findings import Finding, Findings
from dilemmas.scaffold import Scaffold

__all__ = ["Finding", "Proposal", "blind", "find"]
_ADDRESSES = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]\"«»]{1,200}")
_ELIDED = re.compile(r"(?<!\w)[dlDL]['’]$")
_ARTICLES = {"d": "de ", "l": "el ", "D": "De ", "L": "El "}


@dataclass(frozen=True)
class Proposal:
    """A proposed text; `unsafe` are the findings left in it, `safe` if nothing that tells is."""

    text: str
    findings: tuple[Finding, ...]
    safe: bool
    unsafe: tuple[Finding, ...]


def find(text: str, *, condition_labels: Sequence[str] = (), language: str = "") -> list[Finding]:
    """Return what gives the condition away, in order and without overlaps.

    Kinds: `code`, `header`, `path`, `axis`, `name`, `model`, `self`, `condition`, and `ambiguous`
    for letters that are also ordinary words or acronyms and have no code around them, or for a
    condition's label that is an ordinary word. Suggestions are in `language` (ca, es, en), or in
    the one that the text seems to be in; in another one, codes in sentences are left to a person.
    """
    language = language[:2].lower() or wording.language_of(text)
    found = Findings(text)
    Scaffold(found, language).read()
    _addresses(found, language)
    for kind in ("name", "model"):
        _listed(found, kind, language)
    for match in _compiled("self").finditer(text):
        found.add("self", *match.span(), None)
    _conditions(found, condition_labels)
    return found.in_order()


def blind(text: str, *, condition_labels: Sequence[str] = (), language: str = "") -> Proposal:
    """Propose a text in which what can be replaced safely is replaced, and say what cannot."""
    language = language or wording.language_of(text)
    findings = tuple(find(text, condition_labels=condition_labels, language=language))
    pieces, at = [], 0
    for finding in findings:
        if finding.suggestion is not None:
            pieces += [text[at : finding.start], finding.suggestion]
            at = finding.end
    proposed = "".join([*pieces, text[at:]])
    unsafe = tuple(finding for finding in findings if finding.suggestion is None)
    safe = not unsafe and bool(proposed.strip() or not text.strip())
    if safe and findings:
        safe = not find(proposed, condition_labels=condition_labels, language=language)
    return Proposal(proposed, findings, safe, unsafe)


def _addresses(found: Findings, language: str) -> None:
    for match in _ADDRESSES.finditer(found.text):
        address = match[0].rstrip(".,;:!?")
        for kind, parts in wording.word_lists()["sites"].items():
            if any(part in address.lower() for part in parts):
                end = match.start() + len(address)
                found.add(kind, match.start(), end, _placeholder(language))


def _listed(found: Findings, kind: str, language: str) -> None:
    for match in _compiled(kind, "sure").finditer(found.text):
        start, instead = match.start(), _placeholder(language)
        elided = _ELIDED.search(found.text[max(0, start - 3) : start])
        if instead and elided and language == "ca":
            start, instead = start - 2, _ARTICLES[elided[0][0]] + instead
        found.add(kind, start, match.end(), instead)
    for match in _compiled(kind, "unsure").finditer(found.text):
        found.add(kind, *match.span(), None)


def _placeholder(language: str) -> str | None:
    instead: str | None = wording.word_lists()["placeholder"].get(language)
    return instead


def _conditions(found: Findings, condition_labels: Sequence[str]) -> None:
    """Find labels: after the word «condition», before it, and by themselves if they are long enough.

    A label that is an ordinary word («bare») is only asked about where it stands by itself.
    """
    labels = sorted({label for label in condition_labels if label.strip()}, key=len, reverse=True)
    if not labels:
        return
    word, every = wording.word_lists()["condition_word"], "|".join(map(_in_any_dress, labels))
    long = [label for label in labels if len(label) > 1]
    ordinary = [one for one in long if one.isalpha() and not one.isupper()]
    patterns = [
        ("condition", rf"{word}(?:\s{{0,2}}[:=–-]\s{{0,2}}|\s{{1,3}})[«\"“']?(?:{every})"),
    ]
    if long:
        names = "|".join(map(_in_any_dress, long))
        patterns.append(("condition", rf"(?:{names})[»\"”']?\s{{1,2}}{word}"))
    for kind, group in (("condition", set(long) - set(ordinary)), ("ambiguous", set(ordinary))):
        if group:
            names = "|".join(_in_any_dress(one) for one in labels if one in group)
            patterns.append((kind, rf"(?:{names})"))
    for kind, pattern in patterns:
        for match in re.finditer(rf"(?<!\w){pattern}(?!\w)", found.text):
            found.add(kind, *match.span(), None)


def _in_any_dress(label: str) -> str:
    """Return a pattern for a label: one of several words in any case and with any joint."""
    parts = [re.escape(part) for part in re.split(r"[-‑–_\s]+", label) if part]
    joined = r"[-‑–_\s]{1,3}".join(parts) or re.escape(label)
    return joined if label.isalpha() else f"(?i:{joined})"


@cache
def _compiled(kind: str, part: str = "") -> re.Pattern[str]:
    lists = wording.word_lists()
    patterns = lists[f"{kind}s"][part] if part else lists[kind]
    return re.compile(r"\b(?=\w)(?:" + "|".join(patterns) + r")(?!\w)")
