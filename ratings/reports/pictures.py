"""The report's larger pictures (SVG): presentation attributes only, one colour that follows the page.

Each has a title and a description for those who do not see it; the figures stand in a table beside
it, or in the report's JSON where they are hundreds.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import NamedTuple

_PAD = 8


Shown = Callable[[float], str]  # how the page writes a number


def plainly(value: float) -> str:
    return f"{value:g}".replace("-", "−")


class Bar(NamedTuple):
    """A line of a forest plot; what is not `strong` is drawn thin (explored, not registered)."""

    label: str
    estimate: float | None
    interval: Sequence[float] | None
    strong: bool = True


def grid(
    counts: Sequence[Sequence[int]],
    levels: Sequence[str],
    *,
    rows: str,
    columns: str,
    title: str,
    description: str,
) -> str:
    """Return a square table of counts, the darker the more; `rows` and `columns` name its sides."""
    side, left, top = 34, 44, 40
    width, height = left + side * len(levels) + _PAD, top + side * len(levels) + _PAD
    most = max((n for row in counts for n in row), default=0) or 1
    parts = [
        opened(width, height, title, description),
        _text(left + side * len(levels) / 2, 12, columns, anchor="middle"),
        f'<g transform="rotate(-90 12 {top + side * len(levels) / 2})">'
        f"{_text(12, top + side * len(levels) / 2, rows, anchor='middle')}</g>",
    ]
    for place, level in enumerate(levels):
        parts.append(_text(left + side * (place + 0.5), top - 8, level, anchor="middle"))
        parts.append(_text(left - 10, top + side * (place + 0.5) + 4, level, anchor="middle"))
    for y, row in enumerate(counts):
        for x, n in enumerate(row):
            shade = round(0.42 * n / most, 3)
            parts.append(
                f'<rect x="{left + side * x}" y="{top + side * y}" width="{side - 1}" '
                f'height="{side - 1}" fill="currentColor" fill-opacity="{shade}" '
                f'stroke="currentColor" stroke-opacity="{".6" if x == y else ".15"}"/>'
            )
            parts.append(
                _text(left + side * (x + 0.5), top + side * (y + 0.5) + 4, f"{n}", anchor="middle")
            )
    return "".join([*parts, "</svg>"])


def forest(
    bars: Sequence[Bar],
    *,
    low: float,
    high: float,
    at: float | None,
    title: str,
    description: str,
    shown: Shown = plainly,
) -> str:
    """Return estimates with their intervals on one axis from `low` to `high`, a line at `at`."""
    left, width, tall = 150, 480, 22
    height = tall * len(bars) + 30
    span = (high - low) or 1.0

    def x(value: float) -> float:
        return round(left + (min(high, max(low, value)) - low) / span * (width - left - 16), 1)

    parts = [opened(width, height, title, description)]
    if at is not None:
        parts.append(_rule(x(at), 2, x(at), height - 24, dashed=True))
    for place, bar in enumerate(bars):
        y = tall * place + 13
        name = bar.label if len(bar.label) <= 20 else f"{bar.label[:19]}…"
        parts.append(_text(0, y + 4, name))
        if bar.interval is not None:
            parts.append(
                f'<line x1="{x(bar.interval[0])}" y1="{y}" x2="{x(bar.interval[1])}" y2="{y}" '
                f'stroke="currentColor" stroke-width="{3 if bar.strong else 1}" stroke-opacity=".7"/>'
            )
        if bar.estimate is not None:
            fill = "currentColor" if bar.strong else "none"
            parts.append(
                f'<circle cx="{x(bar.estimate)}" cy="{y}" r="4.5" fill="{fill}" '
                'stroke="currentColor"/>'
            )
    parts.append(_rule(x(low), height - 22, x(high), height - 22))
    for value in (low, high):
        parts.append(_text(x(value), height - 6, shown(value), anchor="middle"))
    return "".join([*parts, "</svg>"])


def scatter(
    points: Sequence[Sequence[float]],
    *,
    low: float,
    high: float,
    across: str,
    up: str,
    title: str,
    description: str,
) -> str:
    """Return points in a square from `low` to `high` both ways, with the line of equality."""
    size, left, bottom = 260, 40, 36
    span = (high - low) or 1.0

    def place(value: float) -> float:
        return (min(high, max(low, value)) - low) / span * size

    parts = [
        opened(left + size + _PAD, size + bottom + _PAD, title, description),
        f'<rect x="{left}" y="{_PAD}" width="{size}" height="{size}" fill="none" '
        'stroke="currentColor" stroke-opacity=".3"/>',
        _rule(left, _PAD + size, left + size, _PAD, dashed=True),
    ]
    parts += _dots((left + place(x), _PAD + size - place(y)) for x, y in points)
    parts += _frame(left, size, low, high, low, high, across, up)
    return "".join([*parts, "</svg>"])


def differences(
    points: Sequence[Sequence[float]],
    *,
    low: float,
    high: float,
    bias: float | None,
    limits: Sequence[float] | None,
    across: str,
    up: str,
    title: str,
    description: str,
) -> str:
    """Return Bland & Altman's picture: mean across, second minus first up, bias and limits."""
    size, left, bottom = 260, 40, 36
    span = (high - low) or 1.0
    parts = [
        opened(left + size + _PAD, size + bottom + _PAD, title, description),
        f'<rect x="{left}" y="{_PAD}" width="{size}" height="{size}" fill="none" '
        'stroke="currentColor" stroke-opacity=".3"/>',
    ]

    def y(value: float) -> float:
        return _PAD + size / 2 - min(span, max(-span, value)) / span * size / 2

    parts.append(_rule(left, y(0), left + size, y(0)))
    for value, dashed in ((bias, False), *((limit, True) for limit in limits or ())):
        if value is not None:
            parts.append(
                f'<line x1="{left}" y1="{y(value):.1f}" x2="{left + size}" y2="{y(value):.1f}" '
                f'stroke="currentColor" stroke-width="2"{DASHES if dashed else ""}/>'
            )
    parts += _dots((left + ((a + b) / 2 - low) / span * size, y(b - a)) for a, b in points)
    parts += _frame(left, size, low, high, -span, span, across, up)
    return "".join([*parts, "</svg>"])


def _dots(places: Iterable[tuple[float, float]]) -> list[str]:
    """Draw points; those that fall together are one dot, larger by how many they are."""
    counts = Counter((round(x, 1), round(y, 1)) for x, y in places)
    return [
        f'<circle cx="{x}" cy="{y}" r="{min(11.0, 2.5 * n**0.5):.1f}" fill="currentColor" '
        'fill-opacity=".3"/>'
        for (x, y), n in sorted(counts.items())
    ]


DASHES = ' stroke-dasharray="6 4"'


def opened(width: float, height: float, title: str, description: str) -> str:
    """Begin a picture that shrinks with its page and is read out."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" class="picture">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
    )


def _frame(
    left: float,
    size: float,
    low: float,
    high: float,
    bottom: float,
    top: float,
    across: str,
    up: str,
) -> list[str]:
    def number(value: float) -> str:
        return f"{value:g}".replace("-", "−")

    return [
        _text(left, _PAD + size + 14, number(low), anchor="middle"),
        _text(left + size, _PAD + size + 14, number(high), anchor="middle"),
        _text(left + size / 2, _PAD + size + 30, across, anchor="middle"),
        _text(left - 8, _PAD + size, number(bottom), anchor="end"),
        _text(left - 8, _PAD + 8, number(top), anchor="end"),
        f'<g transform="rotate(-90 12 {_PAD + size / 2})">'
        f"{_text(12, _PAD + size / 2, up, anchor='middle')}</g>",
    ]


def _text(x: float, y: float, text: str, *, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" fill="currentColor" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


def _rule(x1: float, y1: float, x2: float, y2: float, *, dashed: bool = False) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" '
        f'stroke-opacity=".5"{DASHES if dashed else ""}/>'
    )
