"""The little HTML that we write ourselves, inside Markdown outputs.

It has to hold in a trusted output, in a sanitised one (inline styles may go, the text must stay
readable), in light and dark themes (only translucent colours), and inside Markdown: no blank line,
and no ``$`` that a front end would take for mathematics.
"""

from __future__ import annotations

import html

from ..text import clean, revealed
from .markdown import NO_MATH, without_math

WHOLE_LINE = "display:inline-block;min-width:100%"
ADDED = f"background:rgba(46,160,67,.18);{WHOLE_LINE}"
REMOVED = f"background:rgba(248,81,73,.18);{WHOLE_LINE}"
FAINT = "opacity:.65"
FRAME = "border-left:3px solid rgba(128,128,128,.35);padding:2px 0 2px 10px;margin:4px 0"
PRE = (
    "margin:4px 0;padding:6px 8px;background:rgba(128,128,128,.10);border-radius:4px;"
    "overflow-x:auto;white-space:pre;line-height:1.35;font-size:.92em"
)
WHOLE = f"{PRE};white-space:pre-wrap;overflow-wrap:anywhere"


def escape(text: str) -> str:
    """Text from outside as HTML text on one source line."""
    return without_math(html.escape(clean(text)).replace("\n", "&#10;"))


def code(text: str) -> str:
    """A path, a command or a title as inline code, with all that is in it to be seen."""
    one_line = revealed(text).replace("\n", "⏎")
    return f"<code>{escape(one_line)}</code>"


def faint(text: str) -> str:
    """Something said in passing; ``text`` is HTML."""
    return f'<span style="{FAINT}">{text}</span>'


def link(address: str, text: str) -> str:
    """A link to a page; ``address`` begins with ``http://`` or ``https://``."""
    return f'<a href="{escape(address)}" rel="noopener noreferrer">{escape(text)}</a>'


def pre(text: str) -> str:
    """Preformatted text."""
    return f'<pre style="{PRE}">{escape(text)}</pre>'


def whole(text: str) -> str:
    """What would run: preformatted text of which nothing is out of sight, or invisible."""
    return f'<pre style="{WHOLE}">{escape(revealed(text))}</pre>'


def pre_lines(lines: list[tuple[str, str]]) -> str:
    """Preformatted lines, each with a style of its own (may be empty)."""
    body = "&#10;".join(
        f'<span style="{style}">{escape(line)}</span>' if style else escape(line)
        for line, style in lines
    )
    return f'<pre style="{PRE}">{body}</pre>'


def fold(summary: str, body: str, is_open: bool = False) -> str:
    """A line that unfolds; both are HTML."""
    attribute = " open" if is_open else ""
    return f"<details{attribute}><summary>{summary}</summary>{body}</details>"


def block(text: str) -> str:
    """HTML as a block of its own: inside a paragraph, Markdown would look for its signs in it."""
    return f"<div {NO_MATH}>{text}</div>"


def frame(body: str) -> str:
    """A card."""
    return f'<div {NO_MATH} style="{FRAME}">{body}</div>'
