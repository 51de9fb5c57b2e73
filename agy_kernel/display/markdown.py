"""Agent Markdown, made safe to show.

A front end renders Markdown with raw HTML and loads remote images, and a live output is trusted.
So of an agent's Markdown only what can do no harm is passed through as it is, part by part, and
each part stands by itself: no parser may take it for HTML, an image, or a link to run code, and
nothing that begins in it, a fence or mathematics, goes on in the next. Code fences are written
anew, in the one form on which all parsers agree. Of the rest, each block that is risky is rendered
here to HTML that we write ourselves: raw HTML escaped, images as links.

What the rules come from: CommonMark; JupyterLab, which puts mathematics back into the rendered
HTML, into attributes too, and writes the info string of a fence into one as it is; nbconvert,
whose mathematics may swallow fences, and which does not escape Mermaid; VS Code's KaTeX.
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

SCHEMES = ("http", "https", "mailto")
RISKY = re.compile(r"<[A-Za-z/!?]|!\[", re.ASCII)
PLACEHOLDER = re.compile(r"@@\d")  # of mathematics, in JupyterLab; an odd one breaks the output
RUNS_CODE = re.compile(r"(?:javascript|vbscript):\S", re.IGNORECASE)
DESTINATION = re.compile(r"\][(:]<?([a-z][a-z0-9+.-]*):", re.IGNORECASE | re.ASCII)
SCHEME = re.compile(r"\s*([a-z][a-z0-9+.-]*):", re.IGNORECASE | re.ASCII)

# A fence at the margin is at top level, whatever stands around it.
FENCED = re.compile(
    r"^((`|~)\2{2,})(?![^\n]*\2)([^\n]*)\n?(.*?)(?:^ {0,3}\1\2*[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
FENCE = re.compile(r"`{3}|~{3}")
FENCE_LINE = re.compile(r"([ \t>]*)(`{3,}|~{3,})(.*)")
INFO = re.compile(r"[\w+#.-]{0,40}")

MATH = re.compile(r"\$|\\\\[(\[]|\\begin\{", re.IGNORECASE)
LINK = re.compile(r"\]|://|www\.", re.IGNORECASE)
OPEN_MATH = re.compile(r"\$\$|\\\\[\[\]]|\\(?:begin|end)\{", re.IGNORECASE)
# Display mathematics that all take for such: whole lines, or inside of one.
DISPLAY_LINES = re.compile(
    r"^[ \t>*+.)\d-]*\$\$(?:(?!\$\$).)*\$\$[ \t]*$", re.DOTALL | re.MULTILINE
)
DISPLAY_MATH = re.compile(
    r"(?<=[^\s>*+.)\d-])[ \t]*\$\$[^\n]*?\$\$"
    r"|\\begin\{([a-z]*\*?)\}.*?\\end\{\1\}"
    r"|\\\\\[.*?(?<!\\)\\\\\]",
    re.DOTALL,
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
    if not FENCE.search(text) and not _is_risky(text):
        return text
    env: dict[str, Any] = {}
    return "\n\n".join([part for part in _safe_parts(text, env) if part])


def to_html(text: str) -> str:
    """Agent Markdown as safe HTML, on one line."""
    return _one_line(_parser().render(clean(text)))


def without_math(markup: str) -> str:
    """HTML in which no parser of Markdown finds mathematics, whatever it says."""
    return markup.replace("$", "&#36;").replace("\\", "&#92;")


# -- what is risky


def _is_risky(text: str) -> bool:
    return bool(
        RISKY.search(text)
        or _hides_something(text)
        or _has_odd_fence(text)
        or _has_math_in_attribute(text)
        or _has_open_math(text)
    )


def _hides_something(text: str) -> bool:
    """Whether entities, escapes or white space hide what a browser would find."""
    plain = html.unescape(text).replace("\\", "")
    if RUNS_CODE.search(plain) or PLACEHOLDER.search(plain):
        return True
    found = DESTINATION.finditer(re.sub(r"\s", "", plain))
    return any(match[1].lower() not in SCHEMES for match in found)


def _has_odd_fence(text: str) -> bool:
    """Whether a fence inside a list or a quotation may end elsewhere in another parser's eyes.

    It does not if it is as regular as can be: a pair of lines, and all between them indented alike.
    """
    opening: tuple[str, str] | None = None
    for line in text.split("\n"):
        match = FENCE_LINE.fullmatch(line)
        if match is None:
            is_inside = not line.strip() or opening is None or line.startswith(opening[0])
            if FENCE.search(line) or not is_inside:
                return True
        elif opening is None and INFO.fullmatch(match[3].strip()):
            opening = match[1], match[2]
        elif opening == (match[1], match[2]) and not match[3].strip():
            opening = None
        else:
            return True
    return opening is not None


def _has_math_in_attribute(text: str) -> bool:
    """Whether a quote in mathematics may end the attribute that the mathematics begins in."""
    return bool('"' in text and MATH.search(text) and LINK.search(text))


def _has_open_math(text: str) -> bool:
    """Whether mathematics goes on behind the text, in anybody's eyes."""
    if not OPEN_MATH.search(text):
        return False
    rest = DISPLAY_MATH.sub("", DISPLAY_LINES.sub("", text))
    return r"\$$" in text or bool(OPEN_MATH.search(rest))


# -- parts


def _safe_parts(text: str, env: dict[str, Any]) -> Iterator[str]:
    done = 0
    for match in FENCED.finditer(text):
        yield from _safe_part(text[done : match.start()].strip("\n"), env)
        yield _fence(match[3], match[4])
        done = match.end()
    yield from _safe_part(text[done:].strip("\n"), env)


def _safe_part(text: str, env: dict[str, Any]) -> Iterator[str]:
    if _is_risky(text):
        yield from _safe_blocks(text, env)
    else:
        yield text


def _fence(info: str, content: str) -> str:
    """A code fence as all parsers read it, unless a front end looks for something in the code."""
    if PLACEHOLDER.search(content) or _is_odd_diagram(info, content):
        return _one_line(f"<pre><code>{html.escape(content)}</code></pre>")
    longest = max((len(run) for run in re.findall("`+", content)), default=0)
    marker = "`" * max(3, longest + 1)
    language = INFO.match(info.strip())
    newline = "" if content.endswith("\n") or not content else "\n"
    return f"{marker}{language[0] if language else ''}\n{content}{newline}{marker}"


def _is_odd_diagram(info: str, content: str) -> bool:
    """Whether a diagram may load a picture, or says what a parser may take for HTML."""
    return info.strip().startswith("mermaid") and bool(re.search("<|://", content))


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
    return _rendered(block, env) if _is_risky(source) else source


def _definitions(lines: Sequence[str]) -> str:
    """Lines of no block: blank ones, and definitions of links."""
    text = "\n".join(lines).strip("\n")
    return "" if not text.strip() or _is_risky(text) else text


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
        scheme = SCHEME.match(url)
        return scheme is None or scheme[1].lower() in SCHEMES


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
