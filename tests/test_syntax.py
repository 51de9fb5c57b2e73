"""``%agy`` lines arrive as they were typed, whatever stands in them and around them."""

import ast
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from agy_kernel import syntax


def transformed(cell: str) -> str:
    shell = SimpleNamespace(input_transformer_manager=TransformerManager())
    syntax.install(shell)
    return str(shell.input_transformer_manager.transform_cell(cell))


def prompts(cell: str) -> list[str]:
    """What ``%agy`` is called with, in order; the rest of the cell is Python."""
    calls = [node for node in ast.walk(ast.parse(transformed(cell))) if isinstance(node, ast.Call)]
    magics = [
        c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "run_line_magic"
    ]
    magics.sort(key=lambda call: call.lineno)
    texts = [[arg.value for arg in magic.args if isinstance(arg, ast.Constant)] for magic in magics]
    return [str(text) for name, text in texts if name == "agy"]


@pytest.mark.parametrize(
    "prose",
    [
        "what stands out?",
        "what stands out??",
        "?",
        "df?",
        "explain $HOME and {x} and {{y}}",
        "it's a \"quote\" and '''three'''",
        'an open """',
        "an open ( [ {",
        "a closed ) ] }",
        "C:\\dir\\",
        "100% of !it; x = 1 # no comment",
        "007 3rd 1e 0x 1_ 5j",
        "naïve “quotes” — 数据 😀 ¿?",
        "`backticks` ~ ^ & | @df \t tab",
        "%agy %time !ls",
        "lambda: x if y else",
        "-- --new",
        "--with df describe",
        "= 5",
        "",
    ],
)
@pytest.mark.parametrize(
    "around",
    [
        "%agy {}",
        "%agy    {}   ",
        "x = 1\n%agy {}\ny = 2",
        "for x in y:\n    %agy {}\n    z = x\n",
        "async def f():\n\tif x:\n\t\t%agy {}\n\treturn await y",
        "with a(\n    1,\n):\n    %agy {}",
        "x = 1 + \\\n    2\n%agy {}\nif x:\n    pass",
        "%agy {}\n\n\n# end",
        "'''\n%time\n'''\n%agy {}",
    ],
)
def test_prose_is_kept(around: str, prose: str) -> None:
    assert prompts(around.format(prose) if "{}" in around else around) == [prose.strip()]


def test_many_lines_and_other_magics() -> None:
    cell = (
        "!echo it's\nfiles = !ls\n%time x = 1\n%agy what's this?\ndf?\n"
        "for x in y:\n    %agy isn't it?\n    %agy (\n%agy\nz = %agy no\n"
    )
    assert prompts(cell) == ["what's this?", "isn't it?", "(", "", "no"]


@pytest.mark.parametrize(
    "cell",
    [
        "'''\n%agy in a string\n'''",
        "f(\n%agy\n)",
        "x = [5\n%agy\n]",
        "x = 5 \\\n%agy",
        "# %agy a comment",
        "x = 1; y %agy",
        "x %agy",
    ],
)
def test_what_is_no_line_of_ours_stays_python(cell: str) -> None:
    assert transformed(cell) == f"{cell}\n"


@pytest.mark.parametrize("cell", ["%agyx hello", "%agy.x hello", "%agy=1", "% agy hello", "%agy-x"])
def test_what_only_looks_like_it_stays_ipythons(cell: str) -> None:
    assert transformed(cell) == TransformerManager().transform_cell(cell)


@pytest.mark.parametrize("cell", ["%agy?", "%agy??", "%%agy hello?\nwhat's this?\n%agy"])
def test_help_and_cell_magics_are_ipythons(cell: str) -> None:
    assert transformed(cell) == TransformerManager().transform_cell(cell)


def test_only_the_beginning_of_a_statement_counts() -> None:
    # As for every other magic.
    with pytest.raises(SyntaxError):
        ast.parse(transformed("x = 1; %agy hello"))


# IPython itself takes these for the end of a line.
BREAKS = "\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
ANY = st.text(st.characters(codec="utf-8", exclude_characters=BREAKS + "\0"), max_size=30)
SIGNS = st.text(st.sampled_from("'\"\\?!%$#{}()[]@;:,=. abc013jF\t`~&|é“😀"), max_size=25)


@settings(max_examples=400, deadline=None)
@given(ANY | SIGNS, ANY | SIGNS)
def test_any_prose_is_kept(one: str, other: str) -> None:
    cell = f"x = 1\nif x:\n    %agy {one}\n    y = 2\n%agy {other}\n"
    assert prompts(cell) == [one.strip(), other.strip()]


def test_it_is_installed_once_and_removed() -> None:
    manager = TransformerManager()
    shell = SimpleNamespace(input_transformer_manager=manager)
    before = list(manager.token_transformers)
    syntax.install(shell)
    syntax.install(shell)
    assert manager.token_transformers == [*before, syntax.AgyLine]
    syntax.remove(shell)
    syntax.remove(shell)
    assert manager.token_transformers == before


@pytest.mark.parametrize(
    ("cell", "status"),
    [
        ("%agy what's this?", "complete"),
        ("for x in y:\n    %agy (", "incomplete"),
        ("%agy (", "complete"),
    ],
)
def test_a_terminal_knows_when_it_is_complete(cell: str, status: str) -> None:
    manager = TransformerManager()
    syntax.install(SimpleNamespace(input_transformer_manager=manager))
    assert manager.check_complete(cell)[0] == status
