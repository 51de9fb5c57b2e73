"""Completion and inspection in a prompt cell."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.commands import COMMANDS
from agy_kernel.completion import MOST_PATHS, Completion, complete, inspect
from agy_kernel.conversation.conversation import Conversation
from agy_kernel.conversation.engine import EventSink
from agy_kernel.events import (
    Choice,
    Choices,
    Command,
    CommandsChanged,
    SessionOpened,
    SessionState,
)
from agy_kernel.options import NAMES as OPTIONS
from tests.support.renderers import RENDERERS, harm_in

MODELS = Choices(
    "flash", (Choice("flash", "Flash"), Choice("flash-lite", "Lite"), Choice("pro", "Pro"))
)


def no_engine(_: EventSink) -> Any:
    raise AssertionError("nothing here starts an agent")


@pytest.fixture
def conversation(tmp_path: Path) -> Conversation:
    """A conversation in a folder with some files, with models and commands to choose from."""
    made = Conversation(no_engine, str(tmp_path), "agent")
    hear = made._listener.hear
    hear("s", SessionOpened(SessionState("s", {"model": MODELS})))
    commands = (
        Command("plan", "Make a plan.", "what"),
        Command("mcp:git-log", "<b>![x](http://e)"),
    )
    hear("s", CommandsChanged(commands))
    for name in ("data.csv", "Data.py", "notes.md", ".hidden", "sub/inner.txt", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"content of {name}")
    return made


NAMES = ("data_frame", "_private")


def matches(code: str, conversation: Conversation | None, at: int | None = None) -> list[str]:
    return complete(code, len(code) if at is None else at, NAMES, conversation).matches


# -- completion


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("look at @", ["cell:last", "error", "sub/", "Data.py", "data.csv", "notes.md"]),
        ("@da", ["data_frame", "Data.py", "data.csv"]),
        ("@ce", ["cell:last"]),
        ("@_pr", []),
        ("@sub/", ["sub/inner.txt"]),
        ("@./sub/in", ["./sub/inner.txt"]),
        ("@.h", [".hidden"]),
        ("@.g", []),
        ("@no/such/", []),
        ("@~nosuchuser/", []),
        ("mail me@da", []),
    ],
)
def test_paths_after_an_at_sign(code: str, expected: list[str], conversation: Conversation) -> None:
    assert matches(code, conversation) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("%agy use si", ["simulator"]),
        ("%agy option mo", ["model"]),
        ("%agy set perm", ["permissions"]),
        ("%agy config set image_s", ["image_side"]),
        ("%agy config unset image_s", ["image_side"]),
        ("%agy use a simu", []),
    ],
)
def test_what_commands_take(code: str, expected: list[str], conversation: Conversation) -> None:
    assert matches(code, conversation) == expected


def test_values_of_an_option_are_those_of_the_agent(conversation: Conversation) -> None:
    assert matches("%agy option model ", conversation) == matches("%agy model ", conversation)


def test_an_absolute_path_and_the_home_folder(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", conversation.cwd)
    assert matches(f"@{conversation.cwd}/no", conversation) == [f"{conversation.cwd}/notes.md"]
    assert matches("@~/no", conversation) == ["~/notes.md"]
    assert all(m.startswith("/") for m in matches("@/", conversation))


def test_what_is_typed_is_replaced_from_the_path_s_beginning(conversation: Conversation) -> None:
    found = complete("see @sub/in and more", len("see @sub/in"), NAMES, conversation)
    assert (found.start, found.type) == (len("see @"), "reference")
    reply = found.reply(11)
    assert (reply["cursor_start"], reply["cursor_end"], reply["matches"]) == (
        5,
        11,
        ["sub/inner.txt"],
    )
    assert reply["metadata"]["_jupyter_types_experimental"][0]["type"] == "reference"


def test_a_folder_with_very_many_files(tmp_path: Path) -> None:
    for number in range(MOST_PATHS + 50):
        (tmp_path / f"f{number}").touch()
    assert len(matches("@f", Conversation(no_engine, str(tmp_path), "x"))) == MOST_PATHS


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("%agy ", list(COMMANDS)),
        ("%agy st", ["status"]),
        ("%%agy ne", ["new"]),
        ("%agy model ", ["flash", "flash-lite", "pro"]),
        ("%agy model fl", ["flash", "flash-lite"]),
        ("%agy mode ", []),
        ("%agy zz", []),
        ("%%agy --model fl", ["flash", "flash-lite"]),
        ("%%agy --mod", ["--model", "--mode"]),
        ("%%agy --new -", list(OPTIONS)),
        ("/", ["/plan", "/mcp:git-log"]),
        ("/mcp:g", ["/mcp:git-log"]),
        ("/plan x", []),
        ("either/", []),
        ("plain words", []),
        ("", []),
    ],
)
def test_commands_models_and_the_agent_s_own(
    code: str, expected: list[str], conversation: Conversation
) -> None:
    assert matches(code, conversation) == expected


def test_before_the_first_prompt_nothing_is_known_but_our_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.txt").touch()
    assert matches("%agy hel", None) == ["help"]
    assert matches("@he", None) == ["here.txt"]
    assert matches("/", None) == []
    assert matches("%agy model ", None) == []


@given(st.text(max_size=30), st.data())
def test_a_completion_never_reaches_behind_the_cursor(code: str, data: st.DataObject) -> None:
    cursor = data.draw(st.integers(0, len(code)))
    found = complete(code, cursor, NAMES, None)
    assert 0 <= found.start <= cursor
    assert isinstance(found, Completion)


# -- inspection


@pytest.mark.parametrize("code", ["%agy tape", "%%agy tape 3", "words\n%agy tape"])
def test_a_command_is_explained(code: str, conversation: Conversation) -> None:
    text = inspect(code, len(code), conversation)
    assert text
    assert COMMANDS["tape"].help in text


def test_the_agent_s_commands_are_explained_and_harmless(conversation: Conversation) -> None:
    assert "Make a plan." in (inspect("/plan the week", 3, conversation) or "")
    text = inspect("/mcp:git-log", 3, conversation)
    assert text
    for render in RENDERERS:
        assert harm_in(render(text)) == []


def test_a_file_shows_its_beginning(conversation: Conversation) -> None:
    code = "compare @data.csv with @notes.md"
    assert "content of data.csv" in (inspect(code, 10, conversation) or "")
    assert "content of notes.md" in (inspect(code, 27, conversation) or "")
    assert inspect(code, 2, conversation) is None


def test_a_file_with_a_fence_stays_inside_its_own(conversation: Conversation) -> None:
    (Path(conversation.cwd) / "x.md").write_text("```````\n<img src=x onerror=a()>\n")
    text = inspect("@x.md", 2, conversation)
    assert text
    for render in RENDERERS:
        assert harm_in(render(text)) == []


@pytest.mark.parametrize("name", ["sub", "missing", "~nosuchuser/x", "pipe", "a\x00b"])
def test_what_is_no_file_shows_nothing(name: str, conversation: Conversation) -> None:
    os.mkfifo(Path(conversation.cwd) / "pipe")
    assert inspect(f"@{name}", 2, conversation) is None


@pytest.mark.parametrize("code", ["", "hello", "%agy nonsense", "/unknown", "50 % of @"])
def test_about_other_words_there_is_nothing_to_say(code: str, conversation: Conversation) -> None:
    assert inspect(code, len(code), conversation) is None
