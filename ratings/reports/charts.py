"""Small server-made pictures (SVG): presentation attributes only, which a strict CSP allows."""

from collections.abc import Sequence
from html import escape

_WIDTH, _HEIGHT, _PAD = 260, 28, 8


def against_threshold(
    *,
    estimate: float | None,
    interval: Sequence[float] | None,
    threshold: float,
    low: float,
    title: str,
    description: str,
) -> str:
    """Return a dot with its interval on a line from `low` to 1, the threshold as a dashed line.

    Pictures that are read together have one `low`, 0 or -1. An interval that goes on beyond the
    line is drawn to its end. `title` and `description` are for those who do not see it; the same
    figures stand in a table beside it.
    """

    def x(value: float) -> float:
        place = (max(low, min(1.0, value)) - low) / (1.0 - low)
        return round(_PAD + place * (_WIDTH - 2 * _PAD), 1)

    middle = _HEIGHT / 2
    parts = [
        _opened(_WIDTH, _HEIGHT, title, description),
        _line(x(low), middle, x(1), middle, opacity=".25"),
        _line(x(0), middle - 4, x(0), middle + 4, opacity=".5"),
        _line(x(1), middle - 4, x(1), middle + 4, opacity=".5"),
        f'<line x1="{x(threshold)}" y1="2" x2="{x(threshold)}" y2="{_HEIGHT - 2}" '
        'stroke="currentColor" stroke-dasharray="3 3"/>',
    ]
    if interval is not None:
        parts.append(
            f'<line x1="{x(interval[0])}" y1="{middle}" x2="{x(interval[1])}" y2="{middle}" '
            'stroke="currentColor" stroke-width="3" stroke-opacity=".7"/>'
        )
    if estimate is not None:
        parts.append(f'<circle cx="{x(estimate)}" cy="{middle}" r="5" fill="currentColor"/>')
    return "".join([*parts, "</svg>"])


def range_beside(
    *, low: int, high: int, best_low: int, best_high: int, title: str, description: str
) -> str:
    """Return what was reached, a bar or dot, in the frame of what at best could be, from 0 on."""
    most = max(high, best_high, 1)

    def x(value: int) -> float:
        return round(_PAD + value / most * (_WIDTH - 2 * _PAD), 1)

    middle, left, right = _HEIGHT / 2, x(best_low) - 6, x(best_high) + 6
    return "".join(
        [
            _opened(_WIDTH, _HEIGHT, title, description),
            _line(x(0), middle, x(most), middle, opacity=".25"),
            f'<rect x="{left:.1f}" y="4" width="{right - left:.1f}" height="{_HEIGHT - 8}" rx="3" '
            'fill="none" stroke="currentColor"/>',
            f'<line x1="{x(low) - 3:.1f}" y1="{middle}" x2="{x(high) + 3:.1f}" y2="{middle}" '
            'stroke="currentColor" stroke-width="6"/>',
            "</svg>",
        ]
    )


def lanes(
    names: Sequence[str],
    marks: Sequence[tuple[int | None, bool]],
    *,
    every: int,
    title: str,
    description: str,
) -> str:
    """Return an order from left to right: a lane a name, and in each slot one mark.

    Parameters
    ----------
    names : sequence of str
        What the lanes are called; long ones are cut.
    marks : sequence of (lane, again)
        One a slot. No lane is a mark across all lanes; what comes again is hollow.
    every : int
        A hairline stands after so many slots; 0 is none.
    """
    left, step, tall = 100, 4, 14
    width, height = left + step * len(marks) + _PAD, tall * len(names) + 4
    shown = [f"{name[:10]}…" if len(name) > 11 else name for name in names]
    parts = [_opened(width, height, title, description)]
    parts += [
        f'<text x="0" y="{tall * lane + 12}" font-size="12" fill="currentColor">{escape(name)}</text>'
        for lane, name in enumerate(shown)
    ]
    first, again, across = [], [], []
    for slot, (lane, is_again) in enumerate(marks):
        x = left + step * slot
        if lane is None:
            across.append(f"M{x + 1.5} 2V{height - 2}")
        elif is_again:
            again.append(f"M{x + 0.5} {tall * lane + 3.5}h2v9h-2z")
        else:
            first.append(f"M{x} {tall * lane + 3}h3v10h-3z")
    parts.append(f'<path d="{"".join(first)}" fill="currentColor"/>')
    parts.append(f'<path d="{"".join(again + across)}" fill="none" stroke="currentColor"/>')
    for slot in range(every, len(marks), every) if every else ():
        border = left + step * slot - 0.5
        parts.append(_line(border, 0, border, height, opacity=".4"))
    return "".join([*parts, "</svg>"])


def _opened(width: int, height: int, title: str, description: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
    )


def _line(x1: float, y1: float, x2: float, y2: float, *, opacity: str) -> str:
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="currentColor" '
        f'stroke-opacity="{opacity}"/>'
    )
