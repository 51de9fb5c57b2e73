"""Parsers of Markdown that show our outputs, and a judge of the HTML that they make.

JupyterLab takes mathematics out of the text, parses the rest, and puts it back into the HTML; it
writes the info string of a code fence into an attribute as it is (packages rendermime and
markedparser-extension, 4.6.6). That order is repeated here around a parser at hand, which makes
links of bare addresses as JupyterLab's does.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import mistune
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from nbconvert.filters.markdown_mistune import markdown2html_mistune

TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd"),
    *("blockquote", "pre", "code", "em", "strong", "del", "s", "a", "div", "span", "input"),
    *("table", "thead", "tbody", "tr", "th", "td", "b", "details", "summary"),
}
ATTRIBUTES = {
    *("href", "title", "class", "style", "rel", "align", "start", "id", "type", "checked"),
    *("disabled", "open"),
}
SCHEMES = ("http", "https", "mailto", "ftp")


# -- the parsers


def nbconvert(source: str) -> str:
    """What nbconvert exports."""
    return str(markdown2html_mistune(source))


def vs_code(source: str) -> str:
    """What VS Code shows: raw HTML is allowed, and KaTeX takes lines from ``$$`` to ``$$``."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.block.ruler.after(
        "blockquote",
        "math",
        _katex_lines,
        {"alt": ["paragraph", "reference", "blockquote", "list"]},
    )
    return str(parser.render(source))


def _katex_lines(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    def text(line: int) -> str:
        return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip()

    if not text(start).startswith("$$"):
        return False
    if silent:
        return True
    last, ended = start, text(start)[2:].endswith("$$")
    while not ended and last + 1 < end:
        if text(last + 1) and state.tShift[last + 1] < state.blkIndent:
            break
        last += 1
        ended = "$$" in text(last)
    token = state.push("html_block", "", 0)
    token.content = mistune.escape("\n".join(map(text, range(start, last + 1))))
    state.line = last + 1
    return True


def jupyterlab(source: str) -> str:
    """What JupyterLab shows of a trusted output."""
    text, math = _without_math(source)
    return re.sub(r"@@(\d+)@@", lambda match: math[int(match[1])], str(_lab_parser(text)))


class _LabRenderer(mistune.HTMLRenderer):
    def block_code(self, code: str, info: str | None = None) -> str:
        return f'<pre><code class="language-{info or ""}">{mistune.escape(code)}</code></pre>\n'


_lab_parser = mistune.create_markdown(
    renderer=_LabRenderer(escape=False, allow_harmful_protocols=True),
    plugins=["strikethrough", "table", "url", "task_lists"],
)
_LAB_FENCE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[^`\n]*\n.*?^(?P=fence)`*$", re.MULTILINE | re.DOTALL
)
_LAB_CODE = re.compile(r"(^|[^\\])(`+)([^\n]*?[^`\n])\2(?!`)", re.MULTILINE)
_LAB_SPLIT = re.compile(
    r"(\$\$?|\\(?:begin|end)\{[a-z]*\*?\}|\\[{}$]|[{}]|(?:\n\s*)+|@@\d+@@|\\\\[()[\]])",
    re.IGNORECASE,
)
_DOLLAR = "\ue000"  # a dollar in code


def _without_math(text: str) -> tuple[str, list[str]]:
    if "`" in text or "~~~" in text:
        for pattern in (_LAB_FENCE, _LAB_CODE):
            text = pattern.sub(lambda match: match[0].replace("$", _DOLLAR), text)
    pieces = _LAB_SPLIT.split(text)
    math: list[str] = []
    i = 1
    while i < len(pieces):
        end = _end_of_math(pieces, i)
        if pieces[i].startswith("@@"):
            math.append(pieces[i])
            pieces[i] = f"@@{len(math) - 1}@@"
        elif end:
            taken = "".join(pieces[i : end + 1]).replace(_DOLLAR, "$")
            pieces[i : end + 1] = [f"@@{len(math)}@@", *[""] * (end - i)]
            math.append(taken.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
            i = end
        i += 2
    return "".join(pieces).replace(_DOLLAR, "$"), math


def _end_of_math(pieces: list[str], start: int) -> int:
    """The index of the piece that ends the mathematics which begins at ``start``; 0 for none."""
    first = pieces[start]
    ends = {"$": "$", "$$": "$$", "\\\\(": "\\\\)", "\\\\[": "\\\\]"}
    is_environment = first[1:6].lower() == "begin"
    end = f"\\end{first[6:]}" if is_environment else ends.get(first)
    braces = last = 0
    for i in range(start + 2, len(pieces), 2) if end else ():
        piece = pieces[i]
        if piece == end and not braces:
            return i
        if piece == end:
            last = i
        elif re.search(r"\n.*\n", piece):
            return last
        braces += (piece == "{") - (piece == "}" and braces > 0)
    return last


RENDERERS: list[Callable[[str], str]] = [nbconvert, vs_code, jupyterlab]


# -- the judge


class _Judge(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            if name not in ATTRIBUTES or (name == "href" and not _is_harmless(value or "")):
                self.found.append(f"<{tag} {name}={value!r}>")

    def handle_comment(self, data: str) -> None:
        self.found.append(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.found.append(f"<!{decl}>")

    def unknown_decl(self, data: str) -> None:
        self.found.append(f"<![{data}]>")

    def handle_pi(self, data: str) -> None:
        self.found.append(f"<?{data}>")

    def parse_html_declaration(self, i: int) -> int:
        self.found.append(self.rawdata[i : i + 20])
        return i + 2


def _is_harmless(address: str) -> bool:
    bare = re.sub(r"[\x00-\x20]", "", address)
    scheme = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]*):", bare)
    return scheme is None or scheme[1].lower() in SCHEMES


def harm_in(markup: str) -> list[str]:
    """Whatever HTML there is beyond formatted text and links to follow by hand."""
    judge = _Judge()
    judge.feed(markup)
    judge.close()
    return judge.found


def text_of(markup: str) -> str:
    """The text that a reader sees."""
    parts: list[str] = []
    parser: Any = HTMLParser()
    parser.handle_data = parts.append
    parser.feed(markup)
    parser.close()
    return "".join(parts)
