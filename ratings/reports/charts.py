"""Small server-made pictures (SVG): presentation attributes only, which a strict CSP allows."""

from collections.abc import Sequence
from html import escape

_WIDTH, _HEIGHT, _PAD = 260, 28, 8


def against_threshold(
    *, estimate: float | None, interval: Sequence[float] | None, threshold: float, title: str
) -> str:
    """Return a dot with its interval on a line from 0 to 1, the threshold as a dashed line."""

    def x(value: float) -> float:
        return round(_PAD + max(0.0, min(1.0, value)) * (_WIDTH - 2 * _PAD), 1)

    middle = _HEIGHT / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img"><title>{escape(title)}</title>',
        f'<line x1="{x(0)}" y1="{middle}" x2="{x(1)}" y2="{middle}" stroke="currentColor" '
        'stroke-opacity=".25"/>',
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
