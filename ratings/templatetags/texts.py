"""Showing texts that people or machines wrote: Markdown as a reader would see it, always cleaned."""

import nh3
from django import template
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

register = template.Library()
_TAGS = {
    "p", "em", "strong", "ul", "ol", "li", "blockquote", "code", "pre", "br", "hr", "h4",
    "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip


class _Renderer(RendererHTML):
    """Every heading is of one rank, below the page's own."""

    def heading_open(self, tokens: list[Token], idx: int, options: object, env: object) -> str:
        return "<h4>"

    def heading_close(self, tokens: list[Token], idx: int, options: object, env: object) -> str:
        return "</h4>\n"


_MARKDOWN = MarkdownIt(
    "commonmark", {"html": False, "breaks": True}, renderer_cls=_Renderer
).enable("table").disable(["image", "link", "autolink"])  # fmt: skip


@register.filter
def reading(text: str) -> SafeString:
    """Render untrusted Markdown; the cleaner has the last word (no links, images or attributes)."""
    html = nh3.clean(_MARKDOWN.render(text), tags=_TAGS, attributes={}, link_rel=None)
    return mark_safe(html.replace("<p>", '<p dir="auto">'))  # noqa: S308 (cleaned above)


@register.filter
def get(mapping: dict[str, str], key: str) -> str:
    return mapping.get(key, "")
