"""What in a text gives its condition away, and a text without it.

Pure: no framework, no I/O but the word lists in `data/`. `find` reports, `blind` proposes. A
finding whose `suggestion` is None is for a person: nothing is cut out where a sentence would be
left with a hole. Every pattern is bounded, so that time grows in proportion to the text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from dilemmas import wording
from dilemmas.wording import ARROWS, CODE

_LINK = rf"(?:\s{{0,2}}(?:[{ARROWS}]|<?[-=]>)\s{{0,2}}|[-‑–—/·>+])"
_CHAIN = rf"{CODE}(?:{_LINK}{CODE}){{0,11}}"
_AXIS = r"(?<!\w)D[1-4](?:[+−-](?!\w))?(?!\w)"
_BETWEEN = rf"(?:{_LINK}|\s{{0,2}}[,;]\s{{0,2}}|\s(?:i|y|e|and|&)\s)"
_UNITS = rf"\s{{0,2}}(?:{CODE}|{_AXIS})(?:{_BETWEEN}(?:{CODE}|{_AXIS})){{0,11}}\s{{0,2}}"
_LEAD = r"^[ \t]{0,8}(?:(?:[-*•+>]|\d{1,3}[.)])[ \t]{1,3}){0,2}"
_HEADINGS = (
    re.compile(
        rf"{_LEAD}(?:#{{1,6}}[ \t]{{1,3}})?(?P<mark>\*\*|__)(?P<codes>{_CHAIN})"
        rf"(?P<tail>[^*_\n]{{0,160}}?)(?P=mark)(?P<after>[^\n]{{0,3}})",
        re.MULTILINE,
    ),
    re.compile(
        rf"^[ \t]{{0,3}}#{{1,6}}[ \t]{{1,3}}(?P<mark>)(?P<codes>{_CHAIN})"
        r"(?P<tail>[^*_\n]{0,160})(?P<after>)$",
        re.MULTILINE,
    ),
    re.compile(
        rf"{_LEAD}(?P<mark>)(?P<codes>{_CHAIN})(?P<tail>[:.](?=\s)|[ ][—–][ ])(?P<after>.?)",
        re.MULTILINE,
    ),
)
_CHAINS = re.compile(rf"{CODE}(?:{_LINK}{CODE}){{1,11}}")
_BRACKETS = re.compile(rf"[ \t]{{0,3}}(?<!\])[(\[]({_UNITS})[)\]](?!\()")
_PATHS = re.compile(r"\[(?i:path):[^\]\n]{0,200}\]?")
_ADDRESSES = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]\"«»]{1,200}")


@dataclass(frozen=True)
class Finding:
    """One thing that tells; `text` is `[start:end]` of what was read.

    `suggestion` replaces exactly that span: empty to leave it out, None if a person must decide.
    """

    kind: str
    start: int
    end: int
    text: str
    suggestion: str | None


@dataclass(frozen=True)
class Proposal:
    """A proposed text; `unsafe` are the findings left in it, `safe` if nothing that tells is."""

    text: str
    findings: tuple[Finding, ...]
    safe: bool
    unsafe: tuple[Finding, ...]


def find(text: str, *, condition_labels: Sequence[str] = (), language: str = "ca") -> list[Finding]:
    """Return what gives the condition away, in order and without overlaps.

    Kinds: `code`, `header`, `path`, `axis`, `name`, `model`, `self`, `condition`, and `ambiguous`
    for letters that are also ordinary words or acronyms and have no code around them. Suggestions
    are in `language` (ca, es, en); in another one, codes inside sentences are left to a person.
    """
    return _Reader(text, tuple(condition_labels), language[:2].lower()).read()


def blind(text: str, *, condition_labels: Sequence[str] = (), language: str = "ca") -> Proposal:
    """Propose a text in which what can be replaced safely is replaced, and say what cannot."""
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


class _Reader:
    """One reading of one text. What is found first keeps its span; nothing overlaps it."""

    def __init__(self, text: str, labels: tuple[str, ...], language: str) -> None:
        self.text, self.labels, self.language = text, labels, language
        self.placeholder: str | None = wording.word_lists()["placeholder"].get(language)
        self.taken = bytearray(len(text))
        self.findings: list[Finding] = []
        known = wording.codes()
        self.tokens = [m for m in wording.CODES.finditer(text) if wording.base(m[0]) in known]
        self.coded = self._is_coded()

    def read(self) -> list[Finding]:
        self._paths()
        self._headers()
        self._brackets()
        self._chains()
        self._single_codes()
        self._axes()
        self._addresses()
        self._listed("name")
        self._listed("model")
        for match in _compiled("self").finditer(self.text):
            self._add("self", *match.span(), None)
        self._conditions()
        return sorted(self.findings, key=lambda finding: finding.start)

    def _add(self, kind: str, start: int, end: int, suggestion: str | None) -> None:
        if 1 in self.taken[start:end]:
            return
        self.taken[start:end] = b"\1" * (end - start)
        self.findings.append(Finding(kind, start, end, self.text[start:end], suggestion))

    def _is_coded(self) -> bool:
        """Whether the text uses codes at all, so that MIT or EST in it would be one of them."""
        if any(not wording.is_also_a_word(m[0]) and not self._shouted(m) for m in self.tokens):
            return True
        if len({wording.base(m[0]) for m in self.tokens if not self._shouted(m)}) > 3:
            return True
        arrow = re.compile(rf"[{ARROWS}]|[-=]>")
        linked = (m[0] for m in _CHAINS.finditer(self.text) if arrow.search(m[0]))
        return any(len(wording.split(chain)) > 1 for chain in linked) or any(
            wording.split(m[0]) for m in _PATHS.finditer(self.text)
        )

    def _shouted(self, token: re.Match[str]) -> bool:
        """Whether words in capitals that are no codes stand around: a shouted title or sentence."""
        around = wording.words(self.text[max(0, token.start() - 30) : token.start()])[-2:]
        around += wording.words(self.text[token.end() : token.end() + 30])[:2]
        loud = [w for w in around if len(w) > 1 and w.isupper() and w not in wording.codes()]
        return len(loud) >= 2

    def _paths(self) -> None:
        for match in _PATHS.finditer(self.text):
            start, end = match.span()
            if not match[0].endswith("]"):
                self._add("path", start, end, None)
                continue
            alone = not self.text[max(0, start - 80) : start].rpartition("\n")[2].strip()
            if alone:
                end += len(_spaces(self.text[end : end + 20], "\r\n \t"))
            else:
                start -= len(_spaces(self.text[max(0, start - 20) : start][::-1], " "))
            self._add("path", start, end, "")

    def _headers(self) -> None:
        for pattern in _HEADINGS if self.tokens else ():
            for match in pattern.finditer(self.text):
                codes = wording.split(match["codes"])
                if not codes:
                    continue
                glossed = wording.is_name_of(codes[0], match["tail"].strip(" —–-:."))
                if not self.coded and not glossed and all(map(wording.is_also_a_word, codes)):
                    continue
                for start, end, label in self._heading(match, codes):
                    self._add("header", start, end, label)

    def _heading(
        self, match: re.Match[str], codes: list[str]
    ) -> Iterator[tuple[int, int, str | None]]:
        """Yield the span of a heading and what replaces it; nothing if it is running text."""
        start, end, mark = match.start("codes"), match.end("tail"), match["mark"]
        tail = re.sub(rf"[ \t]{{0,3}}\({_UNITS}\)", "", match["tail"])
        gloss = re.match(r"\s{0,3}[—–:-]\s{1,3}(?=\S)", tail)
        if not mark and tail in (" — ", " – "):  # running text, unless the code's name follows
            if wording.is_name_of(codes[0], self.text[end : end + 40]):
                yield start, end + 1, match["after"].upper()
        elif gloss:
            rest = tail[gloss.end() :]
            yield start, end, None if wording.split(rest) else wording.capital(rest)
        elif tail.strip() in (".", ":", "—", "–") or (
            not tail.strip() and (not mark or re.match(r"$|[.:\r]|\s[—–:]", match["after"]))
        ):
            names = wording.joined_names(codes, self.language)
            yield start, end, None if names is None else wording.capital(names) + tail

    def _brackets(self) -> None:
        for match in _BRACKETS.finditer(self.text):
            codes = wording.split(match[1])
            if not self.coded and all(map(wording.is_also_a_word, codes)):
                continue
            if not codes and not re.search(_AXIS, match[1]):
                continue
            start, end = match.span()
            before, after = self.text[max(0, start - 40) : start], self.text[end : end + 3]
            hole = before.rstrip()[-1:] in (*ARROWS, ":", ",", ";", "=") and bool(before.strip())
            hole = hole or (after.lstrip()[:1] in (*ARROWS, "=") and bool(after.strip()))
            last = (wording.words(before) or [""])[-1].lower()
            hole = hole or (last in wording.function_words() and before[-1:].isalnum())
            if not before.strip() or before.endswith("\n"):
                end += len(_spaces(after, " \t"))
            self._add("code", start, end, None if hole else "")

    def _chains(self) -> None:
        for match in _CHAINS.finditer(self.text) if self.coded else ():
            codes = wording.split(match[0])
            if len(codes) < 2 or len(codes) != len(wording.CODES.findall(match[0])):
                continue
            before = self.text[max(0, match.start() - 40) : match.start()]
            last = (wording.words(before) or [""])[-1].lower()
            loose = last in wording.function_words() - wording.grammar("en")["determiners"]
            held = wording.begins_sentence(before) or (loose and before.rstrip()[-1:].isalnum())
            held = held or wording.article_before(before, self.language)
            names = wording.joined_names(codes, self.language)
            self._add("code", *match.span(), None if held else names)

    def _single_codes(self) -> None:
        for token in self.tokens:
            start, end = token.span()
            if self.taken[start] or _is_in_address(self.text, start):
                continue
            shouted = self._shouted(token)
            if not self.coded and (shouted or wording.is_also_a_word(token[0])):
                self._add("ambiguous", start, end, None)
                continue
            worded = None if shouted else wording.in_words(self.text, start, end, self.language)
            self._add("code", *(worded or (start, end, None)))

    def _axes(self) -> None:
        vitamin, receptor = r"(?i)vitamin\w{0,2}[ -]$", r"(?i)[ -](?:receptor|dopamin|agonist)"
        named = r"(?i)(?<!\w)(?:eix|eixos|eje|ejes|axis|axes)(?: \w{1,12})? $"
        found = [
            (m, before)
            for m in re.finditer(_AXIS, self.text)
            if not re.search(vitamin, before := self.text[max(0, m.start() - 20) : m.start()])
            and not re.match(receptor, self.text[m.end() : m.end() + 12])
        ]
        several = len({m[0] for m, _before in found}) > 1
        for match, before in found:
            sure = self.coded or several or match[0][-1] in "+−-" or re.search(named, before)
            self._add("axis" if sure else "ambiguous", *match.span(), None)

    def _addresses(self) -> None:
        for match in _ADDRESSES.finditer(self.text):
            address = match[0].rstrip(".,;:!?")
            for kind, parts in wording.word_lists()["sites"].items():
                if any(part in address.lower() for part in parts):
                    end = match.start() + len(address)
                    self._add(kind, match.start(), end, self.placeholder)

    def _listed(self, kind: str) -> None:
        for match in _compiled(kind, "sure").finditer(self.text):
            start, instead = match.start(), self.placeholder
            elided = re.search(r"(?<!\w)[dlDL]['’]$", self.text[max(0, start - 3) : start])
            if instead and elided and self.language == "ca":
                particle = {"d": "de ", "l": "el ", "D": "De ", "L": "El "}[elided[0][0]]
                start, instead = start - 2, particle + instead
            self._add(kind, start, match.end(), instead)
        for match in _compiled(kind, "unsure").finditer(self.text):
            self._add(kind, *match.span(), None)

    def _conditions(self) -> None:
        labels = sorted({label for label in self.labels if label}, key=len, reverse=True)
        if not labels:
            return
        word, names = wording.word_lists()["condition_word"], "|".join(map(re.escape, labels))
        said = rf"(?<!\w){word}\s{{1,3}}[«\"“']?(?:{names})(?!\w)"
        # A label that is a plain word («bare») is matched as written, any other in any case.
        plain = [
            rf"{re.escape(one)}" if one.isalpha() else rf"(?i:{re.escape(one)})"
            for one in labels
            if len(one) >= 2
        ]
        for pattern in [said, rf"(?<!\w)(?:{'|'.join(plain)})(?!\w)"] if plain else [said]:
            for match in re.finditer(pattern, self.text):
                self._add("condition", *match.span(), None)


def _spaces(text: str, which: str) -> str:
    return text[: len(text) - len(text.lstrip(which))]


def _is_in_address(text: str, start: int) -> bool:
    return start > 1 and text[start - 1] in ".@" and text[start - 2].isalnum()


@cache
def _compiled(kind: str, part: str = "") -> re.Pattern[str]:
    lists = wording.word_lists()
    patterns = lists[f"{kind}s"][part] if part else lists[kind]
    return re.compile(r"\b(?=\w)(?:" + "|".join(patterns) + r")(?!\w)")
