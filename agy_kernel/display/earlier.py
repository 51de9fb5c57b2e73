"""What was said in a session before it was loaded: one folded block, apart from any answer."""

from __future__ import annotations

from ..conversation.history import History, Said
from ..text import clean
from .html import code, escape, faint, fold, frame
from .markdown import to_html


def html(history: History) -> str:
    """The block."""
    return frame(fold(faint(_heading(history)), "".join(_line(one) for one in history.said)))


def plain(history: History) -> str:
    """The same as one line of text."""
    return _heading(history)


def _heading(history: History) -> str:
    count = len(history.said) + history.left_out
    cut = f", the last {len(history.said)} are here" if history.left_out else ""
    return f"earlier in this session: {count} message{'s' if count != 1 else ''}{cut}"


def _line(one: Said) -> str:
    if one.by == "tool":
        return f"<div>{code(clean(one.text).replace(chr(10), ' '))}</div>"
    if one.by == "you":
        return f"<div>{faint('you:')} {escape(one.text)}</div>"
    return f"<div>{faint('agent:')}</div>{to_html(one.text)}"
