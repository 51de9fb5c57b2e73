"""Tool calls, permission and questions, as RC01 shows them."""

import re
from pathlib import Path

import pytest

from tests.simulator.wire import Wire, names


async def test_a_file_is_written_once_allowed_under_another_id(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.prompt(session, "Create hello.py that greets")

    (asked,) = wire.asked()
    call = asked["toolCall"]
    assert re.fullmatch(r"[0-9a-f]{32}", call["toolCallId"])
    assert (call["title"], call["kind"], call["status"]) == ("Run create_file?", "edit", "pending")
    source = (cwd / "hello.py").read_text()
    assert call["content"] == [
        {
            "type": "diff",
            "path": str(cwd / "hello.py"),
            "newText": source,
            "_meta": {"kind": "add"},
        }
    ]
    assert call["locations"] == [{"path": str(cwd / "hello.py")}]
    assert asked["options"] == [
        {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
        {"optionId": "deny", "name": "Deny", "kind": "reject_once"},
    ]
    steps = [
        (u["toolCallId"], u["status"], u.get("rawOutput"))
        for u in wire.updates("tool_call", "tool_call_update")
    ]
    assert steps == [
        (call["toolCallId"], "pending", None),
        (call["toolCallId"], "failed", "Tool call was approved but never executed."),
        (f"{session}:7", "in_progress", None),
        (f"{session}:7", "completed", "Edit hello.py"),
        ("call_859008", "in_progress", None),
        ("call_859008", "completed", "Read hello.py"),
    ]
    assert 'return "Hello, world!"' in source


async def test_an_edit_has_the_old_text_too(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.prompt(session, "Create hello.py that greets")
    before = (cwd / "hello.py").read_text()
    await wire.prompt(session, "Edit hello.py so that it greets by name")
    (diff,) = wire.asked()[0]["toolCall"]["content"]
    assert (diff["oldText"], diff["newText"]) == (before, (cwd / "hello.py").read_text())
    assert "def greet(name: str)" in diff["newText"]
    assert "_meta" not in diff
    await wire.prompt(session, "Run python hello.py")
    (done,) = [u for u in wire.updates() if u.get("status") == "completed"]
    assert done["content"] == [
        {"type": "content", "content": {"type": "text", "text": "Hello, Ada!"}}
    ]
    assert done["rawOutput"] == "Run python hello.py"
    assert "**simulated**" in wire.text


@pytest.mark.parametrize("answer", ["deny", None, "no such option"])
async def test_a_file_is_left_alone_unless_allowed(
    wire: Wire, cwd: Path, answer: str | None
) -> None:
    session = await wire.open(cwd)
    wire.answer = answer
    assert await wire.prompt(session, "Create hello.py") == {"stopReason": "end_turn"}
    assert names(cwd) == []
    (update,) = wire.updates("tool_call_update")
    assert (update["status"], update["rawOutput"]) == ("failed", "Tool call was denied.")
    assert "was not created" in wire.text


@pytest.mark.parametrize(("mode", "asked"), [("default", 3), ("auto_edit", 2), ("yolo", 1)])
async def test_modes_decide_what_is_asked(wire: Wire, cwd: Path, mode: str, asked: int) -> None:
    session = await wire.open(cwd)
    await wire.request("session/set_mode", sessionId=session, modeId=mode)
    questions = 0
    for prompt in ("Create hello.py", "Run ls", "mcp hello"):
        await wire.prompt(session, prompt)
        questions += len(wire.asked())
    assert questions == asked
    assert (cwd / "hello.py").exists()


@pytest.mark.parametrize(
    "name", ["../evil.py", "{outside}/evil.py", "link/evil.py", "~/../../evil.py"]
)
async def test_nothing_is_written_outside_the_folder(
    wire: Wire, cwd: Path, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (cwd / "link").symlink_to(outside)
    name = name.format(outside=outside)
    session = await wire.open(cwd)
    await wire.prompt(session, f"Create {name}")
    assert wire.asked() == []
    assert "outside the notebook's folder" in wire.text
    assert names(outside) == []
    error = await wire.script(session, {"write": name, "text": "x"})
    assert error["code"] == -32602


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("notes.md", b"one\r\ntwo", b"one\r\ntwo\n\nEdited by"),
        ("analysis.py", b"x = 1\n", b"x = 1\n\n# Edited by"),
        ("data.json", b"{}", b"{}"),
        ("binary.py", b"\xff\xfe", b"\xff\xfe"),
    ],
)
async def test_edits_of_other_files_add_a_line_or_nothing(
    wire: Wire, cwd: Path, name: str, before: bytes, after: bytes
) -> None:
    (cwd / name).write_bytes(before)
    session = await wire.open(cwd)
    assert await wire.prompt(session, f"Edit {name}") == {"stopReason": "end_turn"}
    assert (cwd / name).read_bytes().startswith(after)
    assert len((cwd / name).read_bytes()) == len(before) or wire.asked()


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("echo 'a b' c", "a b c"),
        ("pwd", "{cwd}"),
        ("ls", "a.txt"),
        ("touch gone.txt; echo x > gone.txt", "(simulated) "),
        ("python evil.py", "(simulated) "),
        ("echo 'unbalanced", "'unbalanced"),
    ],
)
async def test_no_command_is_ever_run(wire: Wire, cwd: Path, command: str, output: str) -> None:
    (cwd / "a.txt").touch()
    (cwd / "evil.py").write_text("open('gone.txt', 'w')\n")
    if command == "ls":
        (cwd / "evil.py").unlink()
    session = await wire.open(cwd)
    await wire.prompt(session, f"Run {command}")
    (asked,) = wire.asked()
    assert asked["toolCall"]["title"] == "Run run_command?"
    assert asked["toolCall"]["rawInput"] == {"CommandLine": command, "Cwd": str(cwd)}
    (done,) = [u for u in wire.updates() if u.get("status") == "completed"]
    printed = done["content"][0]["content"]["text"]
    assert printed.startswith(output.format(cwd=cwd))
    assert not (cwd / "gone.txt").exists()


async def test_mcp_calls_look_as_on_rc01(wire: Wire, cwd: Path) -> None:
    await wire.request("initialize", protocolVersion=1)
    server = {"name": "bridge", "type": "http", "url": "http://127.0.0.1:9/", "headers": []}
    opened = await wire.request("session/new", cwd=str(cwd), mcpServers=[server])
    await wire.prompt(opened["sessionId"], "mcp hello there")
    call = wire.asked()[0]["toolCall"]
    assert re.fullmatch(r"call_\d{6}", call["toolCallId"])
    assert call["title"] == "bridge_echo"
    assert call["rawInput"] == {"arguments": {"text": "hello there"}}
    assert call["_meta"]["mcp"]["tool"] == "echo"
    (done,) = [u for u in wire.updates() if u.get("status") == "completed"]
    assert (done["rawOutput"], "content" in done) == ("Call echo", False)


@pytest.mark.parametrize(("answer", "said"), [("2", "**A long answer**"), (None, "No answer")])
async def test_questions_come_in_permission_form(
    wire: Wire, cwd: Path, answer: str | None, said: str
) -> None:
    session = await wire.open(cwd)
    wire.answer = answer
    await wire.prompt(session, "Ask me a question")
    (asked,) = wire.asked()
    assert re.fullmatch(r"interaction_[0-9a-f]{32}", asked["toolCall"]["toolCallId"])
    assert asked["toolCall"]["title"].endswith("?")
    assert {option["kind"] for option in asked["options"]} == {"allow_once"}
    assert [option["optionId"] for option in asked["options"]] == ["1", "2", "3"]
    assert said in wire.text


async def test_plan_is_intercepted_and_written_apart(wire: Wire, cwd: Path, tmp_path: Path) -> None:
    session = await wire.open(cwd)
    await wire.prompt(session, "/plan Organize a birthday party")
    assert wire.asked() == []
    kinds = [u["sessionUpdate"] for u in wire.updates()]
    assert list(dict.fromkeys(kinds)) == [
        "agent_message_chunk",  # the introduction
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
    ]
    assert kinds[-1] == "agent_message_chunk"
    create, edit = wire.updates("tool_call")
    assert create["title"] == "Create implementation_plan.md"
    assert "Organize a birthday party" in create["content"][0]["newText"]
    assert edit["toolCallId"] == f"{session}:7"
    plan = tmp_path / "state" / "brain" / session / "implementation_plan.md"
    assert edit["locations"] == [{"path": str(plan)}]
    assert plan.read_text() == edit["content"][0]["newText"]
    assert names(cwd) == []
    assert "Please decide" in wire.text
