"""What was allowed and what then ran are compared; agents' ordinary ways raise no alarm."""

from __future__ import annotations

from pathlib import Path

import pytest

from agy_kernel.conversation.toolcalls import ToolCall
from agy_kernel.display.approval import strayed
from agy_kernel.events import Diff, ToolCallUpdate
from agy_kernel.questions import Answer, Option, Permission
from tests.test_tools import TRAFFIC, recorded

ALLOW, DENY = Option("y", "Allow", "allow_once"), Option("n", "Deny", "reject_once")
EDIT = Diff("/f", "a\nb\n", "a\nc\n")


def call(asked: ToolCallUpdate, option: Option | None = ALLOW, **now: object) -> ToolCall:
    question = Permission(asked, (ALLOW, DENY))
    return ToolCall("c", question=question, answer=Answer(option, "you"), **now)  # type: ignore[arg-type]  # by name


@pytest.mark.parametrize("path", TRAFFIC, ids=[path.stem for path in TRAFFIC])
def test_no_agent_that_was_recorded_is_suspected(path: Path) -> None:
    assert not any(strayed(one) for one in recorded(path.stem))


@pytest.mark.parametrize(
    "changes",
    [
        (Diff("/f", "a\nb\n", "a\nevil\n"),),
        (Diff("/g", "a\nb\n", "a\nc\n"),),
        (EDIT, Diff("/g", None, "x")),
        (Diff("/f", "a\nb\n", ""),),
    ],
    ids=["other words", "another file", "one more", "less left"],
)
def test_another_change_is_told(changes: tuple[Diff, ...]) -> None:
    assert strayed(call(ToolCallUpdate("c", content=(EDIT,)), changes=changes))


def test_the_same_change_with_more_around_it_is_the_same() -> None:
    wide = Diff("/f", "1\na\nb\n2\n", "1\na\nc\n2\n")
    assert not strayed(call(ToolCallUpdate("c", content=(EDIT,)), changes=(wide,)))
    assert not strayed(call(ToolCallUpdate("c", content=(wide,)), changes=(EDIT,)))


def test_another_command_is_told_and_what_was_not_told_before_is_not() -> None:
    run = {"command": "rm"}
    assert strayed(call(ToolCallUpdate("c", raw_input={"command": "ls"}), raw_input=run))
    assert not strayed(call(ToolCallUpdate("c"), raw_input=run))


@pytest.mark.parametrize("option", [DENY, None])
def test_what_was_not_allowed_cannot_stray(option: Option | None) -> None:
    asked = ToolCallUpdate("c", raw_input={"command": "ls"})
    assert not strayed(call(asked, option, raw_input={"command": "rm"}))
