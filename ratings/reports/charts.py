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
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>",
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


def _line(x1: float, y1: float, x2: float, y2: float, *, opacity: str) -> str:
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="currentColor" '
        f'stroke-opacity="{opacity}"/>'
    )
