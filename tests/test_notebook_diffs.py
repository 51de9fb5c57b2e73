"""Notebooks are compared cell by cell, never as JSON (public reports 41 and 42)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agy_kernel.conversation.toolcalls import ToolCall
from agy_kernel.display import notebook_check, saved_notebooks
from agy_kernel.display.changes import plain, render, stat
from agy_kernel.display.headings import warning
from agy_kernel.display.notebook_cards import title
from agy_kernel.display.notebook_diffs import NotebookDiff, compare
from agy_kernel.display.place import Place
from agy_kernel.display.tools import as_text, card, request
from agy_kernel.events import Diff, Location
from tests.support.renderers import RENDERERS, harm_in, text_of

FULL = "%agy diff c1"
PATH = "/w/a.ipynb"
Cell = dict[str, Any]


def code(cell_id: str, source: str = "x = 1", **fields: Any) -> Cell:
    cell: Cell = {"cell_type": "code", "id": cell_id, "metadata": {}, "source": source}
    return {**cell, "outputs": [], "execution_count": None, **fields}


def prose(cell_id: str, source: str = "# Title") -> Cell:
    return {"cell_type": "markdown", "id": cell_id, "metadata": {}, "source": source}


def without_ids(cells: Sequence[Cell]) -> list[Cell]:
    return [{key: value for key, value in cell.items() if key != "id"} for cell in cells]


def saved(*cells: Cell, minor: int = 5, **fields: Any) -> str:
    notebook = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": minor}
    return json.dumps({**notebook, **fields})


def diff(old: str | None, new: str, deleted: bool = False) -> Diff:
    return Diff(PATH, old, new, deleted)


def changed(old: str | None, new: str, deleted: bool = False) -> NotebookDiff:
    compared = compare(diff(old, new, deleted))
    assert isinstance(compared, NotebookDiff), compared
    return compared


def titles(old: str | None, new: str, deleted: bool = False) -> list[str]:
    """What is said of each cell, without its id."""
    said = [title(change) for change in changed(old, new, deleted).cells]
    return [re.sub(r", id [\w-]+\)", ")", line) for line in said]


# -- by id

A, B, C, D = code("a", "a = 1"), prose("b"), code("c", "c = 3"), code("d", "d = 4")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ([A, B], [A, B], []),
        ([A, B], [A, B, C], ["cell 3 (code) added +1 −0"]),
        ([A, B, C], [A, C], ["cell 2 (markdown) removed +0 −1"]),
        ([A, B], [code("a", "a = 2"), B], ["cell 1 (code) changed +1 −1"]),
        ([A, B, C], [C, A, B], ["cell 3 → 1 (code) moved"]),
        ([A, B, C], [code("c", "c = 4"), A, B], ["cell 3 → 1 (code) moved and changed +1 −1"]),
        ([A, B], [B], ["cell 1 (code) removed +0 −1"]),
        ([], [A], ["cell 1 (code) added +1 −0"]),
        ([A], [], ["cell 1 (code) removed +0 −1"]),
        (
            [A, B, C],
            [D, B, code("c", "")],
            [
                "cell 1 (code) removed +0 −1",
                "cell 1 (code) added +1 −0",
                "cell 3 (code) changed +0 −1",
            ],
        ),
        ([A], [prose("a", "a = 1")], ["cell 1 (markdown) changed · was code"]),
    ],
    ids=range(11),
)
def test_cells_are_told_apart_by_their_ids(
    old: list[Cell], new: list[Cell], says: list[str]
) -> None:
    assert titles(saved(*old), saved(*new)) == says


@pytest.mark.parametrize(
    "fresh", [without_ids, lambda cells: [{**c, "id": f"new-{c['id']}"} for c in cells]]
)
def test_without_ids_or_with_new_ones_cells_are_told_apart_by_what_they_say(fresh: Any) -> None:
    old = [code("a", "import pandas"), prose("b", "# A title"), code("c", "total = price * count")]
    new = fresh([old[0], code("n", "print('hello')"), code("c", "total = price * amount"), old[1]])
    minor = 5 if "id" in new[0] else 4
    old_text = saved(*(old if minor == 5 else without_ids(old)), minor=minor)
    assert titles(old_text, saved(*new, minor=minor)) == [
        "cell 2 (code) added +1 −0",
        "cell 3 (code) changed +1 −1",
        "cell 2 → 4 (markdown) moved",
    ]


def test_a_cell_is_named_by_its_place_its_type_and_its_id() -> None:
    [change] = changed(saved(A), saved(code("a", "a = 2"))).cells
    assert title(change) == "cell 1 (code, id a) changed +1 −1"
    [change] = changed(saved(minor=4), saved(*without_ids([A]), minor=4)).cells
    assert title(change) == "cell 1 (code) added +1 −0"


# -- what else changes

STREAM = {"output_type": "stream", "name": "stdout", "text": "<b>1</b>"}
RESULT = {"output_type": "execute_result", "data": {"text/plain": "1"}, "metadata": {}}


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ({"outputs": [STREAM]}, {}, "outputs cleared"),
        ({}, {"outputs": [STREAM]}, "outputs changed (0 → 1)"),
        ({"outputs": [STREAM]}, {"outputs": [{**STREAM, "text": "2"}]}, "outputs changed (1)"),
        ({}, {"metadata": {"tags": ["x"]}}, "metadata.tags added"),
        ({"metadata": {"tags": ["x"]}}, {"metadata": {"tags": ["y"]}}, "metadata.tags changed"),
        ({"metadata": {"tags": ["x"]}}, {}, "metadata.tags removed"),
        ({}, {"attachments": {}}, "attachments added"),
    ],
)
def test_outputs_and_metadata_are_named_and_not_shown(before: Cell, after: Cell, says: str) -> None:
    [change] = changed(saved(code("a", **before)), saved(code("a", **after))).cells
    assert (change.what, change.notes) == ("changed", (says,))
    assert change.source is None
    shown = text_of(render(diff(saved(code("a", **before)), saved(code("a", **after))), FULL))
    assert says in shown
    assert "stdout" not in shown


def test_that_cells_have_run_is_no_change() -> None:
    before = code("a", outputs=[{**RESULT, "execution_count": 1}], execution_count=1)
    after = code("a", outputs=[{**RESULT, "execution_count": 7}], execution_count=7)
    after["metadata"] = {"execution": {"iopub.execute_input": "2026-01-01"}}
    assert titles(saved(before), saved(after)) == []
    assert stat(diff(saved(before), saved(after))) == "no cell changes"


def test_a_source_in_lines_is_the_same_as_in_one_text() -> None:
    assert titles(saved(code("a", "x\ny")), saved({**code("a"), "source": ["x\n", "y"]})) == []


def test_the_notebook_s_own_metadata_is_named() -> None:
    kernel = {"kernelspec": {"name": "ir", "display_name": "R"}}
    compared = changed(saved(A), saved(A, metadata=kernel, minor=4))
    assert compared.notes == ("nbformat_minor changed", "metadata.kernelspec added")


# -- as a card


def test_a_card_shows_sources_and_no_json() -> None:
    shown = diff(saved(A, B), saved(code("a", "a = 2\n<script>"), B, C))
    call = ToolCall("c1", kind="edit", status="completed", content=(shown,), changes=(shown,))
    markup = card(call, Place("/w"))
    text = text_of(markup)
    assert "a.ipynb cells: 1 changed, 1 added" in text
    assert "- a = 1\n+ a = 2\n+ <script>" in text
    assert "cell_type" not in text
    assert "\n" not in markup
    for show in RENDERERS:
        assert not harm_in(show(markup))


def test_a_new_and_a_deleted_notebook_are_shown_by_cells_too() -> None:
    assert titles(None, saved(A, B)) == [
        "cell 1 (code) added +1 −0",
        "cell 2 (markdown) added +1 −0",
    ]
    assert titles(saved(A), "", deleted=True) == ["cell 1 (code) removed +0 −1"]


def test_the_text_form_has_every_cell() -> None:
    old, new = saved(*[code(f"c{i}") for i in range(300)]), saved()
    assert plain(diff(old, new)).count("removed") == 300
    shown = render(diff(old, new), FULL)
    assert "288 more cells" in shown
    assert "… 228 cells are not shown here: %agy diff c1" in text_of(shown)


# -- what is no valid notebook


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (json.dumps({"cells": [A], "metadata": {}}), "it does not say which nbformat it has"),
        (saved(*without_ids([A])), "cell 1 has no id"),
        (saved(A, A), "two cells have the id 'a'"),
        (
            saved({"cell_type": "code", "id": "a", "source": ""}),
            "'metadata' is a required property",
        ),
        (saved({**A, "cell_type": "cod"}), "is not valid under any of the given schemas"),
        (saved(A, nbformat=9), "9"),
    ],
    ids=range(6),
)
def test_an_invalid_notebook_is_compared_and_named_as_such(new: str, reason: str) -> None:
    shown = text_of(render(diff(saved(), new), FULL))
    assert "⚠ not a valid notebook: " in shown
    assert reason in shown
    assert "cell 1 (" in shown


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ('{"cells": [}', "it is not JSON"),
        ("", "it is not JSON"),
        ("[]", "it has no list of cells"),
        ("{}", "it has no list of cells"),
        ('{"cells": 5}', "it has no list of cells"),
        ("[" * 100_000, "it is not JSON"),
    ],
)
def test_what_is_no_notebook_says_why_and_is_folded(new: str, reason: str) -> None:
    for old in (saved(A), None):
        shown = render(diff(old, new), FULL)
        assert f"⚠ not a valid notebook: {reason}" in text_of(shown)
        assert "<details><summary>as text" in shown


def test_a_part_of_a_notebook_is_not_called_invalid() -> None:
    shown = text_of(render(diff("x = 1", "x = 2"), FULL))
    assert shown.startswith("part of a notebook")
    assert "- x = 1\n+ x = 2" in shown


@pytest.mark.parametrize("version", [(4, minor) for minor in range(6)])
def test_a_valid_notebook_of_each_version_is_not_complained_about(version: tuple[int, int]) -> None:
    cells = [A, B] if version >= (4, 5) else without_ids([A, B])
    compared = changed(saved(), saved(*cells, minor=version[1]))
    assert (compared.problem, compared.is_checked) == ("", True)


def test_a_notebook_of_version_3_has_its_cells_on_worksheets() -> None:
    cells = [
        {"cell_type": "code", "input": "x", "language": "python", "outputs": [], "metadata": {}}
    ]
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}
    compared = changed(None, json.dumps(old))
    assert [title(change) for change in compared.cells] == ["cell 1 (code) added +1 −0"]
    assert compared.problem == ""


def test_we_say_of_a_notebook_what_nbformat_says() -> None:
    for raw in (json.loads(saved(A, B)), json.loads(saved({**A, "outputs": 5}))):
        problem, _ = notebook_check.problem_of(json.loads(json.dumps(raw)))
        try:
            nbformat.validate(raw)
        except nbformat.ValidationError:
            assert problem
        else:
            assert problem == ""


def test_without_nbformat_it_is_said_that_nothing_was_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(notebook_check, "find_spec", lambda _: None)
    saved_notebooks.read.cache_clear()
    compare.cache_clear()
    shown = text_of(render(diff(saved(), saved(code("never seen before", "y"))), FULL))
    assert "nbformat is not installed, so the notebook was not checked" in shown
    saved_notebooks.read.cache_clear()
    compare.cache_clear()


# -- anything at all

CELLS = st.lists(
    st.builds(
        lambda i, kind, source: {**code(i, source), "cell_type": kind},
        st.sampled_from("abcd"),
        st.sampled_from(["code", "markdown", "raw", ""]),
        st.sampled_from(["x", "x y", "", "x\ny\n"]),
    ),
    max_size=6,
    unique_by=lambda cell: cell["id"],
)


@settings(max_examples=80, deadline=None)
@given(CELLS, CELLS, st.booleans())
def test_every_cell_is_accounted_for(old: list[Cell], new: list[Cell], has_ids: bool) -> None:
    if not has_ids:
        old, new = without_ids(old), without_ids(new)
    cells = changed(saved(*old), saved(*new)).cells
    removed = sum(change.what == "removed" for change in cells)
    added = sum(change.what == "added" for change in cells)
    assert len(old) - removed + added == len(new)
    assert [c.new for c in cells if c.new] == sorted(c.new for c in cells if c.new)
    if old == new:
        assert not cells


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["cells", "cell_type", "source", "outputs", "metadata", "nbformat", "id"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@settings(max_examples=80, deadline=None)
@given(JSON, JSON)
def test_no_notebook_raises(old: Any, new: Any) -> None:
    shown = diff(json.dumps(old), json.dumps(new))
    assert render(shown, FULL)
    plain(shown)
    stat(shown)


# -- in the arguments of a call that shows no diff


@pytest.mark.parametrize(
    "names", [("TargetFile", "CodeContent"), ("file_path", "content"), ("notebook_path", "text")]
)
@pytest.mark.parametrize("shown", [request, card, as_text])
def test_a_notebook_among_the_arguments_is_shown_by_cells(
    names: tuple[str, str], shown: Callable[[ToolCall, Place], str]
) -> None:
    path, text = names
    raw = {path: PATH, text: saved(code("a", "a = 1"), prose("b")), "Overwrite": True}
    told = text_of(shown(ToolCall("c1", title="Write", kind="edit", raw_input=raw), Place("/w")))
    assert "cell 1 (code, id a) added" in told
    assert "+ a = 1" in told
    assert "Overwrite: true" in told
    assert "cell_type" not in told


def test_a_notebook_that_is_invalid_is_named_as_such_there_too() -> None:
    raw = {"TargetFile": PATH, "CodeContent": json.dumps({"cells": []})}
    asked = ToolCall("c1", title="Write", kind="edit", raw_input=raw)
    assert "not a valid notebook" in text_of(request(asked, Place("/w")))


def test_other_texts_and_other_files_are_shown_as_they_are() -> None:
    for path, text in ((PATH, "x = 2"), ("/w/a.json", saved(code("a")))):
        call = ToolCall("c1", kind="edit", raw_input={"path": path, "text": text})
        assert text.replace('"', '\\"')[:10] in text_of(card(call, Place("/w")))


# -- the notebook that is open


def edit(path: str, status: str = "completed", kind: str = "edit") -> ToolCall:
    return ToolCall("c1", kind=kind, status=status, locations=(Location(path),))


def test_an_edit_of_the_open_notebook_is_warned_of(tmp_path: Path) -> None:
    notebook = tmp_path / "open.ipynb"
    notebook.write_text("{}")
    (tmp_path / "link.ipynb").symlink_to(notebook)
    place = Place(str(tmp_path), notebook)
    for path in (str(notebook), "open.ipynb", "./open.ipynb", "link.ipynb"):
        shown = text_of(card(edit(path), place))
        assert "⚠ The agent changed the notebook that is open here" in shown
        assert "Reload it from disk" in shown
    asked = text_of(request(edit("open.ipynb", "pending"), place))
    assert "⚠ The agent changes the open notebook, on disk." in asked


def test_any_other_notebook_may_be_open_too(tmp_path: Path) -> None:
    for place in (Place(str(tmp_path)), Place(str(tmp_path), tmp_path / "mine.ipynb")):
        assert (
            warning(edit("other.ipynb"), place) == "If this notebook is open, reload it from disk."
        )
    assert warning(edit("a.py"), Place(str(tmp_path))) == ""
    assert warning(edit("a.ipynb", kind="read"), Place(str(tmp_path))) == ""
