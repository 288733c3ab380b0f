"""Numbers as each language writes them: decimal comma in ca and es, `[0,41; 0,63]`, `95 %`."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django import template
from django.utils.translation import get_language

# In all filters: a template hands on "" for a figure that the document does not have.
register = template.Library()
_NARROW_SPACE = "\u202f"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _comma() -> bool:
    return (get_language() or "ca")[:2] in ("ca", "es")


@register.filter
def figure(value: float | None, digits: int = 2) -> str:
    """Return a number with a fixed count of decimals; «–» where there is none."""
    if value in (None, ""):
        return "–"
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    text = text.replace("-", "−")
    return text.replace(".", ",") if _comma() else text


@register.filter
def interval(bounds: Sequence[float] | None, digits: int = 2) -> str:
    """Return an interval in brackets; «–» where there is none."""
    if bounds in (None, ""):
        return "–"
    separator = "; " if _comma() else ", "
    return f"[{separator.join(figure(bound, digits) for bound in bounds)}]"


@register.filter
def percent(value: float | None) -> str:
    if value in (None, ""):
        return "–"
    return f"{figure(100 * value, 0)}{_NARROW_SPACE}%" if _comma() else f"{100 * value:.0f}%"


@register.filter
def p_value(value: float | None) -> str:
    """Return p with enough digits to tell small ones apart."""
    if value in (None, ""):
        return "–"
    if value >= 0.001:
        return figure(value, 3)
    mantissa, exponent = f"{value:.1e}".split("e")
    mantissa = mantissa.replace(".", ",") if _comma() else mantissa
    return f"{mantissa} × 10{str(int(exponent)).translate(_RAISED)}"


@register.filter
def hours(value: timedelta) -> str:
    """Return a duration in hours and minutes, in units that the three languages share."""
    whole, minutes = divmod(round(value.total_seconds() / 60), 60)
    return f"{whole}\u00a0h {minutes:02}\u00a0min" if whole else f"{minutes}\u00a0min"


@register.filter
def moment(value: str | None) -> datetime | None:
    """Return a document's point in time, for the `date` filter."""
    return datetime.fromisoformat(value) if value else None


@register.filter
def lookup(mapping: dict[str, object], key: str) -> object:
    return mapping.get(key)
