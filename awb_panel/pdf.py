"""A page as a PDF, where the extra `pdf` (WeasyPrint) is installed; everywhere else it can be printed."""

from importlib.util import find_spec
from typing import Any

# For paper, and in what WeasyPrint knows: the site's own styles are for screens.
_STYLE = """
@page { size: A4; margin: 20mm 18mm; @bottom-right { content: counter(page) " / " counter(pages); font-size: 8pt } }
body { font: 10.5pt/1.4 "DejaVu Serif", Georgia, serif; overflow-wrap: anywhere }
h1 { font-size: 18pt } h2 { font-size: 13pt; margin-top: 1.6em } h3 { font-size: 11pt }
h1, h2, h3 { break-after: avoid }
header, footer, nav, form, script, .no-print, .visually-hidden, .skip { display: none }
dt { font-weight: bold; margin-top: .7em } dd { margin: 0; break-inside: avoid } .kept { white-space: pre-wrap }
table { border-collapse: collapse; font-size: 8.5pt } th { text-align: left; padding-right: 1em }
"""


def is_available() -> bool:
    """Tell whether WeasyPrint is installed."""
    return find_spec("weasyprint") is not None


def pdf_of(html: str) -> bytes:
    """Return a page as a PDF; nothing that the page names is fetched.

    Raises `ImportError` where the extra, or the Pango that it needs, is missing.
    """
    from weasyprint import CSS, HTML

    return bytes(HTML(string=html, url_fetcher=_refuse).write_pdf(stylesheets=[CSS(string=_STYLE)]))


def _refuse(url: str, *_: Any, **__: Any) -> Any:
    raise ValueError(f"{url} is not fetched")
