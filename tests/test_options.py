"""Options before a prompt; the prompt itself is kept byte for byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.errors import CommandError
from agy_kernel.options import NAMES, USAGE, Options, read

PROSE = 'what\'s  "this" \\ $x {y}? --model x\t'


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("--new", Options(new=True)),
        ("--model sonnet-5", Options(model="sonnet-5")),
        ("--model=sonnet-5", Options(model="sonnet-5")),
        ('--model "two words"', Options(model="two words")),
        ("--model='it\"s'", Options(model='it"s')),
        ("--mode plan", Options(mode="plan")),
        ("--agent codex", Options(agent="codex")),
        ("--agent 'npx my-agent --acp'", Options(agent="npx my-agent --acp")),
        ("--with df", Options(expressions=("df",))),
        ("--with df,fig --with x", Options(expressions=("df", "fig", "x"))),
        ("--with df.head(3),x[1,2]", Options(expressions=("df.head(3)", "x[1, 2]"))),
        ("--with (a,b),{1:2}", Options(expressions=("(a, b)", "{1: 2}"))),
        ("--with \"df['a b'], 1\"", Options(expressions=("df['a b']", "1"))),
        ("--cells 3", Options(cells=range(3, 4))),
        ("--cells 3-7", Options(cells=range(3, 8))),
        ("--no-context", Options(context=False)),
        ("--image a.png --image 'b c.png'", Options(images=("a.png", "b c.png"))),
        ("-o reply", Options(output="reply")),
        ("-o=größe", Options(output="größe")),
        ("--code", Options(code=True)),
        ("--timeout 1.5", Options(timeout=1.5)),
        ("--quiet", Options(quiet=True)),
        ("--new --new --mode a --mode b", Options(new=True, mode="b")),
        (
            "--new --model m --with x --cells 1-2 -o r --code --quiet",
            Options(
                True, "m", expressions=("x",), cells=range(1, 3), output="r", code=True, quiet=True
            ),
        ),
        ("", Options()),
    ],
)
def test_options_and_what_they_mean(line: str, options: Options) -> None:
    assert read(line) == (options, "")
    assert read(f"  {line}  {PROSE}")[0] == options
    assert read(f"{line} {PROSE}" if line else PROSE) == (options, PROSE)


@pytest.mark.parametrize(
    "prose",
    [
        "  spaces  around ",
        "-5 degrees, -- and --- are no options",
        "-- --new",
        "what does --new do?",
        "--model?",
        "--new!",
        "—new",
        "- a list",
        "-1",
        "\ttab",
        "x\n--new",
        "",
    ],
)
def test_prose_stays_as_it_is(prose: str) -> None:
    assert read(prose) == (Options(), prose)


@given(
    st.text().filter(lambda text: not text.lstrip().startswith("-") and text[:1] not in (" ", ""))
)
def test_prose_behind_options_stays_as_it_is(prose: str) -> None:
    if prose == prose.lstrip():
        assert read(f"--new --model x {prose}") == (Options(new=True, model="x"), prose)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--modle x", "unknown option --modle. Did you mean --mode or --model?"),
        ("--news", "unknown option --news. Did you mean --new?"),
        ("-new", "unknown option -new. Did you mean --new?"),
        ("--frobnicate now", "unknown option --frobnicate."),
        ("-x", "unknown option -x."),
        ("--help", "unknown option --help."),
        ("--new=yes", "--new takes no value."),
        ("--model", "--model needs a value."),
        ("--model --new", "--model needs a value."),
        ("--model= x", "--model needs a value."),
        ("--cells x", "--cells needs numbers like 3 or 3-7, not 'x'."),
        ("--cells 3-", "--cells needs numbers"),
        ("--cells -3", "--cells needs numbers"),
        ("--cells 7-3", "--cells 7-3 is empty."),
        ("--cells " + "9" * 5_000, "--cells needs numbers"),
        ("--timeout soon", "--timeout needs seconds, not 'soon'."),
        ("--timeout 0", "--timeout needs seconds"),
        ("--timeout -5", "--timeout needs seconds"),
        ("--timeout nan", "--timeout needs seconds"),
        ("--timeout inf", "--timeout needs seconds"),
        ("-o 1x", "-o needs the name of a variable, not '1x'."),
        ("-o a.b", "-o needs the name of a variable"),
        ("-o class", "-o needs the name of a variable"),
        ("--with df, fig", "--with needs Python expressions, not 'df,'."),
        ("--with x=1", "--with needs Python expressions"),
        ("--with *a", "--with needs Python expressions"),
        ("--with a](b", "--with needs Python expressions"),
        ("--with a],[b", "--with needs Python expressions"),
        ("--with ''", "--with needs Python expressions"),
        ("--with a#b", "--with needs Python expressions"),
        ("--with " + "(" * 5_000, "--with needs Python expressions"),
        ('--with "x for x in y"', "--with needs Python expressions"),
    ],
)
def test_bad_options_are_explained_and_nothing_is_sent(line: str, said: str) -> None:
    with pytest.raises(CommandError) as error:
        read(line)
    first, usage, nothing = str(error.value).split("\n")
    assert first.startswith(said)
    assert (usage, nothing) == (f"Usage: {USAGE}", "Nothing was sent.")


def test_a_comma_and_a_space_in_expressions_is_fine_in_quotes() -> None:
    assert read("--with 'df, fig' why?") == (Options(expressions=("df", "fig")), "why?")


def test_the_usage_names_every_option() -> None:
    assert {word.strip("[]") for word in USAGE.split() if word.startswith("[-")} == set(NAMES)


@given(st.text(alphabet="-new mode=x'\"with,cells37o", max_size=30))
def test_any_line_is_read_or_refused(line: str) -> None:
    try:
        _, prose = read(line)
    except CommandError:
        return
    assert line.endswith(prose)
