"""Codes in plain words: which letters are codes, and what stands for one inside a sentence.

Pure. Knows articles, contractions and agreement of Catalan, Spanish and English as far as the
short lists in `data/` go; where they do not, the answer is None and a person decides.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

_DATA = Path(__file__).parent / "data"
_NEAR = 60  # characters of context that a replacement looks at
ARROWS = "↔⇄⟷→⟶⇒←⇐"
CODE = r"(?<!\w)[A-Z]{3}(?:p?t\d|[pk]\d)?s?(?!\w)"
CODES = re.compile(CODE)

Worded = tuple[int, str]  # how many characters before the code go too, and the words


def in_words(text: str, start: int, end: int, language: str) -> tuple[int, int, str] | None:
    """Return the span and the plain words for a code inside a sentence, None if it is not safe."""
    before, after = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
    gloss = r"(?:\s{0,2}\([^()\n]{0,50}\))?"
    if re.match(rf"{gloss}\s{{0,2}}(?:[{ARROWS}=]|<?->)", after):
        return None
    if re.search(rf"(?:[{ARROWS}=]|->)\s{{0,2}}$", before):
        return None
    follower = re.match(r"\s{1,2}(\w+)", after)
    if follower and base(follower[1]) in codes():
        return None
    code, plural = base(text[start:end]), text[start:end].endswith("s")
    result: Worded | None = None
    if language == "en":
        result = _in_english(code, plural, before, after)
    elif language in ("ca", "es"):
        result = _in_romance(code, plural, before, after, language)
    if result is None:
        return None
    back, phrase = result
    if begins_sentence(before[: len(before) - back]):
        phrase = capital(phrase)
    return start - back, end, phrase


def _in_english(code: str, plural: bool, before: str, after: str) -> Worded | None:
    entry, name = codes()[code].get("en"), plain_name(code, "en", plural=plural)
    if not entry or not name:
        return None
    article = re.search(r"(?i)(?<!\w)an? $", before)
    if article:
        fitting = "an" if name[0] in "aeiou" else "a"
        return None if plural else (len(article[0]), f"{fitting} {name}")
    if _determined(before) or re.match(r"-\w", after) or re.search(r"\w-$", before):
        return None if re.match(r"\s?\(", after) else (0, name)
    if not entry["the"] or plural:
        return 0, name
    follower = re.match(r"[ \t]+([\w-]+)", after)
    if follower and not _is_no_noun(follower[1].lower()):
        return None  # «MON contexts» or «MON presses»: noun or verb cannot be told
    if re.search(r"(?i)(?<!\w)that $", before):
        return None  # «shows that FEN» or «that FEN»
    return 0, f"the {name}"


def _determined(before: str) -> bool:
    """Whether an English noun here has its determiner: «the FEN», «a concrete FEN»."""
    if not re.search(r"\w[ \t*_\"“]{0,4}$", before):
        return False
    small = grammar("en")
    *_rest, second, last = ["", "", *words(before.lower())]
    return last in small["determiners"] or (
        second in small["leading"] and last not in small["function"]
    )


def _is_no_noun(word: str) -> bool:
    return word in grammar("en")["function"] | grammar("en")["verbs"] or word.endswith("ly")


def _in_romance(code: str, plural: bool, before: str, after: str, language: str) -> Worded | None:
    entry, small = codes()[code].get(language), grammar(language)
    if not entry or re.match(r"-\w", after) or re.search(r"\w-$", before):
        return None
    particle = re.search(r"(?i)(?<!\w)(?:\w+[ \t]+|[ld]['’])$", before)
    word = particle[0].strip().lower().replace("’", "'") if particle else ""
    back, preposition, agreement = len(particle[0]) if particle else 0, "", ""
    if word in small["articles"]:
        agreement = small["articles"][word]
        earlier = re.search(r"(?i)(?<!\w)(de|a|per)[ \t]+$", before[: len(before) - back])
        if earlier:
            preposition, back = earlier[1].lower(), back + len(earlier[0])
    elif word in small["contractions"]:
        preposition, agreement = small["contractions"][word].split()
    elif word == "d'" or word in small["prepositions"]:
        preposition = "de" if word == "d'" else word
    elif word in small["determiners"]:
        return _after_determiner(code, plural, small["determiners"][word], after, language)
    elif particle and _is_apposition(before, word, language):
        return None
    else:
        back = 0
    many = agreement[1:] == "2" or (plural and not agreement)
    name = plain_name(code, language, plural=many)
    agrees = not agreement or (agreement[0] in ("x", entry["gender"]) and (many or not plural))
    if not name or not agrees:
        return None
    return back, _with_article(preposition, name, entry["gender"], many, language)


def _is_apposition(before: str, word: str, language: str) -> bool:
    """Whether a noun with its article stands before: «el marc TEO»."""
    small, earlier = grammar(language), re.findall(r"\w+['’]?", before.lower())[-2:-1]
    led = earlier[0].replace("’", "'") if earlier else ""
    determined = led in small["articles"] or led in small["contractions"]
    return (determined or led in small["determiners"]) and word not in small["function"]


def _after_determiner(
    code: str, plural: bool, agreement: str, after: str, language: str
) -> Worded | None:
    many = agreement[1] == "2"
    name = plain_name(code, language, plural=many)
    fits = agreement[0] in ("x", codes()[code][language]["gender"]) and (many or not plural)
    return (0, name) if name and fits and not re.match(r"\s?\(", after) else None


def _with_article(preposition: str, name: str, gender: str, many: bool, language: str) -> str:
    """Return «de» + «el» + «fenomen» as «del fenomen», «de l'objecte», «de la teoria»."""
    weak = gender == "f" and re.match(r"h?[iu]", name)
    if language == "ca" and not many and re.match(r"h?[aeiouàèéíòóú]", name) and not weak:
        return f"{preposition} l'{name}".strip()
    agreement = f"{gender}{2 if many else 1}"
    for contracted, parts in grammar(language)["contractions"].items():
        if parts == f"{preposition} {agreement}":
            return f"{contracted} {name}"
    article = next(a for a, parts in grammar(language)["articles"].items() if parts == agreement)
    return f"{preposition} {article} {name}".strip()


def article_before(before: str, language: str) -> bool:
    """Whether a Catalan or Spanish article stands right before."""
    small = grammar(language)
    last = (re.findall(r"\w+['’]?", before) or [""])[-1].lower().replace("’", "'")
    return last in small.get("articles", {}) or last in small.get("contractions", {})


def begins_sentence(before: str) -> bool:
    """Whether what follows `before` begins a sentence, a line or a list entry."""
    bare = before.rstrip(' \t*_#>"“«¿¡(')
    return not bare or bare[-1] in ".!?…\n\r" or bool(re.search(r"(?:^|\n)\s{0,4}[-•+]$", bare))


def capital(phrase: str) -> str:
    """Return the phrase with a capital first letter."""
    return phrase[:1].upper() + phrase[1:]


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return re.findall(r"\w+", text)


def base(token: str) -> str:
    """Return a code without its plural s."""
    return token[:-1] if token.endswith("s") else token


def is_also_a_word(token: str) -> bool:
    """Whether the letters of a code are also an acronym or a word: MIT, EST, NOU."""
    return "also" in codes()[base(token)]


def split(text: str) -> list[str]:
    """Return the codes in a text, in order."""
    return [code for match in CODES.finditer(text) if (code := base(match[0])) in codes()]


def plain_name(code: str, language: str, *, plural: bool = False) -> str | None:
    """Return the name of a code without article, None if there is none in this language."""
    entry = codes()[code].get(language)
    return entry["plural" if plural else "name"] if entry else None


def joined_names(found: list[str], language: str) -> str | None:
    """Return the names of several codes as one: «theory–practice»; None if one has no name."""
    names = [plain_name(code, language) for code in found]
    return None if None in names else "–".join(name for name in names if name)


def is_name_of(code: str, text: str) -> bool:
    """Whether a text begins with the code's name in one of the languages."""
    names = (plain_name(code, language) for language in ("ca", "es", "en"))
    return any(name and text.lower().startswith(name) for name in names)


@cache
def codes() -> dict[str, dict[str, Any]]:
    """Return the codes with quadrant and, by language, name, gender, plural."""
    found: dict[str, dict[str, Any]] = _read("codes.json")["codes"]
    return found


@cache
def word_lists() -> dict[str, Any]:
    """Return the word lists."""
    return _read("words.json")


@cache
def grammar(language: str) -> dict[str, Any]:
    """Return a language's small words: sets, and maps to gender and number."""
    entry = word_lists()["language"].get(language, {})
    return {k: frozenset(v.split()) if isinstance(v, str) else v for k, v in entry.items()}


@cache
def function_words() -> frozenset[str]:
    """Return the words after which nothing can be left out without a hole, in all languages."""
    every: frozenset[str] = frozenset()
    return every.union(*(grammar(one)["function"] for one in ("ca", "es", "en")))


def _read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((_DATA / name).read_text(encoding="utf-8"))
    return content
