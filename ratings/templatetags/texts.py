"""Showing texts that people or machines wrote: Markdown as a reader would see it, always cleaned."""

import re

import nh3
from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from dilemmas.markdown import parser

register = template.Library()
_TAGS = {
    "p", "em", "strong", "ul", "ol", "li", "blockquote", "code", "pre", "br", "hr", "h2", "h4",
    "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip


class _Renderer(RendererHTML):
    """Every heading is of one rank, below the page's own."""

    rank = "h4"

    def heading_open(self, tokens: list[Token], idx: int, options: object, env: object) -> str:
        return f"<{self.rank}>"

    def heading_close(self, tokens: list[Token], idx: int, options: object, env: object) -> str:
        return f"</{self.rank}>\n"


class _Chapters(_Renderer):
    rank = "h2"


_MARKDOWN, _IN_CHAPTERS = parser(), parser()
_MARKDOWN.renderer, _IN_CHAPTERS.renderer = _Renderer(), _Chapters()


@register.filter
def reading(text: str) -> SafeString:
    """Render untrusted Markdown; the cleaner has the last word (no links, images or attributes)."""
    return _cleaned(_MARKDOWN.render(text))


@register.filter
def chapters(text: str) -> SafeString:
    """Render a coordinator's Markdown whose headings are the page's chapters."""
    return _cleaned(_IN_CHAPTERS.render(text))


def _cleaned(html: str) -> SafeString:
    html = nh3.clean(html, tags=_TAGS, attributes={"ol": {"start"}}, link_rel=None)
    return mark_safe(html.replace("<p>", '<p dir="auto">'))  # noqa: S308 (cleaned above)


@register.filter
def plain(text: str) -> SafeString:
    """Show a text letter by letter, in paragraphs: what is a mark in Markdown is a letter here."""
    paragraphs = (one for one in re.split(r"\n[ \t]*\n", text) if one.strip())
    html = "\n".join(
        f'<p dir="auto">{escape(one.strip(chr(10))).replace(chr(10), "<br>")}</p>'
        for one in paragraphs
    )
    return mark_safe(html)  # noqa: S308 (every letter is escaped)


@register.filter
def get(mapping: dict[str, str], key: str) -> str:
    return mapping.get(key, "")
