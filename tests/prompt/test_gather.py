"""Everything that a prompt names is read, or there is a notice; the prompt goes in any case."""

import os
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import nbformat
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from PIL import Image

from agy_kernel.prompt.cells import Cell, CellOutput
from agy_kernel.prompt.digest import MentionedCell, Resource
from agy_kernel.prompt.gather import Gathered, Request, Surface, gather
from agy_kernel.secrets import MASK, Masker
from tests.prompt.pictures import opened, png

URI = "notebook:///it.ipynb"
CELLS = [
    Cell("a", 1, "import pandas as pd\ndf = pd.DataFrame()"),
    Cell("p", 2, "# agy: private\nhidden = 5\nagent = hidden"),
    Cell("b", 3, "plot(df, hidden)", (CellOutput("display", "<Figure>", png()),)),
    Cell("c", 4, "1 / 0", error="ZeroDivisionError"),
    Cell("d", 5, "x = df"),
]


class Refuses:
    """Its repr raises."""

    def __repr__(self) -> NoReturn:
        raise ValueError("no")


NAMES: dict[str, Any] = {
    "df": pd.DataFrame({"n": [1, 2]}),
    "x": 42,
    "hidden": 5,
    "größe": "groß",
    "pd": pd,
    "plot": lambda _: None,
    "cache": cache,
    "refuses": Refuses(),
    "fig": Figure(figsize=(1, 1)),
    "pixels": np.zeros((20, 30), np.uint8),
    "image": Image.new("RGB", (4, 3)),
    "_private": 1,
    "In": [],
    "exit": SimpleNamespace(),
    "wide": np.broadcast_to(np.float64(0), (250_000_000,)),
}


@pytest.fixture
def surface(tmp_path: Path) -> Surface:
    """A notebook with cells and variables, and some files beside it."""
    (tmp_path / "notes.txt").write_text("some notes")
    (tmp_path / "shot").write_bytes(png())
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("a,b")
    (tmp_path / "broken.ipynb").write_text("no notebook")
    (tmp_path / "blob.bin").write_bytes(b"\0\1")
    os.mkfifo(tmp_path / "fifo")
    other = [
        new_markdown_cell("# Other", id="title"),
        new_code_cell("y = 1", id="code", execution_count=3),
        new_code_cell("# agy: private\nz", id="secret"),
    ]
    nbformat.write(new_notebook(cells=other), tmp_path / "other.ipynb")
    return Surface(CELLS, NAMES, tmp_path, tmp_path / "it.ipynb", masker=Masker({}))


def ask(surface: Surface, text: str, **more: Any) -> Gathered:
    return gather(Request(text, context=False, **more), surface)


def cells_of(found: Gathered) -> list[tuple[str, str]]:
    return [(m.notebook, m.cell.id) for m in found.mentioned if isinstance(m, MentionedCell)]


def texts_of(found: Gathered) -> dict[str, str]:
    return {m.uri: m.text for m in found.mentioned if isinstance(m, Resource)}


# -- mentions


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("@cell:3", ["b"]),
        ("see @cell:3, please", ["b"]),
        ("@cell:last", ["d"]),
        ("@error", ["c"]),
        ("why @error?", ["c"]),
        ("@cell:1 and @cell:5", ["a", "d"]),
    ],
)
def test_cells(surface: Surface, text: str, ids: list[str]) -> None:
    found = ask(surface, text)
    assert cells_of(found) == [(URI, name) for name in ids]
    assert found.notices == []


def test_a_cell_brings_its_pictures(surface: Surface) -> None:
    assert ask(surface, "@cell:3").pictures == [("the picture of cell 3", png())]


def test_a_private_cell_is_not_sent_though_it_is_named(surface: Surface) -> None:
    found = ask(surface, "@cell:2")
    assert found.mentioned == []
    assert found.notices == ["cell 2 is marked private and is not sent"]


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        (
            "@df",
            "df",
            "df: pandas DataFrame, 2 rows × 1 columns: 'n' int64 = 1\n\n   n\n0  1\n1  2",
        ),
        ("what is @x?", "x", "x: int = 42\n\n42"),
        ("@größe,", "gr%C3%B6%C3%9Fe", "größe: str, 4 long = 'groß'\n\n'groß'"),
        ("@hidden's", "hidden", "hidden: int = 5\n\n5"),
    ],
)
def test_variables(surface: Surface, text: str, name: str, says: str) -> None:
    found = ask(surface, text)
    assert found.mentioned == [Resource(f"{URI}#variable-{name}", says, "text/plain", "variable")]
    assert found.notices == []


@pytest.mark.parametrize(("name", "size"), [("pixels", (30, 20)), ("image", (4, 3)), ("fig", None)])
def test_variables_that_are_pictures(
    surface: Surface, name: str, size: tuple[int, int] | None
) -> None:
    ((label, data),) = ask(surface, f"@{name}").pictures
    assert label == name
    assert size is None or opened(data).size == size


def test_a_variable_comes_before_a_file_of_its_name(surface: Surface) -> None:
    (surface.folder / "x").write_text("a file")
    assert list(texts_of(ask(surface, "@x"))) == [f"{URI}#variable-x"]


def test_files_folders_and_pictures(surface: Surface) -> None:
    folder = surface.folder.resolve().as_uri()
    found = ask(surface, "@notes.txt, @data/ and @./data/a.csv or @shot.")
    assert texts_of(found) == {
        f"{folder}/notes.txt": "some notes",
        f"{folder}/data/": "a.csv",
        f"{folder}/data/a.csv": "a,b",
    }
    assert found.pictures == [("shot", png())]
    assert {m.kind for m in found.mentioned if isinstance(m, Resource)} == {"file"}


def test_other_notebooks(surface: Surface) -> None:
    uri = "notebook:///other.ipynb"
    found = ask(surface, "@other.ipynb")
    assert cells_of(found) == [(uri, "title"), (uri, "code")]
    assert found.notices == ["other.ipynb has private cells, which are not sent"]
    assert cells_of(ask(surface, "@other.ipynb#3")) == [(uri, "code")]
    assert cells_of(ask(surface, "@other.ipynb#1.")) == [(uri, "title")]


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        ("@nothing", "@nothing names nothing here, so it stays text"),
        ("@nothing, @nothing. @nothing", "@nothing names nothing here, so it stays text"),
        ("@cell:99", "@cell:99 names nothing here, so it stays text"),
        ("@nobody.ipynb", "@nobody.ipynb names nothing here, so it stays text"),
        ("@" + "x" * 5_000, "@" + "x" * 5_000 + " names nothing here, so it stays text"),
        ("@~nobody-of-this-name/x", "@~nobody-of-this-name/x names nothing here, so it stays text"),
        ("@refuses", "@refuses is not sent: its repr raises ValueError: no"),
        ("@other.ipynb#9", "@other.ipynb#9 is not sent: it has no cell 9"),
        ("@broken.ipynb", "@broken.ipynb is not sent: it is not a notebook"),
        ("@blob.bin", "@blob.bin is not sent: it is neither text nor a picture"),
        ("@fifo", "@fifo is not sent: it is not a file"),
        ("@wide", "wide is large: its type, its size and its first values are sent"),
    ],
)
def test_what_cannot_be_sent_is_said_once(surface: Surface, text: str, notice: str) -> None:
    found = ask(surface, text)
    assert found.notices == [notice]
    assert found.text == text


def test_no_error_is_no_mention(surface: Surface) -> None:
    found = ask(Surface(CELLS[:1], {}, surface.folder), "@error @cell:last")
    assert cells_of(found) == [("notebook:///notebook.ipynb", "a")]
    assert found.notices == ["@error names nothing here, so it stays text"]


def test_mail_addresses_and_escapes_are_text(surface: Surface) -> None:
    found = ask(surface, r"mail me@df.org about \@df and @x")
    assert list(texts_of(found)) == [f"{URI}#variable-x"]
    assert found.text == "mail me@df.org about @df and @x"


def test_stop_interrupts_what_takes_for_ever(surface: Surface) -> None:
    class Endless:
        """Somebody presses Stop."""

        def __repr__(self) -> NoReturn:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(surface, "x", values=[("endless", Endless())])


# -- options


def test_values_are_sent_under_their_expressions(surface: Surface) -> None:
    found = ask(surface, "x", values=[("df.n[0]", 1), ("1 + 1", 2), ("bad", Refuses())])
    assert texts_of(found) == {
        f"{URI}#variable-df.n%5B0%5D": "df.n[0]: int = 1\n\n1",
        f"{URI}#variable-1%20%2B%201": "1 + 1: int = 2\n\n2",
    }
    assert found.notices == ["bad is not sent: its repr raises ValueError: no"]


def test_images_by_path(surface: Surface) -> None:
    found = ask(surface, "x", images=["shot", "missing.png", "data"])
    assert found.pictures == [("shot", png())]
    assert found.notices == [
        "missing.png is not sent: there is no such file",
        "data is not sent: it is not a file",
    ]


def test_cells_by_number(surface: Surface) -> None:
    found = gather(Request("x", cells=range(1, 4)), surface)
    assert cells_of(found) == [(URI, "b"), (URI, "a")]
    assert found.notices == ["cell 2 is marked private and is not sent"]
    assert found.cells == ()
    assert "df" in found.variables
    nothing = gather(Request("x", cells=range(70, 80)), surface)
    assert nothing.notices == ["no cell with a number from 70 to 79 has run"]


# -- the notebook around


def test_the_notebook_goes_along(surface: Surface) -> None:
    assert surface.notebook is not None
    nbformat.write(new_notebook(cells=[new_markdown_cell("# It")]), surface.notebook)
    found = gather(Request("x"), surface)
    assert found.cells == CELLS
    assert found.prose == "# It"
    assert found.notices == []


def test_and_not_where_it_is_not_wanted(surface: Surface) -> None:
    assert gather(Request("x", context=False), surface) == Gathered("x", URI)


def test_variables_that_cells_use_but_none_of_private_cells(surface: Surface) -> None:
    assert gather(Request("x"), surface).variables == {
        "x": "x: int = 42",
        "df": "df: pandas DataFrame, 2 rows × 1 columns: 'n' int64 = 1",
    }


def test_variables_of_a_named_cell(surface: Surface) -> None:
    assert set(ask(surface, "@cell:5").variables) == {"x", "df"}
    assert ask(surface, "@other.ipynb").variables == {}


def test_a_variable_is_not_asked_for_its_class(tmp_path: Path) -> None:
    class Asked:
        """Is asked for nothing."""

        def __getattribute__(self, name: str) -> NoReturn:
            raise AssertionError(name)

    found = gather(Request("?"), Surface([Cell("a", 1, "asked")], {"asked": Asked()}, tmp_path))
    assert found.variables["asked"].endswith("Asked")


def test_at_most_sixty_variables_of_the_last_cells(tmp_path: Path) -> None:
    names = {f"v{n}": n for n in range(1_000)}
    cells = [Cell(str(n), n, f"v{n}") for n in range(1_000)]
    variables = gather(Request("x"), Surface(cells, names, tmp_path)).variables
    assert list(variables) == [f"v{n}" for n in range(999, 939, -1)]


def test_a_secret_is_masked_before_a_value_is_cut(tmp_path: Path) -> None:
    masker = Masker({"MY_TOKEN": "hunter2hunter2"})
    names = {"text": "-" * 52 + "hunter2hunter2"}
    surface = Surface([Cell("a", 1, "text")], names, tmp_path, masker=masker)
    found = gather(Request("@text"), surface)
    assert "hunter" not in found.variables["text"]
    (resource,) = found.mentioned
    assert isinstance(resource, Resource)
    assert MASK[:5] in resource.text.splitlines()[0]


def test_the_environment_is_masked_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "hunter2hunter2")
    surface = Surface([Cell("a", 1, "text")], {"text": "hunter2hunter2"}, tmp_path)
    assert gather(Request("x"), surface).variables == {"text": f"text: str, 14 long = '{MASK}'"}
