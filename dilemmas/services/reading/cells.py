"""A spreadsheet's cell as text: whole numbers without «.0», dates by ISO 8601, escapes undone. Pure."""

import math
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LITERAL = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.|\*.')
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_ZEROS = re.compile("0{2,40}")
_WHOLE = re.compile(r"-?\d{1,400}")
# Number formats that every workbook has without defining them: ECMA-376, part 1, 18.8.30.
_BUILT_IN = (
    dict.fromkeys((14, 15, 16, 17, *range(27, 32), 36, *range(50, 59)), "d")
    | dict.fromkeys((18, 19, 20, 21, 32, 33, 34, 35, 45, 47), "t")
    | {22: "dt"}
)
_DAY = 86_400
_FIRST_SERIAL, _LAST_SERIAL = 0.0, 2_958_466.0  # to the end of the year 9999


def number_format(code: int, custom: str | None) -> str:
    """Return what a number format shows: "d", "t", "dt", zeros to fill up to, or "" for a number."""
    if custom is None:
        return _BUILT_IN.get(code, "")
    if _ELAPSED.search(custom):  # how long something took is no moment: it stays a number of days
        return ""
    shown = _LITERAL.sub("", custom).split(";")[0].lower()
    if _ZEROS.fullmatch(shown):
        return shown
    if shown == "general" or "0" in shown or "#" in shown:
        return ""
    time = "t" if re.search("[hs]", shown) else ""
    date = "d" if re.search("[dy]", shown) or ("m" in shown and not time) else ""
    return date + time


def number_text(raw: str, shown: str, *, is_1904: bool) -> str:
    """Return a number as a person would write it. Raises ValueError for what is none."""
    value = float(raw)
    if not math.isfinite(value):
        raise ValueError(raw)
    if shown.strip("0"):
        made = _moment(value, shown, is_1904=is_1904)
        if made:
            return made
    if _WHOLE.fullmatch(raw):
        text = raw
    elif value.is_integer() and abs(value) < 1e30:
        text = str(int(Decimal(raw)))
    else:
        text = repr(value)
    return text.zfill(len(shown)) if shown and not shown.strip("0") else text


def _moment(serial: float, shown: str, *, is_1904: bool) -> str:
    """Return a date and time by ISO 8601; nothing for a number that is none."""
    if not _FIRST_SERIAL <= serial < _LAST_SERIAL - (1_462 if is_1904 else 0):
        return ""
    whole, seconds = divmod(round(serial * _DAY, 3), _DAY)
    if is_1904:
        day = datetime(1904, 1, 1)
    elif whole == 60:  # the 29th of February 1900, which Excel has and the calendar has not
        return ""
    else:
        day = datetime(1899, 12, 30 if whole > 60 else 31)
    moment = day + timedelta(days=whole, seconds=seconds)
    clock = moment.time().isoformat("milliseconds" if moment.microsecond else "seconds")
    if shown == "t" and serial < 1:
        return clock
    return moment.date().isoformat() + (f"T{clock}" if "t" in shown or seconds else "")


def unescaped(text: str) -> str:
    """Return a string of a workbook with `_x000D_` and the like as the characters they stand for."""
    if "_x" not in text:
        return text
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    if _SURROGATE.search(text):  # two halves make a character; one alone stays what it is
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return text


def column_number(reference: str) -> int:
    """Return 0 for A, 25 for Z, 26 for AA, … of a reference such as AB12. Raises ValueError."""
    letters = re.match("[A-Z]{1,3}", reference)
    if letters is None:
        raise ValueError(reference)
    number = 0
    for letter in letters[0]:
        number = number * 26 + ord(letter) - 64
    return number - 1


def row_number(reference: str) -> int:
    """Return 12 for AB12. Raises ValueError."""
    return int(reference.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))


def format_kinds(xfs: Sequence[int], custom: dict[int, str]) -> list[str]:
    """Return what each cell style shows, in the order in which cells refer to them."""
    return [number_format(code, custom.get(code)) for code in xfs]
