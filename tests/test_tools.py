"""Cards of tool calls: safe, one line of source, and saying what a person wants to know.

The recorded calls are those of agents that nobody here wrote.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agy_kernel.acp.updates import question, update_event
from agy_kernel.conversation.toolcalls import ToolCall
from agy_kernel.conversation.transcript import (
    Transcript,
    close,
    fold,
)
from agy_kernel.display.calls import command_of, exit_status_of, files_of, folder_of, output_of
from agy_kernel.display.headings import describe, summary
from agy_kernel.display.place import Place
from agy_kernel.display.tools import as_text, card, request
from agy_kernel.events import (
    Answered,
    Asked,
    Content,
    Diff,
    Location,
    Terminal,
    ToolCallUpdate,
)
from agy_kernel.questions import Answer, Option, Permission
from tests.support.renderers import RENDERERS, harm_in, text_of

TRAFFIC = sorted((Path(__file__).parent / "agents" / "traffic").glob("*.jsonl"))
FOLDER = "/home/user/work"
PLACE = Place(FOLDER)
ALLOW = Option("allow", "Allow", "allow_once")
DENY = Option("deny", "Deny", "reject_once")


def recorded(name: str) -> list[ToolCall]:
    """The tool calls of a recording, at its end."""
    transcript = Transcript()
    asked: dict[Any, Permission] = {}
    path = next(path for path in TRAFFIC if path.stem == name)
    for line in path.read_text(encoding="utf-8").splitlines():
        frame = json.loads(line)
        message = frame["msg"] if isinstance(frame["msg"], dict) else {}
        outcome = message.get("result") or {}
        if message.get("method") == "session/update":
            transcript = fold(transcript, update_event(message["params"]["update"]))
        elif message.get("method") == "session/request_permission":
            asked[message["id"]] = question(message["params"])
            transcript = fold(transcript, Asked(asked[message["id"]]))
        elif frame["dir"] == "c2a" and message.get("id") in asked and "outcome" in outcome:
            one = asked.pop(message["id"])
            chosen = outcome["outcome"].get("optionId")
            answer = Answer(next((o for o in one.options if o.id == chosen), None), by="you")
            one.answer(answer)
            transcript = fold(transcript, Answered(one, answer))
    return list(close(transcript).tool_calls)


def shown(call: ToolCall) -> str:
    return text_of(card(call, PLACE))


def assert_holds(markup: str) -> None:
    """One line of source, in which no parser finds harm, mathematics, or an end of the block."""
    assert "\n" not in markup
    assert not re.search(r"[$\\\x00-\x08\x1b]", markup)
    without_pictures = re.sub(
        r'<img alt="[^"<>]*" style="[^"]*" src="data:image/[^"]*">', "", markup
    )
    for render in RENDERERS:
        assert not harm_in(render(without_pictures))


# -- recorded calls


@pytest.mark.parametrize("path", TRAFFIC, ids=[path.stem for path in TRAFFIC])
def test_every_recorded_call_makes_a_card_that_holds(path: Path) -> None:
    for call in recorded(path.stem):
        assert_holds(card(call, PLACE))
        assert_holds(request(call, PLACE))
        assert summary(call, PLACE).strip()
        assert "\n" not in summary(call, PLACE)


WRITES = [
    ("gemini-cli", 0, "edit a.txt +2 −0", "“Allow” by you"),
    ("gemini-cli-fs", 0, "edit a.txt +2 −0", "“Allow” by you"),
    ("codexz", 0, "edit a.txt +2 −0", "“Yes” by you"),
    ("claude-agent-acp", 0, "edit a.txt +2 −0", "“Allow” by you"),
    ("opencode", 0, "edit a.txt +2 −0", "“Allow once” by you"),
    ("fast-agent-openai", 0, "edit a.txt +2 −0", "“Allow Once” by you"),
    ("antigravity-sdk-acp-poc", 0, "edit a.txt +2 −0", "“Allow” by you"),
]


@pytest.mark.parametrize(("agent", "index", "heading", "answer"), WRITES)
def test_a_file_that_was_written_is_shown_with_its_diff(
    agent: str, index: int, heading: str, answer: str
) -> None:
    text = shown(recorded(agent)[index])
    assert text.startswith(f"✓ {heading} ")
    assert answer in text
    assert "new file" in text
    assert "+ line one\n+ line two" in text


@pytest.mark.parametrize("agent", ["claude-agent-acp", "gemini-cli", "antigravity-sdk-acp-poc"])
def test_an_edit_is_shown_with_both_sides(agent: str) -> None:
    assert "- line two\n+ line 2" in shown(recorded(agent)[3])


@pytest.mark.parametrize(
    "agent", ["gemini-cli", "codexz", "claude-agent-acp", "opencode", "fast-agent-openai"]
)
def test_what_was_refused_is_shown_as_refused_and_not_as_failed(agent: str) -> None:
    text = shown(recorded(agent)[1])
    assert text.startswith("⊘ edit a.txt")
    assert "by you" in text
    assert "failed" not in text


COMMANDS = [
    ("gemini-cli", 4, "✓ run echo hello; exit 3", ""),
    ("codexz", 3, "✗ run echo hello; touch sh.txt; exit 3 · failed · exit status 3", "hello"),
    ("codexa", 0, "✗ run echo hello; touch sh.txt; exit 3 · failed", ""),
    ("claude-agent-acp", 4, "✗ run echo hello; exit 3 · failed", "Exit code 3\nhello"),
    ("opencode", 4, "✓ run echo hello; exit 3", "hello"),
    ("mistral-vibe", 0, "✓ run echo hello; exit 3", "hello"),
    ("antigravity-sdk-acp-poc", 4, "✓ run echo hello; exit 3", "hello"),
]


@pytest.mark.parametrize(("agent", "index", "heading", "output"), COMMANDS)
def test_a_command_is_shown_with_what_it_printed(
    agent: str, index: int, heading: str, output: str
) -> None:
    call = recorded(agent)[index]
    assert shown(call).startswith(heading)
    assert output_of(call).strip() == output
    assert shown(call).count("hello") <= 3


@pytest.mark.parametrize(
    ("call", "status"),
    [
        (ToolCall("a", status="failed", exit_status=3), "3"),
        (ToolCall("a", status="completed", exit_status=0), ""),
        (ToolCall("a", status="failed", raw_output="Exit code 3\nhello"), "3"),
        (ToolCall("a", status="failed", printed=("Exit code 3\nhello",), exit_status=1), "3"),
        (ToolCall("a", status="failed", raw_output={"exit_code": 4}, exit_status=1), "4"),
        (ToolCall("a", status="completed", raw_output="Exit code 3\nhello"), ""),
        (ToolCall("a", status="failed", raw_output="Exit code 30 seconds"), ""),
    ],
)
def test_the_exit_status_of_a_terminal(call: ToolCall, status: str) -> None:
    assert exit_status_of(call) == status


CODEX = [
    {"sessionUpdate": "tool_call", "title": "make", "kind": "execute", "status": "in_progress"},
    {"_meta": {"terminal_output": {"terminal_id": "t", "data": "line 1\n"}}},
    {"_meta": {"terminal_output": {"terminal_id": "t", "data": "line 2\n"}}},
    {
        "status": "failed",
        "rawOutput": {"formatted_output": "line 1\nline 2\n", "exit_code": 3},
        "_meta": {"terminal_exit": {"terminal_id": "t", "exit_code": 3, "signal": None}},
    },
]
CLAUDE = [
    {"sessionUpdate": "tool_call", "title": "make", "kind": "execute", "status": "pending"},
    {"_meta": {"terminal_output": {"terminal_id": "t", "data": "Exit code 3\nline 1\nline 2"}}},
    {
        "status": "failed",
        "rawOutput": "Exit code 3\nline 1\nline 2",
        "_meta": {"terminal_exit": {"terminal_id": "t", "exit_code": 1, "signal": None}},
    },
]


@pytest.mark.parametrize("frames", [CODEX, CLAUDE], ids=["codex", "claude"])
def test_what_the_agent_s_own_terminal_prints_is_the_output(frames: list[dict[str, Any]]) -> None:
    transcript = Transcript()
    terminal = {"content": [{"type": "terminal", "terminalId": "t"}]}
    for frame in frames:
        update = {"sessionUpdate": "tool_call_update", "toolCallId": "c", **terminal, **frame}
        transcript = fold(transcript, update_event(update))
        [call] = transcript.tool_calls
    text = shown(call)
    assert text.startswith("✗ run make · failed · exit status 3 · ran without asking")
    assert text.count("line 1\nline 2") == 1
    running = fold(
        fold(Transcript(), update_event({**frames[0], "toolCallId": "c"})),
        update_event({"sessionUpdate": "tool_call_update", "toolCallId": "c", **frames[1]}),
    )
    assert "line 1" in shown(running.tool_calls[0])


def test_what_a_tool_returned_is_not_shown_twice() -> None:
    for agent in ("opencode", "mistral-vibe", "sdk-example-acpsdk1", "fast-agent-passthrough"):
        for call in recorded(agent):
            labels = re.findall(r"(details|output), \d+ line", shown(call))
            assert len(labels) == len(set(labels)) <= 1


# -- what the fields say


@pytest.mark.parametrize(
    ("raw", "command"),
    [
        ({"command": "ls -l"}, "ls -l"),
        ({"CommandLine": "ls", "Cwd": "/x"}, "ls"),
        ({"cmd": "ls"}, "ls"),
        ({"command": ["/bin/bash", "-lc", "ls | wc"]}, "ls | wc"),
        ({"command": ["ls", "-l"]}, "ls -l"),
        ({"command": "/bin/bash -lc 'echo \"a b\"; ls'"}, 'echo "a b"; ls'),
        ({"command": "bash -c 'broken"}, "bash -c 'broken"),
        ({"command": "bash -c a b"}, "bash -c a b"),
        ({"command": """bash -c 'it'\\''s'"""}, "it's"),
        ({"command": 'bash -c "echo \\"a\\""'}, 'echo "a"'),
        ({"command": 'bash -c "echo \\$(ls)"'}, 'bash -c "echo \\$(ls)"'),
        ({"command": "bash -c `ls`"}, "bash -c `ls`"),
        ({"command": "bash -c 'ls' & evil"}, "bash -c 'ls' & evil"),
        ({"command": "/usr/bin/zsh -c ls"}, "ls"),
        ({"command": "ssh -c 'ls'"}, "ssh -c 'ls'"),
        ({"command": ["ssh", "-c", "ls"]}, "ssh -c ls"),
        ({"command": ["/tmp/evil.sh", "-c", "ls"]}, "/tmp/evil.sh -c ls"),
        ({"command": ["./bash", "-c", "ls"]}, "./bash -c ls"),
        ({"command": ["/tmp/bin/bash", "-c", "ls"]}, "/tmp/bin/bash -c ls"),
        ({"command": ["echo", "$(ls)", "a b"]}, "echo '$(ls)' 'a b'"),
        ({"command": ""}, ""),
        ({"command": 3}, ""),
        ({"arguments": {"command": "ls"}}, "ls"),
        ("ls", ""),
        (None, ""),
    ],
)
def test_the_command_under_each_of_its_names(raw: Any, command: str) -> None:
    assert command_of(ToolCall("a", raw_input=raw)) == command


@pytest.mark.parametrize("key", ["cwd", "Cwd", "workdir", "working_dir", "dir_path"])
def test_the_folder_under_each_of_its_names(key: str) -> None:
    assert folder_of(ToolCall("a", raw_input={key: "/x"})) == "/x"


@pytest.mark.parametrize("key", ["file_path", "filePath", "path", "TargetFile"])
def test_a_file_is_named_by_the_arguments_when_nothing_else_names_it(key: str) -> None:
    assert files_of(ToolCall("a", raw_input={key: "/x"})) == ("/x",)
    located = ToolCall("a", raw_input={key: "/x"}, locations=(Location("/y"),))
    assert files_of(located) == ("/y",)


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        ({"exit_code": 3}, "3"),
        ({"exitCode": "1"}, "1"),
        ({"exit_code": 0}, ""),
        ({"exit_code": None}, ""),
    ],
)
def test_the_exit_status_if_it_is_not_zero(raw: Any, status: str) -> None:
    call = ToolCall("a", kind="execute", status="completed", raw_output=raw)
    assert exit_status_of(call) == status
    assert ("exit status" in shown(call)) == bool(status)


TEXT = (Content("text", "said"),)


@pytest.mark.parametrize(
    ("call", "output"),
    [
        (ToolCall("a", content=TEXT, status="completed"), "said"),
        (ToolCall("a", content=TEXT, status="completed", raw_output="Run x"), "said"),
        (ToolCall("a", content=TEXT, status="pending"), ""),
        (ToolCall("a", content=TEXT, raw_output={"formatted_output": "printed"}), "printed"),
        (ToolCall("a", raw_output={"stdout": "out\n", "stderr": "err\n"}), "out\nerr\n"),
        (ToolCall("a", raw_output={"error": "no"}), "no"),
        (ToolCall("a", raw_output={"odd": 1}), '{\n "odd": 1\n}'),
        (ToolCall("a", raw_output=[1, 2]), "[\n 1,\n 2\n]"),
        (ToolCall("a", title="Run ls", raw_output="Run ls"), ""),
        (ToolCall("a", raw_output="text"), "text"),
        (ToolCall("a", raw_output={}), ""),
        (ToolCall("a", content=(Terminal("t", "typed"),), status="completed"), "typed"),
        (ToolCall("a", content=(Terminal("t"),), status="completed"), ""),
        (ToolCall("a", content=(Content("text", "```sh\nx\n```"),), status="completed"), "x"),
        (
            ToolCall("a", content=(Content("resource_link", uri="file:///r"),), status="completed"),
            "",
        ),
        (ToolCall("a", printed=("one\n", "two")), "one\ntwo"),
        (ToolCall("a", printed=("typed",), raw_output={"formatted_output": "typed"}), "typed"),
        (ToolCall("a", content=TEXT, printed=("typed",)), "typed"),
    ],
)
def test_the_output_wherever_it_is(call: ToolCall, output: str) -> None:
    assert output_of(call) == output


# -- paths


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("/home/user/work/a.txt", "/home/user/work", "a.txt"),
        ("/home/user/work/a.txt", "/home/user/work/", "a.txt"),
        ("/home/user/worker/a.txt", "/home/user/work", "/home/user/worker/a.txt"),
        ("/etc/passwd", "/", "/etc/passwd"),
        ("rel/a.txt", "/home", "rel/a.txt"),
    ],
)
def test_paths_inside_the_folder_are_relative(path: str, folder: str, expected: str) -> None:
    assert Place(folder).relative(path) == expected


def test_a_title_keeps_its_slashes_when_the_folder_is_the_whole_disk() -> None:
    assert "cat /etc/passwd" in summary(ToolCall("a", title="cat /etc/passwd"), Place("/"))


def test_many_files_are_counted() -> None:
    locations = tuple(Location(f"{FOLDER}/{n}.txt") for n in range(5))
    call = ToolCall("a", kind="read", locations=locations)
    assert "0.txt, 1.txt, 2.txt and 2 more" in summary(call, PLACE)


# -- what is told about a call


def answered(answer: Answer) -> ToolCall:
    return ToolCall("a", title="Do it", kind="edit", status="completed", answer=answer)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(ALLOW, "you"), "“Allow” by you"),
        (
            Answer(DENY, "policy", "AGY_PERMISSIONS is deny"),
            "“Deny” without asking: AGY_PERMISSIONS is deny",
        ),
        (Answer(DENY, "nobody", "nobody can answer"), "“Deny” without asking: nobody can answer"),
        (Answer(None, "stop", "the turn was stopped"), "cancelled: the turn was stopped"),
        (Answer(None, "agent"), "cancelled"),
        (Answer(None, "nobody", "why"), "cancelled without asking: why"),
    ],
)
def test_an_answer_in_words(answer: Answer, words: str) -> None:
    assert describe(answer) == words
    assert words in shown(answered(answer))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (ToolCall("a", title="x", status="in_progress"), "◐ tool x · running"),
        (ToolCall("a", title="x", status="failed"), "✗ tool x · failed"),
        (ToolCall("a", title="x", status="paused"), "• tool x · paused"),
        (ToolCall("a", title="x", unfinished=True), "… tool x · unfinished at the end of the turn"),
        (
            ToolCall("a", title="x", kind="edit", superseded=True, status="failed"),
            "↷ edit x · superseded",
        ),
        (
            ToolCall("a", title="x", kind="edit", stands_for="b", status="completed"),
            "carries out the call approved above",
        ),
        (ToolCall("a", title="x", kind="edit", status="completed"), "ran without asking"),
        (ToolCall("a", kind="read"), "○ read a"),
        (ToolCall("a", title="x", kind="brew"), "○ brew x"),
    ],
)
def test_the_first_line_says_how_it_stands(call: ToolCall, says: str) -> None:
    assert says in shown(call)


# -- questions


def test_a_request_shows_the_command_and_the_folder_in_full() -> None:
    command = "find . -name '*.py' " + "-o -name x " * 30
    asked = ToolCallUpdate(
        "a", title="Run", kind="execute", raw_input={"command": command, "cwd": "/x"}
    )
    transcript = fold(Transcript(), Asked(Permission(asked, (ALLOW, DENY))))
    text = text_of(request(transcript.tool_calls[0], PLACE))
    assert f"$ {command}" in text
    assert "in /x" in text


def test_a_request_without_a_folder_names_the_notebook_s() -> None:
    call = ToolCall("a", kind="execute", title="ls")
    assert f"in {FOLDER}" in text_of(request(call, PLACE))


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        ("edit", {"file_path": f"{FOLDER}/a\u202egnp.py"}),
        ("execute", {"command": "ls a\u202egnp.py"}),
        ("other", {"name": "a\u202egnp.py"}),
    ],
)
def test_a_question_in_lines_names_what_cannot_be_seen_as_buttons_do(
    kind: str, raw: dict[str, str]
) -> None:
    call = ToolCall("c1", title="Do it", kind=kind, raw_input=raw)
    assert "a⟨U+202E⟩gnp.py" in text_of(request(call, PLACE))
    assert "a⟨U+202E⟩gnp.py" in as_text(call, PLACE)
    assert "agnp.py" not in as_text(call, PLACE)


def test_a_request_shows_arguments_unfolded() -> None:
    asked = ToolCallUpdate("a", title="t", raw_input={"arguments": {"text": "<secret>"}})
    transcript = fold(Transcript(), Asked(Permission(asked, (ALLOW, DENY))))
    markup = request(transcript.tool_calls[0], PLACE)
    assert "<details open>" in markup
    assert "text: <secret>" in text_of(markup)


def test_a_long_output_is_folded_and_a_very_long_one_is_cut() -> None:
    lines = ToolCall("a", raw_output="x\n" * 50, status="completed")
    assert "<details><summary" in card(lines, PLACE)
    endless = ToolCall("a", raw_output="y" * 1_000_000, status="completed")
    assert len(card(endless, PLACE)) < 30_000
    assert "980,000 characters are not shown here: %agy output a" in shown(endless)


# -- anything at all

NASTY = st.sampled_from(
    [
        "<img src=x onerror=a()>",
        "a\n\nb",
        "$x$ \\\\(",
        "```",
        "![x](http://e)",
        "\x1b[31m",
        '"',
        "é\ud800",
    ]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | NASTY,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["command", "cwd", "output", "exit_code", "arguments", "path"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
CONTENTS = st.one_of(
    st.builds(Content, type=NASTY | st.just("text"), text=NASTY, name=NASTY, uri=NASTY),
    st.builds(
        Content, type=st.just("image"), data=NASTY | st.just("iVBORw0KGgo="), mime_type=NASTY
    ),
    st.builds(Diff, path=NASTY, old=st.none() | NASTY, new=NASTY, deleted=st.booleans()),
    st.builds(Terminal, id=NASTY, output=NASTY),
)
UPDATES = st.builds(
    ToolCallUpdate,
    id=NASTY,
    title=st.none() | NASTY,
    kind=st.none() | NASTY | st.sampled_from(["edit", "execute", "read"]),
    status=st.none() | NASTY | st.sampled_from(["completed", "failed"]),
    content=st.none() | st.lists(CONTENTS, max_size=3).map(tuple),
    locations=st.none() | st.lists(st.builds(Location, path=NASTY), max_size=4).map(tuple),
    raw_input=ANYTHING,
    raw_output=ANYTHING,
)


@settings(max_examples=100, deadline=None)
@given(UPDATES, NASTY, st.booleans())
def test_whatever_an_agent_says_the_card_holds(
    update: ToolCallUpdate, name: str, is_question: bool
) -> None:
    option = Option("x", name, "" if is_question else "reject_once")
    one = Permission(update, (option,))
    transcript = fold(Transcript(), Asked(one))
    assert_holds(request(transcript.tool_calls[0], PLACE))
    transcript = fold(transcript, Answered(one, Answer(option, "policy", name)))
    assert_holds(card(transcript.tool_calls[0], PLACE))
    summary(transcript.tool_calls[0], PLACE).encode()
