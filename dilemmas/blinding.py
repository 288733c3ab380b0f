"""What in a text gives its condition away, and a text without it.

Pure: no framework, no I/O but the word lists in `data/`. `find` reports, `blind` proposes. A finding
whose `suggestion` is None is for a person: nothing is ever cut out where a sentence would be left
with a hole. Every pattern is bounded, so that a long or hostile text costs time in proportion.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_DATA = Path(__file__).parent / "data"
_NEAR = 60  # characters of context that a replacement looks at
_ARROWS = "↔⇄⟷→⟶⇒←⇐"
_CODE = r"(?<!\w)[A-Z]{3}(?:p?t\d|[pk]\d)?s?(?!\w)"
_LINK = rf"(?:\s{{0,2}}(?:[{_ARROWS}]|<?[-=]>)\s{{0,2}}|[-‑–—/·>+])"
_AXIS = r"(?<!\w)D[1-4](?:[+−-](?![\w]))?(?!\w)"


@dataclass(frozen=True)
class Finding:
    """One thing that tells. `text` is `[start:end]` of what was read.

    `suggestion` replaces exactly that span: empty to leave it out, None if a person must decide.
    """

    kind: str
    start: int
    end: int
    text: str
    suggestion: str | None


@dataclass(frozen=True)
class Proposal:
    """A proposed text. `unsafe` are the findings left in it; `safe` if nothing that tells is left."""

    text: str
    findings: tuple[Finding, ...]
    safe: bool
    unsafe: tuple[Finding, ...]


def find(
    text: str, *, condition_labels: Sequence[str] = (), language: str = "ca"
) -> list[Finding]:
    """Return what gives the condition away, in order and without overlaps.

    Kinds: `code`, `header`, `path`, `axis`, `name`, `model`, `self`, `condition`, and `ambiguous`
    for letters that are also ordinary acronyms or words and stand alone. Suggestions are in
    `language` (ca, es, en; in another one, codes inside sentences are left to a person).
    """
    return _Reader(text, tuple(condition_labels), language[:2].lower()).read()


def blind(
    text: str, *, condition_labels: Sequence[str] = (), language: str = "ca"
) -> Proposal:
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
    """One reading of one text. Earlier kinds take their span; later ones do not overlap it."""

    def __init__(self, text: str, labels: tuple[str, ...], language: str) -> None:
        self.text, self.labels, self.language = text, labels, language
        self.taken = bytearray(len(text))
        self.findings: list[Finding] = []
        self.tokens = [m for m in _codes_re().finditer(text) if _base(m.group()) in _codes()]
        self.coded = self._is_coded()

    def read(self) -> list[Finding]:
        self._paths()
        if self.tokens:
            self._headers()
            self._parentheses()
            self._chains()
            self._single_codes()
        self._axes()
        self._sites()
        for kind in ("names", "models"):
            self._listed(kind)
        for match in _compiled("self").finditer(self.text):
            self._add("self", match.start(), match.end(), None)
        self._conditions()
        return sorted(self.findings, key=lambda finding: finding.start)

    def _add(self, kind: str, start: int, end: int, suggestion: str | None) -> None:
        if start == end or any(self.taken[start:end]):
            return
        self.taken[start:end] = b"\1" * (end - start)
        self.findings.append(Finding(kind, start, end, self.text[start:end], suggestion))

    def _is_coded(self) -> bool:
        """Whether the text uses the codes at all, so that MIT or EST in it is one of them."""
        if any(not _also(m.group()) and not self._shouted(m) for m in self.tokens):
            return True
        if len({_base(m.group()) for m in self.tokens}) > 1 and _chain_re().search(self.text):
            return any(_arrow_re().search(m.group()) for m in _chain_re().finditer(self.text))
        return False

    def _shouted(self, token: re.Match[str]) -> bool:
        """Whether words in capitals that are no codes stand around: a shouted sentence or title."""
        around = _words(self.text[max(0, token.start() - 30) : token.start()])[-2:]
        around += _words(self.text[token.end() : token.end() + 30])[:2]
        loud = [w for w in around if len(w) > 1 and w.isupper() and w not in _codes()]
        return len(loud) >= 2

    def _paths(self) -> None:
        for match in re.finditer(r"\[(?i:path):[^\]\n]{0,200}\]?", self.text):
            start, end = match.span()
            if not match.group().endswith("]"):
                self._add("path", start, end, None)
                continue
            alone = self.text[:start].rpartition("\n")[2].strip() == "" if start else True
            while alone and self.text[end : end + 1] in ("\n", " ", "\r") and end < len(self.text):
                end += 1
            while not alone and start and self.text[start - 1] == " ":
                start -= 1
            self._add("path", start, end, "")

    def _headers(self) -> None:
        for match in _header_re().finditer(self.text):
            codes = _split(match["codes"])
            if not codes:
                continue
            start, end, mark = match.start("mark"), match.end(), match["mark"] or ""
            label, after = self._heading(match, codes), self.text[end : end + 3]
            plain = not mark and not match["lead"].lstrip().startswith("#")
            if label is _NOT_A_HEADER:
                continue
            if mark and not match["tail"].strip() and after[:1] not in ("", "\n", ".", ":", "\r"):
                if not re.match(r"\s[—–:]", after):
                    continue
            glossed = _is_name_of(codes[0], match["tail"].strip(" —–-:."))
            if not self.coded and all(_also(c) for c in codes) and not glossed:
                self._add("ambiguous", match.start("codes"), match.end("codes"), None)
                continue
            self._add("header", start, end, f"{mark}{label}{mark}" if label and not plain else label)

    def _heading(self, match: re.Match[str], codes: list[str]) -> str | None:
        """Return the heading without its code, None if a person must write it."""
        tail = re.sub(rf"[ \t]{{0,3}}\({_UNITS}\)", "", match["tail"])
        gloss = re.match(r"\s{0,3}[—–:-]\s{1,3}(?=\S)", tail)
        rest = tail[gloss.end() :] if gloss else tail
        if any(_base(m.group()) in _codes() for m in _codes_re().finditer(rest)):
            return None
        if gloss:
            return rest[0].upper() + rest[1:]
        if rest.strip() not in ("", ".", ":", "—", "–"):
            return _NOT_A_HEADER if not match["mark"] else None
        names = [_plain(code, self.language, False) for code in codes]
        if None in names:
            return None
        label = "–".join(name for name in names if name)
        return label[0].upper() + label[1:] + rest

    def _parentheses(self) -> None:
        for match in re.finditer(rf"[ \t]{{0,3}}[(\[]({_UNITS})[)\]](?!\()", self.text):
            codes = _split(match[1])
            if not codes and not re.search(_AXIS, match[1]):
                continue
            if not self.coded and all(_also(code) for code in codes):
                if codes:
                    self._add("ambiguous", match.start(1), match.end(1), None)
                continue
            start, end = match.span()
            before = self.text[max(0, start - _NEAR) : start]
            if not before.strip() or before.endswith("\n"):
                end += len(re.match(r"[ \t]{0,3}", self.text[end : end + 3])[0])  # type: ignore[index]
            word = (_words(before) or [""])[-1].lower()
            hole = word in _function_words() and before[-1:].isalnum()
            follows = self.text[end : end + 3].lstrip()[:1]
            hole = hole or follows in _ARROWS and follows != ""
            self._add("code", start, end, None if hole else "")

    def _chains(self) -> None:
        for match in _chain_re().finditer(self.text):
            codes = _split(match.group())
            if len(codes) < 2 or len(codes) != len(_codes_re().findall(match.group())):
                continue
            if not self.coded:
                continue  # each is reported as ambiguous by itself
            before = self.text[max(0, match.start() - _NEAR) : match.start()]
            names = [_plain(code, self.language, False) for code in codes]
            last = (_words(before) or [""])[-1].lower()
            held = None in names or _begins_sentence(before) or self._article_before(before)
            if held or (last in _function_words() and before.rstrip()[-1:].isalnum()):
                held = not (self.language == "en" and last in ("the", "a", "this", "that")) or (
                    None in names
                )
            joined = "–".join(name for name in names if name)
            self._add("code", *match.span(), None if held else joined)

    def _article_before(self, before: str) -> bool:
        words = _grammar(self.language)
        last = (re.findall(r"[\w]+['’]?", before) or [""])[-1].lower().replace("’", "'")
        return self.language != "en" and (
            last in words.get("articles", {}) or last in words.get("contractions", {})
        )

    def _single_codes(self) -> None:
        for token in self.tokens:
            start, end = token.span()
            if any(self.taken[start:end]) or _is_domain(self.text, start):
                continue
            shouted = self._shouted(token)
            if not self.coded and (_also(token.group()) or shouted):
                self._add("ambiguous", start, end, None)
                continue
            worded = None
            if not shouted:
                worded = _in_words(self.text, start, end, self.language)
            if worded is None:
                self._add("code", start, end, None)
            else:
                self._add("code", *worded)

    def _axes(self) -> None:
        found = [
            m
            for m in re.finditer(_AXIS, self.text)
            if not re.search(r"(?i)vitamin\w{0,2}[ -]$", self.text[max(0, m.start() - 12) : m.start()])
            and not re.match(r"(?i)[ -](?:receptor|dopamin|agonist)", self.text[m.end() : m.end() + 10])
        ]
        named = r"(?i)\b(?:eix|eixos|eje|ejes|axis|axes)(?: \w{1,12})? $"
        sure = self.coded or len({m.group() for m in found}) > 1
        for match in found:
            before = self.text[max(0, match.start() - 20) : match.start()]
            marked = match.group()[-1] in "+-−" or re.search(named, before) or sure
            self._add("axis" if marked else "ambiguous", *match.span(), None)

    def _sites(self) -> None:
        for match in re.finditer(r"(?:https?://|www\.)[^\s<>()\[\]\"«»]{1,200}", self.text):
            address = match.group().rstrip(".,;:!?").lower()
            for kind, parts in _words_file()["sites"].items():
                if any(part in address for part in parts):
                    placeholder = _words_file()["placeholder"].get(self.language)
                    self._add(kind, match.start(), match.start() + len(address), placeholder)

    def _listed(self, which: str) -> None:
        for sure in (True, False):
            for match in _compiled(which, "sure" if sure else "unsure").finditer(self.text):
                start, placeholder = match.start(), _words_file()["placeholder"].get(self.language)
                elided = re.search(r"(?i)(?<!\w)([dl])['’]$", self.text[max(0, start - 3) : start])
                if sure and placeholder and elided and self.language == "ca":
                    particle = "de " if elided[1] in "dD" else "el "
                    particle = particle.capitalize() if elided[1].isupper() else particle
                    start, placeholder = start - 2, particle + placeholder
                self._add(which.removesuffix("s"), start, match.end(), placeholder if sure else None)

    def _conditions(self) -> None:
        names = "|".join(re.escape(n) for n in sorted(set(self.labels), key=len, reverse=True) if n)
        if not names:
            return
        said = rf"(?<!\w){_words_file()['condition_word']}\s{{1,3}}[«\"“']?(?:{names})(?!\w)"
        patterns = [said]
        for label in self.labels:
            if len(label) >= 2:
                flag = "" if label.isalpha() else "(?i)"
                patterns.append(rf"{flag}(?<!\w){re.escape(label)}(?!\w)")
        for pattern in patterns:
            for match in re.finditer(pattern, self.text):
                self._add("condition", *match.span(), None)


def _in_words(text: str, start: int, end: int, language: str) -> tuple[int, int, str] | None:
    """Return the span and the plain words for a code inside a sentence, None if it is not safe."""
    before, after = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
    touches_arrow = re.match(rf"(?:\s{{0,2}}\([^()\n]{{0,50}}\))?\s{{0,2}}(?:[{_ARROWS}=]|<?->)", after)
    if touches_arrow or re.search(rf"(?:[{_ARROWS}=]|->)\s{{0,2}}$", before):
        return None
    follower = re.match(r"\s{1,2}(\w+)", after)
    if follower and _base(follower[1]) in _codes():
        return None
    token = text[start:end]
    plural = token.endswith("s")
    worded: Callable[[str, bool, str, str], tuple[int, str] | None] | None
    worded = {"en": _in_english, "ca": _in_romance, "es": _in_romance}.get(language)
    if worded is None:
        return None
    if worded is _in_romance:
        result = _in_romance(_base(token), plural, before, after, language)
    else:
        result = _in_english(_base(token), plural, before, after)
    if result is None:
        return None
    back, words = result
    if _begins_sentence(before[: len(before) - back]):
        words = words[0].upper() + words[1:]
    return start - back, end, words


def _in_english(code: str, plural: bool, before: str, after: str) -> tuple[int, str] | None:
    entry, name = _codes()[code].get("en"), _plain(code, "en", plural)
    if not entry or not name:
        return None
    grammar = _grammar("en")
    words, follower = _words(before), re.match(r"[ \t]+([\w-]+)", after)
    last = words[-1].lower() if words and re.search(r"\w[ \t*_\"“]*$", before) else ""
    last_but_one = words[-2].lower() if last and len(words) > 1 else ""
    article = re.search(r"(?i)(?<!\w)(an?)( )$", before)
    if article:
        fitting = ("an" if name[0] in "aeiou" else "a") + " "
        return (3 if len(article[1]) == 2 else 2), fitting + name if not plural else None  # type: ignore[return-value]
    determined = last in grammar["determiners"] or (
        last_but_one in grammar["determiners"] | {"a", "an"} and last not in grammar["function"]
    )
    if determined or re.match(r"-\w", after) or re.search(r"\w-$", before):
        return None if re.match(r"\s?\(", after) else (0, name)
    if not entry["the"] or plural:
        return 0, name
    possessive = re.match(r"['’]s\b", after)
    next_word = follower[1].lower() if follower else ""
    known = next_word in grammar["function"] | grammar["verbs"] or next_word.endswith("ly")
    if next_word and not known and not possessive:
        return None  # «MON contexts» or «MON presses»: noun or verb cannot be told
    return 0, f"the {name}"


def _in_romance(
    code: str, plural: bool, before: str, after: str, language: str
) -> tuple[int, str] | None:
    entry = _codes()[code].get(language)
    if not entry or re.match(r"-\w", after) or re.search(r"\w-$", before):
        return None
    grammar = _grammar(language)
    particle = re.search(r"(?i)(?<!\w)(?:(\w+)[ \t]+|([ld]['’]))$", before)
    word = (particle[1] or particle[2]).lower().replace("’", "'") if particle else ""
    back = len(particle[0]) if particle else 0
    preposition, agreement = "", ""
    if word in grammar["articles"]:
        agreement = grammar["articles"][word]
        earlier = re.search(r"(?i)(?<!\w)(de|a|per)[ \t]+$", before[: len(before) - back])
        if earlier:
            preposition, back = earlier[1].lower(), back + len(earlier[0])
    elif word in grammar["contractions"]:
        preposition, agreement = grammar["contractions"][word].split()
    elif word == "d'" or word in grammar["prepositions"]:
        preposition = "de" if word == "d'" else word
    elif word in grammar["determiners"]:
        return _after_determiner(code, plural, grammar["determiners"][word], after, language)
    else:
        back = 0
        words = _words(before)
        led = words[-2].lower() if len(words) > 1 and particle else ""
        if (led in grammar["articles"] or led in grammar["determiners"]) and (
            word not in grammar["function"]
        ):
            return None  # «el marc TEO»: the code is an apposition
    number = agreement[1:] or ("2" if plural else "1")
    name = _plain(code, language, number == "2")
    if not name or (agreement and agreement[0] not in ("x", entry["gender"])):
        return None
    return back, _with_article(preposition, name, entry["gender"], number == "2", language)


def _after_determiner(
    code: str, plural: bool, agreement: str, after: str, language: str
) -> tuple[int, str] | None:
    many = agreement[1] == "2"
    name = _plain(code, language, many)
    fits = agreement[0] in ("x", _codes()[code][language]["gender"]) and (many or not plural)
    return (0, name) if name and fits and not re.match(r"\s?\(", after) else None


def _with_article(preposition: str, name: str, gender: str, many: bool, language: str) -> str:
    """Return «de» + «el» + «fenomen» as «del fenomen», «de l'objecte», «de la teoria»."""
    catalan = language == "ca"
    if many:
        article = {"m": "els" if catalan else "los", "f": "les" if catalan else "las"}[gender]
    else:
        article = {"m": "el", "f": "la"}[gender]
        weak = gender == "f" and re.match(r"h?[iu]", name)
        if catalan and re.match(r"h?[aeiouàèéíòóú]", name) and not weak:
            return f"{preposition} l'{name}".strip()
    for contracted, parts in _grammar(language)["contractions"].items():
        if parts == f"{preposition} {gender}{2 if many else 1}":
            return f"{contracted} {name}"
    return f"{preposition} {article} {name}".strip()


def _begins_sentence(before: str) -> bool:
    bare = before.rstrip(" \t*_#>\"“«¿¡(")
    return not bare or bare[-1] in ".!?…\n\r" or re.search(r"(?:^|\n)\s{0,4}[-•+]$", bare) is not None


def _is_domain(text: str, start: int) -> bool:
    return start > 1 and text[start - 1] in ".@" and text[start - 2].isalnum()


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _base(token: str) -> str:
    return token[:-1] if token.endswith("s") else token


def _also(token: str) -> bool:
    """Whether the letters of a code are also an acronym or a word."""
    return "also" in _codes()[_base(token)]


def _split(text: str) -> list[str]:
    return [b for m in _codes_re().finditer(text) if (b := _base(m.group())) in _codes()]


def _plain(code: str, language: str, plural: bool) -> str | None:
    entry = _codes()[code].get(language)
    return (entry["plural"] if plural else entry["name"]) if entry else None


def _is_name_of(code: str, text: str) -> bool:
    names = (_plain(code, language, False) for language in ("ca", "es", "en"))
    return any(name and text.lower().startswith(name) for name in names)


@cache
def _codes() -> dict[str, dict[str, Any]]:
    codes: dict[str, dict[str, Any]] = json.loads((_DATA / "codes.json").read_text("utf-8"))["codes"]
    return codes


@cache
def _words_file() -> dict[str, Any]:
    words: dict[str, Any] = json.loads((_DATA / "words.json").read_text("utf-8"))
    return words


@cache
def _grammar(language: str) -> dict[str, Any]:
    entry = _words_file()["language"].get(language, {})
    return {k: frozenset(v.split()) if isinstance(v, str) else v for k, v in entry.items()}


@cache
def _function_words() -> frozenset[str]:
    """Words after which a bracket cannot be left out without a hole, in all three languages."""
    return frozenset().union(*(_grammar(one)["function"] for one in ("ca", "es", "en")))


@cache
def _compiled(which: str, part: str = "") -> re.Pattern[str]:
    patterns = _words_file()[which][part] if part else _words_file()[which]
    return re.compile(r"(?<!\w)(?:" + "|".join(patterns) + r")(?!\w)")


@cache
def _codes_re() -> re.Pattern[str]:
    return re.compile(_CODE)


@cache
def _arrow_re() -> re.Pattern[str]:
    return re.compile(rf"[{_ARROWS}]|[-=]>")


@cache
def _chain_re() -> re.Pattern[str]:
    return re.compile(rf"{_CODE}(?:{_LINK}{_CODE}){{1,11}}")


@cache
def _header_re() -> re.Pattern[str]:
    lead = r"^(?P<lead>[ \t]{0,8}(?:(?:[-*•+>]|\d{1,3}[.)]|#{1,6})[ \t]{1,3}){0,2})"
    codes = rf"(?P<codes>{_CODE}(?:{_LINK}{_CODE}){{0,11}})"
    bold = rf"(?P<mark>\*\*|__){codes}(?P<tail>[^*_\n]{{0,160}}?)(?P=mark)"
    return re.compile(lead + bold, re.MULTILINE)


_UNITS = rf"\s{{0,2}}(?:{_CODE}|{_AXIS})(?:(?:{_LINK}|\s{{0,2}}[,;]\s{{0,2}}|\s(?:i|y|e|and|&)\s)(?:{_CODE}|{_AXIS})){{0,11}}\s{{0,2}}"
_NOT_A_HEADER = "\0"


def _unused() -> Iterator[None]:
    yield None
