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
_CLOSE = 24  # and for what stands right before it
ARROWS = "↔⇄⟷→⟶⇒←⇐"
CODE = r"(?<![^\W_])[A-Z]{3}(?:(?:p?t|[pk])\d|[\d₁-₉])?[sS]?(?![^\W_])"
CODES = re.compile(CODE)
_TOUCHES_AFTER = re.compile(
    rf"(?:\s{{0,2}}\([^()\n]{{0,50}}\))?\s{{0,2}}(?:[{ARROWS}=]|<?->)|[./|+·~&]\w"
)
_TOUCHES_BEFORE = re.compile(rf"(?:[{ARROWS}=]|->)\s{{0,2}}$|\w[./|+·~&]$")
_NEXT_WORD = re.compile(r"\s{1,2}(\w+)")
_WORDS = re.compile(r"[^\W_]+")
_ENGLISH_ARTICLE = re.compile(r"(?i)(?<!\w)an? $")
_NOUN_BEFORE = re.compile(r"\w[ \t*_`\"“«]{0,4}$")
_HYPHEN_AFTER, _HYPHEN_BEFORE = re.compile(r"-\w"), re.compile(r"\w-$")
_BRACKET_AFTER = re.compile(r"\s?\(")
_THAT = re.compile(r"(?i)(?<!\w)that $")
_FOLLOWER = re.compile(r"[ \t]+([\w-]+)")
_PARTICLE = re.compile(r"(?i)(?<!\w)(?:\w+[ \t]+|[ld]['’])$")
_BEFORE_LAST = re.compile(r"\w+['’]?")
_PARTICIPLES = ("at", "it", "ut", "do", "ès", "ert", "st")
_PERFECT = re.compile(r"(?i)(?<!\w)(?:ha|han|he|hem|havia|haurà|hauria|hemos|había|habrá) \w+ $")
_MARKED = re.compile(r"(?i)(?<!\w)(?:(\w+)[ \t]+|([ld])['’])[*_`\"“«]{1,4}$")
_PREPOSITION = re.compile(r"(?i)(?<!\w)(de|a|per)[ \t]+$")
_EXISTS = re.compile(r"(?i)(?<!\w)(?:hi ha|hi havia|hi hagi|hay|había|haya) $")
_LABELS = re.compile(r"[*_`»\"”]{0,3}:(?!\w)")
_LIST_MARK = re.compile(r"(?:^|\n)\s{0,4}[-•+]$")

Worded = tuple[int, str]  # how many characters before the code go too, and the words


def in_words(text: str, start: int, end: int, language: str) -> tuple[int, int, str] | None:
    """Return the span and the plain words for a code inside a sentence, None if it is not safe."""
    before, after = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
    if _TOUCHES_AFTER.match(after) or _TOUCHES_BEFORE.search(before[-4:]):
        return None
    follower = _NEXT_WORD.match(after)
    if follower and base(follower[1]) in codes():
        return None
    code = base(text[start:end])
    plural = code != text[start:end]
    if plural and text[end - 1].isdigit():
        return None  # TEO2: which of them it is would be lost
    if _LABELS.match(after) and begins_sentence(before):  # «TEO: it is so»
        name = plain_name(code, language, plural=plural)
        return (start, end, capital(name)) if name else None
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
    entry, close = codes()[code].get("en"), before[-_CLOSE:]
    name = plain_name(code, "en", plural=plural)
    if not entry or not name:
        return None
    article = _ENGLISH_ARTICLE.search(close[-4:])
    if article:
        fitting = "an" if name[0] in "aeiou" else "a"
        return None if plural else (len(article[0]), f"{fitting} {name}")
    if _determined(before) or _HYPHEN_AFTER.match(after) or _HYPHEN_BEFORE.search(close[-2:]):
        return None if _BRACKET_AFTER.match(after) else (0, name)
    if not entry["the"] or plural:
        return 0, name
    follower = _FOLLOWER.match(after)
    if follower and not _is_no_noun(follower[1].lower()):
        return None  # «MON contexts» or «MON presses»: noun or verb cannot be told
    if _THAT.search(close):
        return None  # «shows that FEN» or «that FEN»
    return 0, f"the {name}"


def _determined(before: str) -> bool:
    """Whether an English noun here has its determiner: «the FEN», «a concrete FEN»."""
    if not _NOUN_BEFORE.search(before[-6:]):
        return False
    small = grammar("en")
    *_rest, second, last = ["", "", *words(before.lower())]
    return last in small["determiners"] or (
        second in small["leading"] and last not in small["function"]
    )


def _is_no_noun(word: str) -> bool:
    return word in grammar("en")["function"] | grammar("en")["verbs"] or word.endswith("ly")


def _in_romance(code: str, plural: bool, before: str, after: str, language: str) -> Worded | None:
    entry, small, close = codes()[code].get(language), grammar(language), before[-_CLOSE:]
    if not entry or _HYPHEN_AFTER.match(after) or _HYPHEN_BEFORE.search(close[-2:]):
        return None
    marked = _MARKED.search(close)
    if marked:  # «el *FEN*»: the article stands outside the mark
        return _inside_mark(code, plural, (marked[1] or f"{marked[2]}'").lower(), language)
    particle = _PARTICLE.search(close)
    word = particle[0].strip().lower().replace("’", "'") if particle else ""
    back, preposition, agreement = len(particle[0]) if particle else 0, "", ""
    if word in small["articles"]:
        agreement = small["articles"][word]
        earlier = _PREPOSITION.search(before[: len(before) - back])
        if earlier:
            preposition, back = earlier[1].lower(), back + len(earlier[0])
    elif word in small["contractions"]:
        preposition, agreement = small["contractions"][word].split()
    elif word == "d'" or word in small["prepositions"]:
        preposition = "de" if word == "d'" else word
    elif word in small["determiners"]:
        return _after_determiner(code, plural, small["determiners"][word], after, language)
    elif _EXISTS.search(close):
        return (0, name) if (name := plain_name(code, language, plural=plural)) else None
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


def _inside_mark(code: str, plural: bool, word: str, language: str) -> Worded | None:
    """Return the name after an article and a quotation mark or an asterisk, if they agree."""
    entry, small = codes()[code][language], grammar(language)
    agreement = small["articles"].get(word) or small["determiners"].get(word, "")
    agreement = agreement or small["contractions"].get(word, "").rpartition(" ")[2]
    many = agreement[1:] == "2" or (plural and not agreement)
    name = plain_name(code, language, plural=many)
    if not name or word == "d'" or word in small["prepositions"]:
        return None
    if not agreement:
        return 0, _with_article("", name, entry["gender"], many, language)
    agrees = agreement[0] in ("x", entry["gender"]) and (many or not plural)
    vowel = language == "ca" and not many and re.match(r"h?[aeiouàèéíòóú]", name) is not None
    elided = word == "l'"
    wanted = vowel and word in ("l'", "el", "la", "del", "al", "pel")
    return (0, name) if agrees and elided == wanted else None


def _is_apposition(before: str, word: str, language: str) -> bool:
    """Whether a noun may stand right before: «el marc TEO», «indicadors OBJ».

    Only short words and verbs that are known to be none are taken for none.
    """
    small = grammar(language)
    if word in small["function"] or word in small["verbs"]:
        earlier = [w.replace("’", "'") for w in _BEFORE_LAST.findall(before.lower())[-2:-1]]
        led = earlier[0] if earlier else ""
        articles = small["articles"].keys() | small["contractions"].keys()
        return word in small["verbs"] and led in articles | small["determiners"].keys()
    return not (word[-2:] in _PARTICIPLES and _PERFECT.search(before))


def _after_determiner(
    code: str, plural: bool, agreement: str, after: str, language: str
) -> Worded | None:
    many = agreement[1] == "2"
    name = plain_name(code, language, plural=many)
    fits = agreement[0] in ("x", codes()[code][language]["gender"]) and (many or not plural)
    return (0, name) if name and fits and not _BRACKET_AFTER.match(after) else None


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
    """Whether what follows `before` begins a sentence, a line, a list entry or a cell."""
    bare = before.rstrip(' \t*_#>|~`"“«¿¡(')
    return not bare or bare[-1] in ".!?…\n\r" or bool(_LIST_MARK.search(bare))


def capital(phrase: str) -> str:
    """Return the phrase with a capital first letter."""
    return phrase[:1].upper() + phrase[1:]


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return _WORDS.findall(text)


def base(token: str) -> str:
    """Return a code without its plural s or its number; what is no code comes back as it is."""
    known = codes()
    if token in known or len(token) < 4:
        return token
    bare = token.rstrip("0123456789₁₂₃₄₅₆₇₈₉") if len(token) == 4 else token
    if bare == token:
        bare = token[:-1] if token[-1] == "s" else token
    if token[-1] == "S" and token[:-1] in known and not is_also_a_word(token[:-1]):
        bare = token[:-1]  # TEOS, but no ARTS
    return bare if bare in known else token


def is_also_a_word(token: str) -> bool:
    """Whether the letters of a code are also an acronym or a word: MIT, EST, NOU."""
    return "also" in codes()[base(token)]


def is_core(token: str) -> bool:
    """Whether the code is one of the twelve that every text with codes uses."""
    return "core" in codes()[base(token)]


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


def language_of(text: str) -> str:
    """Return the language that a text seems to be in (ca, es, en), empty if that is not clear."""
    found = [word.lower() for word in _WORDS.findall(text[:20_000])]
    counts = sorted(
        (
            (sum(word in grammar(one)["telling"] for word in found), one)
            for one in ("ca", "es", "en")
        ),
        reverse=True,
    )
    (most, language), (second, _other), _last = counts
    return language if most > 1 and most >= 2 * second else ""


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
