"""What a diff does to its file, in words: renames, deletions, and bytes that are no text."""

from __future__ import annotations

from typing import Any

import pytest

from agy_kernel.acp.updates import tool_call
from agy_kernel.conversation.toolcalls import ToolCall
from agy_kernel.conversation.transcript import (
    Transcript,
    fold,
)
from agy_kernel.display.changes import is_binary, plain, render, stat, what
from agy_kernel.display.place import Place
from agy_kernel.display.tools import card
from agy_kernel.events import Diff, Location
from tests.support.renderers import text_of

FULL = "%agy diff c1"
PLACE = Place("/w")
PNG = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
UNREADABLE = "\ufffdPNG\ufffd\ufffd text"


@pytest.mark.parametrize(
    ("diff", "words"),
    [
        (Diff("/a", None, "x"), "new file"),
        (Diff("/a", "x", ""), "changed"),
        (Diff("/a", "x", "", deleted=True), "deleted"),
        (Diff("/a", "x", "x", moved_from="/b"), "renamed"),
        (Diff("/a", "x", "y", moved_from="/a"), "changed"),
    ],
)
def test_what_happens_to_a_file(diff: Diff, words: str) -> None:
    assert what(diff) == words


@pytest.mark.parametrize("key", ["oldPath", "old_path", "movedFrom", "previousPath"])
def test_a_diff_may_say_where_its_file_was(key: str) -> None:
    item = {"type": "diff", "path": "/w/b.py", "oldText": "x", "newText": "y"}
    for told in ({**item, "_meta": {key: "/w/a.py"}}, {**item, key: "/w/a.py"}):
        frame = {"toolCallId": "c", "kind": "edit", "status": "completed", "content": [told]}
        [call] = fold(Transcript(), tool_call(frame)).tool_calls
        assert text_of(card(call, PLACE)).startswith("✓ edit a.py → b.py +1 −1")


@pytest.mark.parametrize(
    "raw",
    [
        {"source": "/w/a.py", "destination": "/w/b.py"},
        {"old_path": "/w/a.py", "new_path": "/w/b.py"},
        {"from": "/w/a.py", "to": "/w/b.py"},
        None,
    ],
    ids=str,
)
def test_a_move_names_both_paths(raw: Any) -> None:
    locations = () if raw else (Location("/w/a.py"), Location("/w/b.py"))
    call = ToolCall("c", kind="move", status="completed", raw_input=raw, locations=locations)
    assert text_of(card(call, PLACE)).startswith("✓ move a.py → b.py · ran without asking")


@pytest.mark.parametrize(
    ("text", "is_it"),
    [
        (PNG, True),
        (UNREADABLE, True),
        ("", False),
        ("text\twith tabs\r\nand \x1b[31mcolours\x1b[0m\n", False),
        ("Grüße 日本語 \u2028", False),
        ("x" * 10_000 + "\0", False),
    ],
)
def test_bytes_that_were_read_as_text_are_known(text: str, is_it: bool) -> None:
    assert is_binary(Diff("/a", None, text)) == is_it
    assert is_binary(Diff("/a", text, "x")) == is_it


def test_bytes_are_not_shown() -> None:
    diff = Diff("/w/a.png", PNG, PNG * 100)
    assert stat(diff) == "binary"
    size, sizes = len(PNG), f"{len(PNG) * 100:,}"
    assert plain(diff) == f"a binary file, {size} → {sizes} characters; not shown"
    assert text_of(render(diff, FULL)) == plain(diff)
    gone = Diff("/w/a.png", PNG, "", deleted=True)
    assert plain(gone) == f"a binary file, {size} characters; not shown"


def test_a_card_of_many_lines_names_the_command_that_shows_all() -> None:
    diff = Diff("/w/a.py", None, "x\n" * 20_000)
    shown = ToolCall("toolu_01:7", kind="edit", content=(diff,), changes=(diff,))
    assert "19,440 lines are not shown here: %agy diff toolu_01:7" in text_of(card(shown, PLACE))
