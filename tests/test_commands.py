"""The words of ``%agy``: what is a command, what a prompt, and what commands show."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.acp.tape import Tape
from agy_kernel.commands import COMMANDS, Prompt, parse, session
from agy_kernel.conversation.conversation import Conversation
from agy_kernel.conversation.engine import EventSink
from agy_kernel.display.shown import Shown
from agy_kernel.errors import CommandError, SettingsError
from agy_kernel.events import (
    Choice,
    Choices,
    Diff,
    SessionInfoChanged,
    SessionOpened,
    SessionState,
    TextChunk,
    ToolCallUpdate,
)
from agy_kernel.host import Host
from agy_kernel.settings import Settings
from agy_kernel.tables import PlainText, fenced
from tests.support.renderers import text_of, vs_code
from tests.support.screen import Played


def command(line: str) -> tuple[str, list[str]]:
    parsed = parse(line)
    assert not isinstance(parsed, Prompt), f"{line!r} is a prompt"
    return parsed[0].name, parsed[1]


# -- the grammar


@pytest.mark.parametrize(
    ("line", "name", "words"),
    [
        ("", "status", []),
        ("  ", "status", []),
        ("status", "status", []),
        (" new ", "new", []),
        ("model", "model", []),
        ("model gemini-3.8-flash-high", "model", ["gemini-3.8-flash-high"]),
        ("mode yolo", "mode", ["yolo"]),
        ("model 'Gemini Pro'", "model", ["'Gemini", "Pro'"]),
        ('option thinking "Very high"', "option", ["thinking", '"Very', 'high"']),
        ("last", "last", []),
        ("diff", "diff", []),
        ("diff call_859008", "diff", ["call_859008"]),
        ("output", "output", []),
        ("output 859008", "output", ["859008"]),
        ("tape", "tape", []),
        ("tape 20", "tape", ["20"]),
        ("tape save ~/x.jsonl", "tape", ["save", "~/x.jsonl"]),
        ("tape start ~/x.jsonl", "tape", ["start", "~/x.jsonl"]),
        ("tape stop", "tape", ["stop"]),
        ("tape status", "tape", ["status"]),
        ("help", "help", []),
        ("help tape", "help", ["tape"]),
        ("new --help", "help", ["new"]),
        ("tape --help", "help", ["tape"]),
        ("--help", "help", []),
    ],
)
def test_a_line_that_fits_is_a_command(line: str, name: str, words: list[str]) -> None:
    assert command(line) == (name, words)


@pytest.mark.parametrize(
    "line",
    [
        "new ideas for the plot",
        "status of the build?",
        "model the noise as Gaussian",
        "model 'the noise' as Gaussian",
        "option pricing as usual",
        "last week's numbers, please",
        "help me",
        "help tape now",
        "tape this",
        "tape 3 4",
        "tape save",
        "tape save a b",
        "tape start",
        "tape stop it",
        "what is new?",
        "explain --help",
        "hello",
        "helpful",
        "statistics",
        "models of the atom",
        "lasts long",
        "output of the last run",
    ],
)
def test_a_line_that_does_not_fit_is_a_prompt(line: str) -> None:
    assert parse(line) == Prompt(line)


@pytest.mark.parametrize(
    ("word", "usage"),
    [
        ("statsu", "%agy status"),
        ("models", "%agy model [MODEL]"),
        ("Help", "%agy help [COMMAND]"),
        ("delete", "%agy delete ID"),
        ("use", "%agy use NAME"),
        ("set", "%agy set KEY VALUE"),
        ("tapes", "%agy tape [N | save FILE | start FILE | stop | status]"),
    ],
)
def test_a_single_word_that_is_nearly_a_command_is_questioned(word: str, usage: str) -> None:
    with pytest.raises(CommandError) as caught:
        parse(word)
    assert usage in str(caught.value)
    assert f"%agy -- {word}" in str(caught.value)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("-- new", "new"),
        ("--  statsu ", "statsu"),
        ("--\tnew", "new"),
        ("-- -- x", "-- x"),
        ("--", ""),
        ("--verbose is what?", "--verbose is what?"),
    ],
)
def test_two_dashes_make_anything_a_prompt(line: str, text: str) -> None:
    assert parse(line) == Prompt(text)


@given(st.text(alphabet="ab -newhlp?", max_size=20))
def test_a_prompt_is_never_changed_but_at_its_ends(line: str) -> None:
    try:
        parsed = parse(line)
    except CommandError:
        return
    if isinstance(parsed, Prompt):
        assert parsed.text in line
        words = line.split()
        assert parsed.text.split() == words[words[0] == "--" :]


def test_a_usage_line_says_how_a_command_is_written() -> None:
    assert COMMANDS["new"].usage == "%agy new"
    assert all(name == c.name and c.help.endswith(".") for name, c in COMMANDS.items())


# -- what they show


MODELS = Choices("flash", (Choice("flash", "Flash|3"), Choice("pro", "Pro <b>")))


def no_engine(_: EventSink) -> Any:
    raise AssertionError("nothing here starts an agent")


@pytest.fixture
def host() -> Host:
    """What commands use of a host; the parts are real."""
    conversation = Conversation(no_engine, "/w", "antigravity")
    settings = Settings(agent="antigravity")
    conversations = SimpleNamespace(tape=Tape())
    parts = SimpleNamespace(
        conversation=conversation, settings=settings, conversations=conversations, turns=deque()
    )
    return cast(Host, parts)


def run(host: Host, line: str) -> str:
    parsed = parse(line)
    assert not isinstance(parsed, Prompt)
    return parsed[0].run(host, parsed[1])


def shown(*events: Any) -> Shown:
    turn = Played()
    turn.play(events)
    turn.finish()
    return turn.shown


def test_status_before_the_first_prompt(host: Host) -> None:
    text = text_of(vs_code(run(host, "")))
    assert "antigravity" in text
    assert "no; the next prompt starts it" in text
    assert "none yet" in text
    assert "permissions\nask" in text
    assert all(c.usage in text and c.help in text for c in COMMANDS.values())


def test_status_of_a_session(host: Host) -> None:
    hear = host.conversation._listener.hear
    hear("s1", SessionOpened(SessionState("s1", {"model": MODELS})))
    hear("s1", SessionInfoChanged("A | <title>\nof two lines"))
    text = text_of(vs_code(run(host, "status")))
    for part in ("s1", "Flash|3", "A | <title> of two lines"):
        assert part in text


def test_what_is_chosen_is_listed_though_it_is_not_on_offer() -> None:
    assert session._list(MODELS) == "- **`flash` Flash|3** (current)\n- `pro` Pro <b>"
    listed = session._list(replace(MODELS, current="old"))
    assert listed.endswith("- `pro` Pro <b>\n- **`old`** (current, and not on offer)")
    assert "current" not in session._list(replace(MODELS, current=""))


def test_last_shows_the_last_reply_again(host: Host) -> None:
    assert run(host, "last") == "There was no turn yet."
    host.turns.append(shown(TextChunk("agent", "first")))
    host.turns.append(shown(TextChunk("agent", "Hello *you*"), ToolCallUpdate("a", title="Read x")))
    text = run(host, "last")
    assert "Hello *you*" in text
    assert "Read x" in text
    assert "first" not in text


def edit(call_id: str, path: str, text: str) -> ToolCallUpdate:
    diff = Diff(path, None, text)
    return ToolCallUpdate(call_id, kind="edit", status="completed", content=(diff,))


def test_diff_shows_the_last_turn_s_in_full(host: Host) -> None:
    assert run(host, "diff") == "No diff to show."
    host.turns.append(shown(edit("old", "/w/old.txt", "x\n")))
    host.turns.append(shown(edit("new", "/w/new.txt", "y\n" * 1_000 + "```\n")))
    text = run(host, "diff")
    assert text.startswith("`new.txt`: new file +1001 −0 (completed)\n````diff\n+ y\n")
    assert text.count("+ y") == 1_000
    assert "old.txt" in run(host, "diff old")


def test_a_diff_of_very_long_lines_is_plain_text(host: Host) -> None:
    host.turns.append(shown(edit("new", "/w/new.js", "y" * 200_000)))
    text = run(host, "diff")
    assert isinstance(text, PlainText)
    assert "y" * 200_000 in text


def test_a_very_long_diff_is_plain_text(host: Host) -> None:
    host.turns.append(shown(edit("new", "/w/new.txt", "y\n" * 20_000)))
    text = run(host, "diff")
    assert isinstance(text, PlainText)
    assert text.count("+ y") == 20_000
    assert "```" not in text


def printed(call_id: str, text: str) -> ToolCallUpdate:
    raw = {"command": "make"}
    return ToolCallUpdate(
        call_id, kind="execute", status="completed", raw_input=raw, raw_output={"stdout": text}
    )


def test_output_shows_the_last_one_in_full(host: Host) -> None:
    assert run(host, "output") == "No output to show."
    text = "\x1b[31mred\x1b[0m\n10%\r100%\n" + "line\n" * 1_000_000
    host.turns.append(shown(printed("old", "old output")))
    host.turns.append(shown(printed("new", text), ToolCallUpdate("after", title="x")))
    answer = run(host, "output")
    assert isinstance(answer, PlainText)
    assert answer.startswith("[run · make · ran without asking]\n$ make\nred\n100%\nline\n")
    assert answer.count("line") == 1_000_000
    assert "old output" in run(host, "output old")


@pytest.mark.parametrize(
    "text",
    [
        *("", "short", "a\n\nb\n", "line\n" * 2_000_000, "x" * 300_000),
        *("x" * 500_000, "x" * 5_000_000, ("x" * 1_000_000 + "\n") * 20, "x" * 400_000 + "\nend"),
    ],
    ids=range(9),
)
def test_a_plain_text_comes_in_few_pieces_of_whole_lines_if_they_are_not_endless(text: str) -> None:
    pieces = list(PlainText(text).pieces())
    whole = "\n".join(pieces).replace("…\n…", "")
    assert whole.removesuffix("\n") == text.removesuffix("\n")
    assert len(pieces) <= 41
    assert max(map(len, pieces), default=0) <= max(400_002, len(text) // 20 + 2)


def test_output_shows_long_arguments_too(host: Host) -> None:
    asked = ToolCallUpdate("a", title="mcp__notes__add", raw_input={"text": "x" * 100_000})
    host.turns.append(shown(asked))
    assert "text: " + "x" * 100_000 in run(host, "output a")


def test_a_part_of_an_id_is_enough_if_it_says_which(host: Host) -> None:
    host.turns.append(shown(printed("toolu_0123abc", "one"), printed("toolu_0123def", "two")))
    assert run(host, "output abc").endswith("\none")
    assert run(host, "output toolu_0123def").endswith("\ntwo")
    with pytest.raises(CommandError, match=r"2 tool calls have 'toolu'.*abc, toolu_0123def"):
        run(host, "output toolu")
    with pytest.raises(CommandError, match="no tool call"):
        run(host, "diff nothing")


def test_of_calls_with_one_id_the_last_is_meant(host: Host) -> None:
    host.turns.append(shown(printed("call_1", "first turn")))
    host.turns.append(shown(printed("call_1", "second turn")))
    assert run(host, "output call_1").endswith("\nsecond turn")


def test_a_tape_is_started_and_stopped(host: Host, tmp_path: Path) -> None:
    path, tape = tmp_path / "x.jsonl", host.conversations.tape
    tape.sent(b'{"id": 1}')
    assert run(host, "tape status") == "The wire is kept in memory."
    assert run(host, "tape stop") == "No file is being written."
    assert run(host, f"tape start {path}") == f"The wire is written to `{path}`, 0 frames so far."
    tape.sent(b'{"id": 2}')
    assert run(host, "tape status") == f"The wire is written to `{path}`, 1 frames so far."
    assert run(host, "tape stop") == f"1 frames are in `{path}`."
    tape.sent(b'{"id": 3}')
    assert [json.loads(line).get("msg") for line in path.read_text().splitlines()] == [
        None,
        {"id": 2},
    ]
    with pytest.raises(SettingsError, match="cannot be written: No such file or directory"):
        run(host, f"tape start {tmp_path}/no/such/folder")


def test_a_tape_that_is_started_in_a_session_says_what_it_lacks(host: Host, tmp_path: Path) -> None:
    host.conversation._listener.hear("s1", SessionOpened(SessionState("s1", {"model": MODELS})))
    assert "can be replayed" in run(host, f"tape start {tmp_path}/x.jsonl")
    host.conversations.tape.close()


def test_tape_shows_the_last_frames_and_saves_them(host: Host, tmp_path: Path) -> None:
    for number in range(30):
        host.conversations.tape.sent(b'{"id": %d}\n' % number)
    assert run(host, "tape").count('"id"') == 10
    assert run(host, "tape 3").count('"id"') == 3
    assert "kept in memory" in run(host, "tape")
    path = tmp_path / "x.jsonl"
    assert run(host, f"tape save {path}") == f"30 frames are in `{path}`."
    assert path.read_text().count('"id"') == 30
    with pytest.raises(SettingsError, match="cannot be written"):
        run(host, f"tape save {tmp_path}/no/such/folder")


def test_help_lists_the_commands_or_explains_one(host: Host) -> None:
    text = text_of(vs_code(run(host, "help")))
    assert all(c.usage in text and c.help in text for c in COMMANDS.values())
    assert run(host, "help new") == f"`%agy new`\n\n{COMMANDS['new'].help}"


def test_a_code_block_is_closed_by_nothing_in_it() -> None:
    assert fenced("a ```` b", "md") == "`````md\na ```` b\n`````"
