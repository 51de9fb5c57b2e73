"""Agent Markdown, made safe to show.

A front end renders Markdown with raw HTML and loads remote images, and a live output is trusted.
So of an agent's Markdown only what can do no harm is passed through as it is, part by part, and
each part stands by itself: no parser may take it for HTML, an image, or a link to run code, and
nothing that begins in it, a fence or mathematics, goes on in the next. Code fences are written
anew, in the one form on which all parsers agree. Of the rest, each block that is risky is rendered
here to HTML that we write ourselves: raw HTML escaped, images as links.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore, inline, text_join
from markdown_it.token import Token

from .risks import FENCE, INFO, is_odd_code, is_risky, leads_astray

# A fence at the margin is at top level, whatever stands around it.
FENCED = re.compile(
    r"^((`|~)\2{2,})(?![^\n]*\2)([^\n]*)\n?(.*?)(?:^ {0,3}\1\2*[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)

# Controls other than tab and newline, and those that reorder text on the screen.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-_])")
NEWLINES = re.compile("\r\n?|[\u2028\u2029]")


def clean(text: str) -> str:
    r"""Text without ANSI sequences, control characters and lone surrogates; newlines as ``\\n``."""
    if not text.isascii():
        # A pair of surrogates may have come in two chunks; what has no partner becomes "?".
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return CONTROLS.sub("", ANSI.sub("", NEWLINES.sub("\n", text)))


def safe(text: str) -> str:
    """Agent Markdown as Markdown that is safe in a trusted output, beside other such Markdown."""
    text = clean(text)
    if not FENCE.search(text) and not is_risky(text):
        return text
    env: dict[str, Any] = {}
    return "\n\n".join([part for part in _safe_parts(text, env) if part])


def to_html(text: str) -> str:
    """Agent Markdown as safe HTML, on one line."""
    return _one_line(_parser().render(clean(text)))


def without_math(markup: str) -> str:
    """HTML in which no parser of Markdown finds mathematics, whatever it says."""
    return markup.replace("$", "&#36;").replace("\\", "&#92;")


# -- parts


def _safe_parts(text: str, env: dict[str, Any]) -> Iterator[str]:
    done = 0
    for match in FENCED.finditer(text):
        yield from _safe_part(text[done : match.start()].strip("\n"), env)
        yield _fence(match[3], match[4])
        done = match.end()
    yield from _safe_part(text[done:].strip("\n"), env)


def _safe_part(text: str, env: dict[str, Any]) -> Iterator[str]:
    if is_risky(text):
        yield from _safe_blocks(text, env)
    else:
        yield text


def _fence(info: str, content: str) -> str:
    """A code fence as all parsers read it, or HTML."""
    match = INFO.match(info.strip())
    language = match[0] if match else ""
    if is_odd_code(language, content):
        return _one_line(f"<pre><code>{html.escape(content)}</code></pre>")
    longest = max((len(run) for run in re.findall("`+", content)), default=0)
    marker = "`" * max(3, longest + 1)
    newline = "" if content.endswith("\n") or not content else "\n"
    return f"{marker}{language}\n{content}{newline}{marker}"


def _safe_blocks(text: str, env: dict[str, Any]) -> Iterator[str]:
    lines = text.split("\n")
    done = 0
    for block in _top_level(_block_parser().parse(text, env)):
        assert block[0].map is not None
        start, end = block[0].map
        yield _definitions(lines[done:start])
        yield _safe_block(block, "\n".join(lines[start:end]).strip("\n"), env)
        done = end
    yield _definitions(lines[done:])


def _safe_block(block: list[Token], source: str, env: dict[str, Any]) -> str:
    if block[0].type == "fence":
        return _fence(block[0].info, block[0].content)
    return _rendered(block, env) if is_risky(source) else source


def _definitions(lines: Sequence[str]) -> str:
    """Lines of no block: blank ones, and definitions of links."""
    text = "\n".join(lines).strip("\n")
    return "" if not text.strip() or is_risky(text) else text


def _top_level(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    block: list[Token] = []
    depth = 0
    for token in tokens:
        block.append(token)
        depth += token.nesting
        if depth == 0:
            yield block
            block = []


# -- our own HTML


def _rendered(block: list[Token], env: dict[str, Any]) -> str:
    state = StateCore("", _parser(), env, block)
    inline(state)
    text_join(state)
    return _one_line(_parser().renderer.render(block, _parser().options, env))


def _one_line(rendered: str) -> str:
    """HTML that Markdown takes for one block: a blank line would end it.

    In ``<pre>``, where they matter, newlines are written as entities.
    """
    parts = re.split(r"(<pre>.*?</pre>)", rendered.strip("\n"), flags=re.DOTALL)
    parts = [part.replace("\n", "&#10;" if part.startswith("<pre>") else " ") for part in parts]
    return without_math(f"<div>{''.join(parts)}</div>")


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
