"""From bytes to characters: which encoding a file is in, never guessed in silence."""

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

from dilemmas.services.reading.problems import UNREADABLE, ImportRefused, Problem, Problems

_CHUNK = 1 << 20
_BOMS = (  # the longer ones first: UTF-32's begins as UTF-16's
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
_NO_TEXT = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "xls"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"%PDF-", "pdf"),
    (b"\x1f\x8b", "gzip"),
    (b"{\\rtf", "rtf"),
)
# What a Western text has only if it was written in another encoding: «na•ve» is Mac Roman read as
# Windows-1252, «cafŽ» too; four accented letters on end are Cyrillic, Greek, Chinese …
_ODD = re.compile(r"[^\W\d_][†‡ˆ‰‹›•˜™ƒ¢£¤¥¦§¨©¬®¯¶¸¼½¾‚„][^\W\d_]|[a-z][ŽŠŸ]|[À-ÖØ-öø-ÿ]{4}")
_ESCAPED, _BEYOND = re.compile("[\udc80-\udcff]"), re.compile("[^\0-\x7f]")
_MOSTLY = 3  # whole characters for each broken byte, and a file counts as UTF-8 that was damaged
_SOMETHING = re.compile(rb"[^\x00\s]")
_WORDS = re.compile(r"[^\s,;\"]*[^\x00-\x7f][^\s,;\"]*")


@dataclass(frozen=True)
class Encoding:
    """How the bytes of a file are read. `note` is empty unless it had to be assumed."""

    codec: str
    label: str
    note: str = ""
    errors: str = "strict"

    def notes(self) -> list[str]:
        return [self.note] if self.note else []


def binary_kind(content: bytes) -> str:
    """Return what a file is that is no text: xls, zip (XLSX too), pdf, gzip, rtf; else nothing."""
    return next((kind for magic, kind in _NO_TEXT if content.startswith(magic)), "")


def detect(content: bytes, *, name: str, repair: bool = False) -> Encoding:
    """Return the encoding of a text file.

    UTF-8 with or without a mark, UTF-16 and UTF-32 are recognised. Bytes that are none of them, and
    could be Windows-1252 (Latin-1), are read so and said to be. A file that is UTF-8 but for some
    bytes is broken: it is refused with its lines, or read with U+FFFD in their place if `repair`.
    Raises `ImportRefused`.
    """
    problems = Problems(name)
    mark, codec, label = next((one for one in _BOMS if content.startswith(one[0])), (b"", "", ""))
    if not _SOMETHING.search(content, len(mark)):
        problems.add(0, "", _("The file is empty."), _("Choose the file that has the rows."))
        problems.refuse()
    if codec:
        return _checked(content, Encoding(codec, label), problems, repair=repair)
    wide = _unmarked_utf16(content) if b"\0" in content else None
    if wide:
        return _checked(content, Encoding(wide, "UTF-16"), problems, repair=repair)
    nul = b"\0" in content
    whole, broken = _look(content)
    if broken and not whole and not nul:
        return _western(content, problems)
    if broken and whole < _MOSTLY * broken and not nul:
        raise _nobody_knows(problems, _first_broken(content))
    if not repair:
        for line, one in _byte_lines(content) if nul or broken else ():
            if b"\0" in one:
                _unreadable(problems, line, _("There is a NUL character."))
            if broken and not _is_utf8(one):
                _unreadable(problems, line, _("Some bytes of it are not UTF-8."))
    problems.refuse()
    return Encoding("utf-8", "UTF-8", errors="replace" if broken else "strict")


def _nobody_knows(problems: Problems, line: int) -> ImportRefused:
    message = _("The file is neither UTF-8 nor Windows-1252: nobody can tell what its letters are.")
    problem = Problem(line, "", message, _("Save it as «CSV UTF-8» and try again."))
    return ImportRefused([problem], name=problems.name)


def _first_broken(content: bytes) -> int:
    return next(line for line, one in _byte_lines(content) if not _is_utf8(one))


def _unreadable(problems: Problems, line: int, message: str) -> None:
    remedy = _("Save the file again as «CSV UTF-8», or have them replaced by «\ufffd».")
    problems.add(line, "", message, remedy, kind=UNREADABLE)


def open_text(content: bytes, encoding: Encoding) -> io.TextIOWrapper:
    """Return the characters as a stream, line ends as they are; memory for a piece at a time."""
    return io.TextIOWrapper(
        io.BytesIO(content), encoding=encoding.codec, errors=encoding.errors, newline=""
    )


def _checked(content: bytes, encoding: Encoding, problems: Problems, *, repair: bool) -> Encoding:
    """Return the encoding if the whole file is valid in it and has no NUL, or `repair` is wanted."""
    if repair:
        return Encoding(encoding.codec, encoding.label, errors="replace")
    valid, nul = True, False
    try:
        nul = any("\0" in piece for piece in _decoded(content, encoding.codec, "strict"))
    except UnicodeDecodeError:
        valid = False
    if nul or not valid:
        text = content.decode(encoding.codec, "replace")
        for line, one in enumerate(text.split("\n"), start=1):
            if "\0" in one:
                _unreadable(problems, line, _("There is a NUL character."))
            if "\ufffd" in one and not valid:
                _unreadable(problems, line, _("Some bytes of it are not %s.") % encoding.label)
        problems.refuse()
    return encoding


def _decoded(content: bytes, codec: str, errors: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(codec)(errors)
    view = memoryview(content)
    for start in range(0, len(content), _CHUNK):
        yield decoder.decode(view[start : start + _CHUNK], start + _CHUNK >= len(content))  # type: ignore[arg-type]


def _look(content: bytes) -> tuple[int, int]:
    """Return how many characters beyond ASCII are whole UTF-8, and how many bytes are not."""
    whole = broken = 0
    for piece in _decoded(content, "utf-8", "surrogateescape"):
        if not piece.isascii():
            escaped = len(_ESCAPED.findall(piece))
            broken += escaped
            whole += len(_BEYOND.findall(piece)) - escaped
    return whole, broken


def _byte_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    return enumerate(content.split(b"\n" if b"\n" in content else b"\r"), start=1)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _unmarked_utf16(content: bytes) -> str | None:
    """Return the codec of UTF-16 without a mark: every other byte of a Western header is 0."""
    head = content[:512]
    if len(content) % 2 or len(head) < 4:
        return None
    even, odd = head[0::2].count(0), head[1::2].count(0)
    many = len(head) // 4
    if odd > many and even == 0:
        return "utf-16-le"
    if even > many and odd == 0:
        return "utf-16-be"
    return None


def _western(content: bytes, problems: Problems) -> Encoding:
    """Return Windows-1252, saying so with examples, if the text can have been written in it."""
    line, examples = 1, dict[str, None]()
    try:
        for piece in _decoded(content, "cp1252", "strict"):
            odd = _ODD.search(piece)
            if odd:
                line += piece.count("\n", 0, odd.start())
                break
            line += piece.count("\n")
            if len(examples) < 3:
                words = (m[0] for m in _WORDS.finditer(piece))
                examples |= dict.fromkeys(
                    word[:40] for word, _n in zip(words, range(20), strict=False)
                )
        else:
            shown = ", ".join(f"«{word}»" for word in list(examples)[:3])
            note = _(
                "The file is not UTF-8. It was read as Windows-1252 (Latin-1), for example %s. If "
                "these letters are wrong, save it as «CSV UTF-8» and choose it again."
            )
            return Encoding("cp1252", "Windows-1252 (Latin-1)", note % shown)
    except UnicodeDecodeError as error:
        line += bytes(error.object[: error.start]).count(b"\n")
    raise _nobody_knows(problems, line)
