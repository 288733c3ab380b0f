"""How a person wants to read: text size, line length, contrast, theme, single-key shortcuts.

Kept in a cookie of the device, because a tablet and a desktop want different things, and so that
the first byte of a page is already right, with scripts or without.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

COOKIE = "awb_reading"
AGE_S = 365 * 24 * 3600
CHOICES: Mapping[str, tuple[str, ...]] = {
    "theme": ("auto", "light", "dark"),
    "size": ("normal", "large", "larger", "largest"),
    "measure": ("narrow", "normal", "wide"),
    "contrast": ("normal", "high"),
    "shortcuts": ("on", "off"),
}


@dataclass(frozen=True)
class Preferences:
    """One of `CHOICES` each; the defaults follow the device."""

    theme: str = "auto"
    size: str = "normal"
    measure: str = "normal"
    contrast: str = "normal"
    shortcuts: str = "on"

    @classmethod
    def chosen(cls, values: Mapping[str, str]) -> "Preferences":
        """Take what is one of the choices; anything else stays at its default."""
        known = {f.name: values.get(f.name, "") for f in fields(cls)}
        return cls(**{name: value for name, value in known.items() if value in CHOICES[name]})

    @classmethod
    def read(cls, cookie: str) -> "Preferences":
        """Read the cookie's text, e.g. ``theme:dark.size:large``."""
        pairs = (part.partition(":") for part in cookie[:200].split("."))
        return cls.chosen({name: value for name, _colon, value in pairs})

    def text(self) -> str:
        """Return what the cookie keeps: what differs from the defaults.

        >>> Preferences(theme="dark", size="large").text()
        'theme:dark.size:large'
        """
        default = Preferences()
        return ".".join(
            f"{name}:{value}"
            for name, value in asdict(self).items()
            if value != getattr(default, name)
        )
