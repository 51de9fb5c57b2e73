"""What in a Markdown text some parser could take for something that runs, loads, or goes on.

The rules come from CommonMark; JupyterLab, which puts mathematics back into the rendered HTML,
into attributes too, and writes the info string of a fence into one as it is; nbconvert, whose
mathematics may swallow fences, and which does not escape Mermaid; and KaTeX in VS Code.
"""

from __future__ import annotations

import html
import re

SCHEMES = ("http", "https", "mailto")
MARKUP = re.compile(r"<[A-Za-z/!?]|!\[", re.ASCII)
PLACEHOLDER = re.compile(r"@@\d")  # of mathematics, in JupyterLab; an odd one breaks the output
RUNS_CODE = re.compile(r"(?:javascript|vbscript):\S", re.IGNORECASE)
DESTINATION = re.compile(r"\][(:]<?([a-z][a-z0-9+.-]*):", re.IGNORECASE | re.ASCII)
SCHEME = re.compile(r"\s*([a-z][a-z0-9+.-]*):", re.IGNORECASE | re.ASCII)

FENCE = re.compile(r"`{3}|~{3}")
FENCE_LINE = re.compile(r"([ \t>]*)(`{3,}|~{3,})(.*)")
INFO = re.compile(r"[\w+#.-]{0,40}")
ODD_IN_DIAGRAM = re.compile(r"<(?!br ?/?>)[A-Za-z/!?]|://", re.ASCII)

# What in a formula reaches beyond it: it loads (the font of unicode may be an address), links,
# dresses up, lies over its neighbours, or gives a new meaning to all later formulas of the page.
ODD_TEX = re.compile(
    r"\\(?:unicode|href|url|style|class|cssId|data|html\w*|mmlToken|bbox|require|includegraphics"
    r"|[gex]?def|let|futurelet|(?:new|renew|provide)(?:command|environment)|DeclareMathOperator"
    r"|raise|lower|raisebox|move(?:left|right)|(?:math)?[rlc]lap|smash|[Rr]ule|Space|f?colorbox"
    r"|(?:[hm]space|[hm]skip|m?kern)\W*-)(?![A-Za-z])"
)
MATH = re.compile(r"\$|\\\\[(\[]|\\begin\{", re.IGNORECASE)
LINK = re.compile(r"\]|://|www\.", re.IGNORECASE)
OPEN_MATH = re.compile(r"\$\$|\\\\[\[\]]|\\(?:begin|end)\{", re.IGNORECASE)
LINE_OF_MATH = r"(?=[^\n]*\S)(?![^\n]*\$\$)[^\n]*\n"
NO_OTHER_BLOCK = r"[ \t]*(?![#>+*|`~-]|\d+[.)]|=+[ \t]*\n)"
# Display mathematics that everybody takes for such, and ends in the same place.
CLOSED_MATH = tuple(
    re.compile(pattern, re.MULTILINE | re.DOTALL)
    for pattern in (
        r"^[ \t>*+.)\d-]*\$\$(?!\$)(?:(?!\$\$)[^\n])+\$\$[ \t]*$",
        rf"(?:\A|(?<=\n\n))\$\$[ \t]*\n(?:{LINE_OF_MATH})+?\$\$[ \t]*$",
        rf"^([ \t>]*)\$\$[ \t]*\n(?:\1{NO_OTHER_BLOCK}{LINE_OF_MATH})+?\1\$\$[ \t]*$",
        r"(?<=[^\s>*+.)\d$-])[ \t]*\$\$[^$\n]+\$\$(?!\$)",
        r"\\begin\{([a-z]*\*?)\}(?:(?!\$\$).)*?\\end\{\1\}",
        r"\\\\\[(?:(?!\$\$).)*?(?<!\\)\\\\\]",
    )
)


def is_risky(text: str) -> bool:
    """Whether a text is better not shown as it is."""
    return bool(
        MARKUP.search(text)
        or _hides_something(text)
        or _has_odd_fence(text)
        or _has_math_in_attribute(text)
        or _has_open_math(text)
    )


def is_odd_code(language: str, code: str) -> bool:
    """Whether a front end looks for something in a code block, and may find what is not meant."""
    is_diagram = language.startswith("mermaid")
    return bool(PLACEHOLDER.search(code) or (is_diagram and ODD_IN_DIAGRAM.search(code)))


def leads_astray(url: str) -> bool:
    """Whether a link leads elsewhere than to a page or a mail program."""
    scheme = SCHEME.match(url)
    return scheme is not None and scheme[1].lower() not in SCHEMES


def _hides_something(text: str) -> bool:
    """Whether entities, escapes or white space hide what a browser would find."""
    told = html.unescape(text)
    plain = told.replace("\\", "")
    if ODD_TEX.search(told) or RUNS_CODE.search(plain) or PLACEHOLDER.search(plain):
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
    rest = text
    for closed in CLOSED_MATH:
        rest = closed.sub("x", rest)
    return r"\$$" in text or bool(OPEN_MATH.search(rest))
