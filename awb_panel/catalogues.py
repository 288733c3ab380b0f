"""Message catalogues without gettext's tools: `python -m awb_panel.catalogues compile|update|check`.

Message ids are English. `update` collects them from code and templates and adds what is new to the
catalogues; `check` fails for a message without a translation; `compile` writes the binary files.
"""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import polib

ROOT = Path(__file__).resolve().parent.parent
LOCALE = ROOT / "awb_panel" / "locale"
TRANSLATED = ("ca", "es")  # en is the language of the message ids
_CODE = ("awb_panel", "dilemmas", "ratings")
_KEYWORDS: dict[str, tuple[int, ...] | None] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "lazy": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": (1, 2),
}
Message = tuple[str, str, str]  # singular; plural and context ("" where there is none)


def messages() -> dict[Message, set[str]]:
    """Return every message of the project with the files that it stands in."""
    found: dict[Message, set[str]] = {}
    for path, source in _sources():
        for message in _messages_in(source):
            found.setdefault(message, set()).add(path.relative_to(ROOT).as_posix())
    return found


def _sources() -> Iterator[tuple[Path, str]]:
    from django.utils.translation.template import templatize

    for folder in _CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path, path.read_text()
    for path in sorted((ROOT / "templates").rglob("*.*")):
        if path.suffix in (".html", ".txt"):
            yield path, _as_python(templatize(path.read_text(), origin=str(path)))


def _as_python(templatized: str) -> str:
    """Keep only the calls that Django's templatize makes, one a line, as readable Python."""
    import re

    calls = re.findall(
        r"\b(?:gettext|ngettext|pgettext|_)\((?:[^()\"']|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'"
        r"|\"\"\".*?\"\"\"|\([^()]*\))*\)",
        templatized,
        flags=re.S,
    )
    return "\n".join(calls)


def _messages_in(source: str) -> Iterator[Message]:
    from babel.messages.extract import extract_python

    for _line, _function, text, _comments in extract_python(
        io.BytesIO(source.encode()), _KEYWORDS, [], {}
    ):
        parts = [str(part or "") for part in (text if isinstance(text, tuple | list) else [text])]
        if str(_function).startswith("pgettext") and len(parts) > 1:
            yield parts[1], "", parts[0]
        elif parts and parts[0]:
            is_plural = str(_function).startswith("ngettext") and len(parts) > 1
            yield parts[0], parts[1] if is_plural else "", ""


def _key(entry: polib.POEntry) -> Message:
    return entry.msgid, entry.msgid_plural or "", entry.msgctxt or ""


def _file(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "django.po"


def _catalogue(language: str) -> polib.POFile:
    if _file(language).exists():
        return polib.pofile(str(_file(language)), wrapwidth=100)
    made = polib.POFile(wrapwidth=100)
    made.metadata = {
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Language": language,
        "Plural-Forms": "nplurals=2; plural=(n != 1);",
    }
    return made


def update() -> None:
    """Add new messages to the catalogues and drop those that are gone."""
    wanted = messages()
    for language in TRANSLATED:
        catalogue = _catalogue(language)
        known = {_key(entry): entry for entry in catalogue}
        for key in set(known) - set(wanted):
            catalogue.remove(known[key])
        for key in sorted(set(wanted) - set(known)):
            singular, plural, context = key
            entry = polib.POEntry(msgid=singular, msgstr="", msgctxt=context or None)
            if plural:
                entry = polib.POEntry(
                    msgid=singular, msgid_plural=plural, msgstr_plural={0: "", 1: ""}
                )
            catalogue.append(entry)
        for entry in catalogue:
            entry.occurrences = []
        catalogue.sort(key=_key)
        _file(language).parent.mkdir(parents=True, exist_ok=True)
        catalogue.save(str(_file(language)))


def problems() -> list[str]:
    """Return what is missing: untranslated, fuzzy or left-over messages, lost placeholders."""
    import re

    wanted = set(messages())
    found = []
    for language in TRANSLATED:
        catalogue = _catalogue(language)
        known = {_key(entry): entry for entry in catalogue}
        found += [
            f"{language}: not in the catalogue: {m[0]!r}" for m in sorted(wanted - set(known))
        ]
        found += [f"{language}: left over: {m[0]!r}" for m in sorted(set(known) - wanted)]
        for key, entry in known.items():
            texts = list(entry.msgstr_plural.values()) if key[1] else [entry.msgstr]
            if entry.fuzzy or not all(texts):
                found.append(f"{language}: not translated: {key[0]!r}")
                continue
            names = set(re.findall(r"%\(\w+\)[sdgf]|%[sd]", key[1] or key[0]))
            lost = [t for t in texts[-1:] if set(re.findall(r"%\(\w+\)[sdgf]|%[sd]", t)) != names]
            found += [f"{language}: placeholders differ: {key[0]!r}" for _text in lost]
    return found


def compile_all() -> None:
    """Write the binary catalogues beside the sources."""
    for path in LOCALE.glob("*/LC_MESSAGES/django.po"):
        polib.pofile(str(path)).save_as_mofile(str(path.with_suffix(".mo")))


def main(arguments: list[str]) -> int:
    if arguments == ["compile"]:
        compile_all()
    elif arguments == ["update"]:
        update()
    elif arguments == ["check"]:
        found = problems()
        print("\n".join(found) or "Every message is translated.")
        return 1 if found else 0
    else:
        print(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
