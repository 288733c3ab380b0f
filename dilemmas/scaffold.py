"""Codes and markup of the Meta-Globàlium in a text, and what may stand in their place. Pure.

Every pattern is bounded, so that time grows in proportion to the text.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from dilemmas import wording
from dilemmas.findings import Findings
from dilemmas.wording import ARROWS, CODE

_LINK = rf"(?:\s{{0,2}}(?:[{ARROWS}]|<?[-=]>)\s{{0,2}}|[-‑–—/·>+])"
_CHAIN = rf"{CODE}(?:{_LINK}{CODE}){{0,11}}"
_AXIS = r"(?<![^\W_])D[1-4₁-₄](?:[+−-](?!\w))?(?![^\W_])"
_BETWEEN = rf"(?:{_LINK}|\s{{0,2}}[,;]\s{{0,2}}|\s(?:i|y|e|and|&)\s)"
_UNITS = rf"\s{{0,2}}(?:{CODE}|{_AXIS})(?:{_BETWEEN}(?:{CODE}|{_AXIS})){{0,11}}\s{{0,2}}"
_LEAD = r"^[ \t]{0,8}(?:(?:[-*•+>]|\d{1,3}[.)])[ \t]{1,3}){0,2}"
_HEADINGS = (
    re.compile(
        rf"{_LEAD}(?:#{{1,6}}[ \t]{{1,3}})?(?P<mark>\*\*|__)(?:\d{{1,3}}[.)][ \t])?(?P<codes>{_CHAIN})"
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
_IN_HEADING = re.compile(rf"[ \t]{{0,3}}\({_UNITS}\)")
_GLOSS = re.compile(r"\s{0,3}[—–:-]\s{1,3}(?=\S)")
_BRACKETED_GLOSS = re.compile(r"[ ]?\(([^()]{1,60})\)([.:]?)")
_AFTER_HEADING = re.compile(r"$|[.:\r]|\s[—–:]")
_CHAINS = re.compile(rf"{CODE}(?:{_LINK}{CODE}){{1,11}}")
_ARROW = re.compile(rf"[{ARROWS}]|[-=]>")
_BRACKETS = re.compile(rf"[ \t]{{0,3}}(?<!\])[(\[]({_UNITS})[)\]](?!\()")
_PATHS = re.compile(
    r"\[[ ]?(?i:path)[ ]?:[^\]\n]{0,200}\]?"
    rf"|\([ ]?(?i:path)[ ]?:{_UNITS}\)"
    rf"|(?<![^\W_])PATH[ ]?[:=]{_UNITS}"
)
_AXES = re.compile(_AXIS)
_VITAMIN = re.compile(r"(?i)vitamin\w{0,2}[ -]$")
_RECEPTOR = re.compile(r"(?i)[ -](?:receptor|dopamin|agonist)")
_NAMED_AXIS = re.compile(r"(?i)(?<!\w)(?:eix|eixos|eje|ejes|axis|axes)(?: \w{1,12})? $")
_LOUD = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,40}(?![^\W\d_])")
_PARAGRAPH = re.compile(r"\n[ \t\r]{0,20}\n")
_STYLED = re.compile("[\U0001d400-\U0001d7ff\uff10-\uff5a]")
_DOMAINS = frozenset({"ART", "COM", "INT", "ORG"})


class _Token(NamedTuple):
    start: int
    end: int
    code: str
    shouted: bool
    paragraph: int


class Scaffold:
    """One reading of one text for codes, headings, path markers and axes."""

    def __init__(self, found: Findings, language: str) -> None:
        self.found, self.language = found, language
        self.text = _unstyled(found.text)
        self.tokens = list(self._tokens())
        self.coded, self.coded_paragraphs = self._coded()

    def read(self) -> None:
        """Note what there is, the largest forms first."""
        self._paths()
        if self.tokens:
            self._headings()
            self._brackets()
            self._chains()
            self._single_codes()
        self._axes()

    def _tokens(self) -> Iterator[_Token]:
        """Yield the codes. Words in capitals around one are heard as shouting, not as a scaffold."""
        known = wording.codes()
        matches = [
            (m.start(), m.end(), code)
            for m in wording.CODES.finditer(self.text)
            if (code := wording.base(m[0])) in known
        ]
        if not matches:
            return
        loud = [
            m.start()
            for m in _LOUD.finditer(self.text)
            if m[0].isupper() and wording.base(m[0]) not in known
        ]
        breaks = [m.start() for m in _PARAGRAPH.finditer(self.text)]
        for start, end, code in matches:
            near = bisect_right(loud, end + 30) - bisect_left(loud, start - 30)
            shouted = near > 1 and self._is_shouted(start, end)
            yield _Token(start, end, code, shouted, bisect_left(breaks, start))

    def _is_shouted(self, start: int, end: int) -> bool:
        around = wording.words(self.text[max(0, start - 30) : start])[-2:]
        around += wording.words(self.text[end : end + 30])[:2]
        loud = [w for w in around if len(w) > 1 and w.isupper() and w not in wording.codes()]
        return len(loud) >= 2

    def _coded(self) -> tuple[bool, set[int]]:
        """Whether the text uses codes at all, and the paragraphs where MIT or EST is one of them."""
        kinds: dict[int, set[str]] = {}
        sure: set[int] = set()
        for token in self.tokens:
            if not token.shouted:
                kinds.setdefault(token.paragraph, set()).add(token.code)
                if not wording.is_also_a_word(token.code):
                    sure.add(token.paragraph)
        paragraphs = sure | {number for number, codes in kinds.items() if len(codes) > 3}
        coded = bool(paragraphs) or len(set().union(*kinds.values())) > 3
        if not coded and self.tokens:
            linked = (m[0] for m in _CHAINS.finditer(self.text) if _ARROW.search(m[0]))
            coded = any(len(wording.split(chain)) > 1 for chain in linked)
            coded = coded or any(wording.split(m[0]) for m in _PATHS.finditer(self.text))
        return coded, paragraphs

    def _is_doubtful(self, token: _Token) -> bool:
        """Whether a person must say if this is a code: MIT, EST, or a word that is shouted."""
        also = wording.is_also_a_word(token.code)
        if not self.coded:
            return also or token.shouted
        return (
            also
            and not wording.is_core(token.code)
            and token.paragraph not in self.coded_paragraphs
        )

    def _are_doubtful(self, start: int, end: int) -> bool:
        at = bisect_left(self.tokens, (start,))
        while at < len(self.tokens) and self.tokens[at].end <= end:
            if not self._is_doubtful(self.tokens[at]):
                return False
            at += 1
        return True

    def _paths(self) -> None:
        for match in _PATHS.finditer(self.text):
            start, end = match.span()
            marked = match[0][0] == "["
            if not marked and not wording.split(match[0]):
                continue
            if marked and match[0][-1] != "]":
                self.found.add("path", start, end, None)
                continue
            start, end = self._without_marks(start, end)
            line = self.text[max(0, start - 80) : start].rpartition("\n")[2]
            alone = not line.strip()
            if alone and (match[0][-1] in ")]" or self.text[end : end + 1] in ("", "\n", "\r")):
                end += len(_spaces(self.text[end : end + 20], "\r\n \t"))
            elif match[0][-1] in ")]":
                start -= len(_spaces(self.text[max(0, start - 20) : start][::-1], " "))
            else:
                self.found.add("path", start, end, None)
                continue
            self.found.add("path", start, end, "")

    def _without_marks(self, start: int, end: int) -> tuple[int, int]:
        """Widen a span over the emphasis marks that hold nothing but it."""
        for mark in ("**", "__", "*", "_", "`"):
            if self.text.endswith(mark, 0, start) and self.text.startswith(mark, end):
                return start - len(mark), end + len(mark)
        return start, end

    def _headings(self) -> None:
        for pattern in _HEADINGS:
            for match in pattern.finditer(self.text):
                codes = wording.split(match["codes"])
                if not codes:
                    continue
                said = self.text[match.end("codes") : match.end("codes") + 44]
                glossed = wording.is_name_of(codes[0], said.lstrip(" —–-:.("))
                if not self.coded and not glossed and all(map(wording.is_also_a_word, codes)):
                    continue
                for start, end, label in self._heading(match, codes):
                    self.found.add("header", start, end, label)

    def _heading(
        self, match: re.Match[str], codes: list[str]
    ) -> Iterator[tuple[int, int, str | None]]:
        """Yield the span of a heading and what replaces it; nothing if it is running text."""
        start, end, mark = match.start("codes"), match.end("tail"), match["mark"]
        tail = _IN_HEADING.sub("", match["tail"])
        gloss, bracketed = _GLOSS.match(tail), _BRACKETED_GLOSS.fullmatch(tail)
        if not mark and tail in (" — ", " – "):  # running text, unless the code's name follows
            if wording.is_name_of(codes[0], self.text[end : end + 40]):
                yield start, end + 1, match["after"].upper()
        elif gloss:
            rest = tail[gloss.end() :]
            yield start, end, None if wording.split(rest) else wording.capital(rest)
        elif bracketed and wording.is_name_of(codes[0], bracketed[1]):
            yield start, end, wording.capital(bracketed[1]) + bracketed[2]
        elif tail.strip() in (".", ":", "—", "–") or (
            not tail.strip() and (not mark or _AFTER_HEADING.match(match["after"]))
        ):
            names = wording.joined_names(codes, self.language)
            yield start, end, None if names is None else wording.capital(names) + tail

    def _brackets(self) -> None:
        for match in _BRACKETS.finditer(self.text):
            start, end = match.span()
            codes = wording.split(match[1])
            if not codes and not _AXES.search(match[1]):
                continue
            if not _AXES.search(match[1]) and self._are_doubtful(start, end):
                continue
            if not codes and not self.coded:
                continue
            before, after = self.text[max(0, start - 40) : start], self.text[end : end + 3]
            hole = before.rstrip()[-1:] in (*ARROWS, ":", ",", ";", "=") and bool(before.strip())
            hole = hole or (after.lstrip()[:1] in (*ARROWS, "=") and bool(after.strip()))
            last = (wording.words(before) or [""])[-1].lower()
            hole = hole or (last in wording.function_words() and before[-1:].isalnum())
            if not before.strip() or before.endswith("\n"):
                end += len(_spaces(after, " \t"))
            self.found.add("code", start, end, None if hole else "")

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
            self.found.add("code", *match.span(), None if held else names)

    def _single_codes(self) -> None:
        for token in self.tokens:
            start, end = token.start, token.end
            if self.found.has(start) or self._is_in_address(token):
                continue
            if self._is_doubtful(token):
                self.found.add("ambiguous", start, end, None)
                continue
            worded = (
                None if token.shouted else wording.in_words(self.text, start, end, self.language)
            )
            self.found.add("code", *(worded or (start, end, None)))

    def _is_in_address(self, token: _Token) -> bool:
        """Whether the letters belong to an address: someone@EXAMPLE.ORG, EXAMPLE.COM."""
        if not wording.is_also_a_word(token.code) or self.text[
            token.start - 1 : token.start
        ] not in (*".@/-",):
            return False
        before = re.split(r"\s", self.text[max(0, token.start - 60) : token.start])[-1]
        if "@" in before or "://" in before or before.lower().startswith("www."):
            return True
        label = before[:-1].rpartition(".")[2]
        return (
            before[-1] == "."
            and token.code in _DOMAINS
            and label[-2:].isalnum()
            and (wording.base(label[-3:]) not in wording.codes())
        )

    def _axes(self) -> None:
        found = [
            (m, before)
            for m in _AXES.finditer(self.text)
            if not _VITAMIN.search(before := self.text[max(0, m.start() - 20) : m.start()])
            and not _RECEPTOR.match(self.text[m.end() : m.end() + 12])
        ]
        several = len({m[0] for m, _before in found}) > 1
        for match, before in found:
            sure = self.coded or several or match[0][-1] in "+−-" or _NAMED_AXIS.search(before)
            self.found.add("axis" if sure else "ambiguous", *match.span(), None)


def _unstyled(text: str) -> str:
    """Return the text, character by character, without mathematical and full-width letters."""
    if text.isascii() or not _STYLED.search(text):
        return text
    return _STYLED.sub(lambda match: _plain(match[0]), text)


def _plain(character: str) -> str:
    folded = unicodedata.normalize("NFKC", character)
    return folded if len(folded) == 1 and folded.isascii() else character


def _spaces(text: str, which: str) -> str:
    return text[: len(text) - len(text.lstrip(which))]
