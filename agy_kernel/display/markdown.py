"""Agent Markdown, made safe to show, and cut into blocks.

A front end renders Markdown with raw HTML and loads remote images, and a live output is trusted.
So of an agent's Markdown only what can do no harm is passed through as it is: whole top-level
blocks without anything that any parser could take for HTML, for an image or for a link to run
code, and code fences at the margin, on which all parsers agree. Every other block is rendered here
to HTML that we write ourselves: raw HTML escaped, images as links.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

RISKY = re.compile(r"<[A-Za-z/!?]|!\[", re.ASCII)
SCHEME = re.compile(r"(?:javascript|vbscript):", re.IGNORECASE)
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")
# Controls other than tab and newline, and those that reorder text on the screen.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")


def clean(text: str) -> str:
    r"""Text without ANSI sequences, control characters and lone surrogates; newlines as ``\\n``."""
    if not text.isascii():
        # A pair of surrogates may have come in two chunks; what has no partner becomes "?".
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return CONTROLS.sub("", ANSI.sub("", text))


def safe(text: str) -> str:
    """Agent Markdown as Markdown that is safe in a trusted output."""
    text = clean(text)
    if not _is_risky(text):
        return text
    return "".join(_safe_blocks(text)).rstrip("\n")


def to_html(text: str) -> str:
    """Agent Markdown as safe HTML, on as few lines as possible and none of them blank."""
    return _one_block(_parser().render(clean(text)))


def _is_risky(text: str) -> bool:
    if RISKY.search(text):
        return True
    # Entities, escapes and white space can hide a scheme from a search, but not from a browser.
    return bool(SCHEME.search(re.sub(r"[\s\\]", "", html.unescape(text))))


def _safe_blocks(text: str) -> Iterator[str]:
    lines = text.split("\n")
    env: dict[str, Any] = {}
    done = 0
    for block in _top_level(_parser().parse(text, env)):
        assert block[0].map is not None
        start, end = block[0].map
        yield from _definitions(lines[done:start])
        source = "\n".join(lines[start:end])
        if _is_fence(block, lines[start]):
            yield f"{source}\n"
        elif _is_risky(source):
            rendered = _parser().renderer.render(block, _parser().options, env)
            yield f"\n{_one_block(rendered)}\n\n"
        else:
            yield f"{source}\n"
        done = end
    yield from _definitions(lines[done:])


def _definitions(lines: Sequence[str]) -> Iterator[str]:
    """Lines of no block: blank ones, and definitions of links."""
    yield from (f"{line}\n" for line in lines if not _is_risky(line))


def _top_level(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    block: list[Token] = []
    depth = 0
    for token in tokens:
        block.append(token)
        depth += token.nesting
        if depth == 0:
            yield block
            block = []


def _is_fence(block: Sequence[Token], first_line: str) -> bool:
    return block[0].type == "fence" and FENCE.match(first_line) is not None


def _one_block(rendered: str) -> str:
    """HTML that Markdown takes for one block: a blank line would end it.

    In ``<pre>``, where they matter, newlines are written as entities; ``$`` everywhere, or the
    front end would look for mathematics in it.
    """
    parts = re.split(r"(<pre>.*?</pre>)", rendered, flags=re.DOTALL)
    parts = [
        part.replace("\n", "&#10;") if part.startswith("<pre>") else re.sub(r"\n+", "\n", part)
        for part in parts
    ]
    body = "".join(parts).strip("\n").replace("$", "&#36;")
    return f"<div>{body}</div>"


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("image", _image_as_link)
    return parser


def _image_as_link(_renderer: Any, tokens: Sequence[Token], index: int, *_: Any) -> str:
    token = tokens[index]
    source = str(token.attrs.get("src", ""))
    label = f"{html.escape(token.content) or 'image'} (image, not loaded)"
    if not source.startswith(("http://", "https://")):
        return label
    return f'<a href="{html.escape(source)}" rel="noopener noreferrer">{label}</a>'


# -- blocks


def cut_point(text: str, at_least: int) -> int | None:
    """Where ``text`` can be cut in two Markdown texts: behind its last blank line outside a fence.

    Args:
        text: Markdown that may still be growing.
        at_least: characters; an earlier cut is not worth its output.

    Returns:
        The index at which the second text begins, or None.
    """
    best, fence, position = None, "", 0
    lines = text.splitlines(keepends=True)
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        position += len(line)
        fence = _next_fence(fence, line)
        # What is indented may belong to a list item, and would not behind a cut.
        if not fence and not line.strip() and following[:1].strip():
            best = position
    return best if best is not None and best >= at_least else None


def hard_cut(text: str, at: int) -> tuple[int, str, str]:
    """Cut a text that has no good place, at a line's end.

    Returns:
        The index of the cut, what to add to the first part, and what to put before the second:
        an open code fence is closed, and opened again.
    """
    end = text.rfind("\n", 0, at) + 1 or at
    opening = _open_fence(text[:end])
    match = FENCE.match(opening)
    if not match:
        return end, "", ""
    newline = "" if text[:end].endswith("\n") else "\n"
    return end, f"{newline}{match[1]}\n", f"{opening}\n"


def _open_fence(text: str) -> str:
    """The opening line of the fence that is open at the end of ``text``, or nothing."""
    fence = opening = ""
    for line in text.splitlines():
        before, fence = fence, _next_fence(fence, line)
        opening = line if fence and not before else opening
    return opening if fence else ""


def _next_fence(fence: str, line: str) -> str:
    """The marker of the fence that is open behind ``line``, when ``fence`` was before it."""
    match = FENCE.match(line)
    if match is None:
        return fence
    marker, info = match[1], match[2]
    if not fence:
        return marker if marker[0] == "~" or "`" not in info else ""
    closes = marker[0] == fence[0] and len(marker) >= len(fence) and not info.strip()
    return "" if closes else fence
