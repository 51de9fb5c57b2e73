"""Markdown as we read and render it ourselves: CommonMark without HTML and without images."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore, inline, text_join
from markdown_it.token import Token

from .risks import leads_astray


def render(text: str) -> str:
    """Markdown as HTML."""
    return str(_parser().render(text))


def blocks(text: str, env: dict[str, Any]) -> Iterator[list[Token]]:
    """The blocks at top level, each with all that is in it.

    Args:
        text: Markdown.
        env: takes the definitions of links, for ``render_block``.
    """
    return _top_level(_block_parser().parse(text, env))


def render_block(block: list[Token], env: dict[str, Any]) -> str:
    """A block as HTML."""
    state = StateCore("", _parser(), env, block)
    inline(state)
    text_join(state)
    return str(_parser().renderer.render(block, _parser().options, env))


def _top_level(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    block: list[Token] = []
    depth = 0
    for token in tokens:
        block.append(token)
        depth += token.nesting
        if depth == 0:
            yield block
            block = []


class _Parser(MarkdownIt):
    """CommonMark with tables, without HTML, and with links only to where a browser may go."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": False, "maxNesting": 60})
        self.enable(["table", "strikethrough"])
        self.add_render_rule("image", _image_as_link)

    def validateLink(self, url: str) -> bool:  # noqa: N802  # markdown-it's name
        return not leads_astray(url)


@cache
def _parser() -> _Parser:
    return _Parser()


@cache
def _block_parser() -> _Parser:
    """Finds the blocks only, in half the time."""
    parser = _Parser()
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


def _image_as_link(_renderer: Any, tokens: Sequence[Token], index: int, *_: Any) -> str:
    token = tokens[index]
    source = str(token.attrs.get("src", ""))
    label = f"{html.escape(token.content) or 'image'} (image, not loaded)"
    if not source.startswith(("http://", "https://")):
        return label
    return f'<a href="{html.escape(source)}" rel="noopener noreferrer">{label}</a>'
