"""Saved notebooks of every age, and files that only say they are notebooks."""

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from agy_kernel.prompt.files import Unreadable
from agy_kernel.prompt.notebooks import markdown_near, read

PNG = b"\x89PNG\r\n\x1a\n bytes"


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    """A notebook with all that cells can hold."""
    figure = {"text/plain": "<Figure>", "image/png": b64encode(PNG).decode()}
    traceback = ["Traceback", "ZeroDivisionError"]
    cells = [
        new_markdown_cell("# Title", id="title"),
        new_code_cell(
            "plot()",
            id="plot",
            execution_count=7,
            outputs=[
                new_output("stream", name="stderr", text=["warn\n", "ing\n"]),
                new_output("display_data", figure),
                new_output("execute_result", {"text/plain": ["4", "2"]}, execution_count=7),
            ],
        ),
        new_code_cell(
            "1 / 0",
            id="fails",
            execution_count=8,
            outputs=[new_output("error", ename="Z", evalue="z", traceback=traceback)],
        ),
        new_code_cell("# never run", id="new"),
        new_markdown_cell("private", id="secret", metadata={"tags": ["agy-private"]}),
        new_markdown_cell("the end", id="end"),
    ]
    path = tmp_path / "it.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    return path


def written(path: Path, content: object) -> Path:
    file = path / "x.ipynb"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def test_cells_come_with_outputs_pictures_and_errors(notebook: Path) -> None:
    title, plot, fails, new, secret, _ = read(notebook)
    assert (title.source, title.language, title.count) == ("# Title", "markdown", 1)
    assert (plot.id, plot.count, plot.language, plot.seconds) == ("plot", 7, "python", None)
    assert [(o.kind, o.text) for o in plot.outputs] == [
        ("stderr", "warn\ning\n"),
        ("display", "<Figure>"),
        ("result", "42"),
    ]
    assert plot.pictures == (PNG,)
    assert (fails.error, fails.outputs) == ("Traceback\nZeroDivisionError", ())
    assert new.count == 4
    assert secret.is_private


@pytest.mark.parametrize(
    ("number", "cell_id"), [(7, "plot"), (8, "fails"), (1, "title"), (4, "new"), (6, "end")]
)
def test_a_number_is_that_of_an_execution_or_else_a_place(
    notebook: Path, number: int, cell_id: str
) -> None:
    assert [cell.id for cell in read(notebook, number)] == [cell_id]


@pytest.mark.parametrize("number", [0, 9, 10**9])
def test_a_number_that_no_cell_has(notebook: Path, number: int) -> None:
    with pytest.raises(Unreadable, match=f"it has no cell {number}"):
        read(notebook, number)


def test_a_notebook_without_ids_and_with_its_own_language(tmp_path: Path) -> None:
    content = {
        "nbformat": 4,
        "nbformat_minor": 0,
        "metadata": {"language_info": {"name": "R"}},
        "cells": [
            {"cell_type": "code", "source": ["x <- 1\n", "x"], "metadata": {}, "outputs": []},
            {"cell_type": "markdown", "source": "words", "metadata": {}},
        ],
    }
    code, words = read(written(tmp_path, content))
    assert (code.id, code.source, code.language) == ("cell-1", "x <- 1\nx", "R")
    assert (words.id, words.language) == ("cell-2", "markdown")
    assert markdown_near(written(tmp_path, content), "anything") == "words"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no JSON",
        "[]",
        "5",
        "{}",
        '{"cells": 5}',
        '{"cells": [5]}',
        '{"cells": {"a": 1}}',
        '{"cells": [{"source": [5]}]}',
        '{"cells": [{"metadata": []}]}',
        '{"cells": [{"outputs": 5}]}',
        '{"cells": [{"outputs": [{"output_type": "error", "traceback": [5]}]}]}',
        '{"cells": [{"outputs": [{"output_type": "display_data", "data": 5}]}]}',
        '{"cells": [{"outputs": [{"output_type": "stream"}]}]}',
        '{"cells": [{}], "metadata": 5}',
        '{"worksheets": [{"cells": []}], "nbformat": 3}',
        "[" * 100_000,
        '{"cells": [{"execution_count": ' + "9" * 5_000 + "}]}",
    ],
    ids=range(18),
)
def test_what_is_no_notebook(tmp_path: Path, content: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(Unreadable, match="it is not a notebook"):
        read(path)
    assert markdown_near(path, "x") == ""


@pytest.mark.parametrize(
    "cell",
    [
        {},
        {"source": None, "outputs": [5, None], "execution_count": "7", "metadata": {"tags": "x"}},
        {"outputs": [{}, {"output_type": "new"}, {"output_type": "error"}]},
        {"outputs": [{"data": {"image/png": 5, "text/plain": {"a": 1}}}]},
        {"metadata": {"tags": [5, "ok"]}},
    ],
)
def test_cells_with_less_or_more_than_they_should(tmp_path: Path, cell: dict[str, Any]) -> None:
    (read_cell,) = read(written(tmp_path, {"cells": [cell]}))
    assert read_cell.count == 1
    assert read_cell.id == "cell-1"


def test_bytes_that_are_no_utf8(tmp_path: Path) -> None:
    (tmp_path / "x.ipynb").write_bytes(b'\xef\xbb\xbf{"cells": [{"source": "caf\xe9"}]}')
    assert read(tmp_path / "x.ipynb")[0].source == "caf\ufffd"


# -- the Markdown around a prompt


@pytest.mark.parametrize(
    ("cell_id", "prose"),
    [
        ("plot", "# Title"),
        ("title", ""),
        ("end", "# Title"),
        ("not saved yet", "# Title\n\nthe end"),
        ("", "# Title\n\nthe end"),
    ],
)
def test_markdown_before_a_cell(notebook: Path, cell_id: str, prose: str) -> None:
    assert markdown_near(notebook, cell_id) == prose


def test_only_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "x.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell(str(n)) for n in range(9)]), path)
    assert markdown_near(path, "", around=2) == "7\n\n8"


def test_a_notebook_that_is_not_saved_has_none(tmp_path: Path) -> None:
    assert markdown_near(tmp_path / "missing.ipynb", "x") == ""
    assert markdown_near(tmp_path, "x") == ""
