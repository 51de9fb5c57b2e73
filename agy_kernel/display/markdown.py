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
from typing import Any

from ..text import clean
from .risks import FENCE, INFO, is_odd_code, is_risky

# JupyterLab colours code in one go: 64 kB stop the page for half a second, plain ones for a tenth.
COLOURED = 16_000

# Front ends look for mathematics a second time, in the page itself, where entities are signs again.
# The classes are MathJax's: of version 3, which JupyterLab has, and of 2, which nbconvert names.
NO_MATH = 'class="mathjax_ignore tex2jax_ignore"'

# A fence at the margin is at top level, whatever stands around it.
FENCED = re.compile(
    r"^((`|~)\2{2,})(?![^\n]*\2)([^\n]*)\n?(.*?)(?:^ {0,3}\1\2*[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)


def safe(text: str) -> str:
    """Agent Markdown as Markdown that is safe in a trusted output, beside other such Markdown."""
    text = clean(text)
    if not FENCE.search(text) and not is_risky(text):
        return text
    env: dict[str, Any] = {}
    return "\n\n".join([part for part in _safe_parts(text, env) if part])


def to_html(text: str) -> str:
    """Agent Markdown as safe HTML, on one line."""
    from . import parser

    return _one_line(parser.render(clean(text)))


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
    language = match[0] if match and len(content) <= COLOURED else ""
    if is_odd_code(language, content):
        return _one_line(f"<pre><code>{html.escape(content)}</code></pre>")
    longest = max((len(run) for run in re.findall("`+", content)), default=0)
    marker = "`" * max(3, longest + 1)
    newline = "" if content.endswith("\n") or not content else "\n"
    return f"{marker}{language}\n{content}{newline}{marker}"


def _safe_blocks(text: str, env: dict[str, Any]) -> Iterator[str]:
    from . import parser

    lines = text.split("\n")
    done = 0
    for block in parser.blocks(text, env):
        assert block[0].map is not None
        start, end = block[0].map
        yield _definitions(lines[done:start])
        source = "\n".join(lines[start:end]).strip("\n")
        if block[0].type == "fence":
            yield _fence(block[0].info, block[0].content)
        else:
            yield _one_line(parser.render_block(block, env)) if is_risky(source) else source
        done = end
    yield _definitions(lines[done:])


def _definitions(lines: Sequence[str]) -> str:
    """Lines of no block: blank ones, and definitions of links."""
    text = "\n".join(lines).strip("\n")
    return "" if not text.strip() or is_risky(text) else text


def _one_line(rendered: str) -> str:
    """HTML that Markdown takes for one block: a blank line would end it.

    In ``<pre>``, where they matter, newlines are written as entities.
    """
    parts = re.split(r"(<pre>.*?</pre>)", rendered.strip("\n"), flags=re.DOTALL)
    parts = [part.replace("\n", "&#10;" if part.startswith("<pre>") else " ") for part in parts]
    return without_math(f"<div {NO_MATH}>{''.join(parts)}</div>")
