"""The script form of a prompt."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from tests.simulator.wire import Wire


async def test_the_script_may_follow_other_text_and_span_lines(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.prompt(session, 'Hello, and then\nSIM: [\n  {"text": "scripted"}\n]\nthe rest')
    assert wire.text == "scripted"


@pytest.mark.parametrize(
    "bad", ["", "nonsense", "{}", "[1]", "[{}]", '[{"dance": 1}]', '[{"late": [{"dance": 1}]}]']
)
async def test_a_bad_script_is_refused(wire: Wire, cwd: Path, bad: str) -> None:
    session = await wire.open(cwd)
    error = await wire.prompt(session, f"SIM: {bad}")
    assert error["code"] == -32602
    assert error["data"]["errors"][0]["loc"] == ["prompt"]


async def test_texts_thoughts_and_chunks(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.script(session, {"text": "Hello, "}, {"thought": "hm"}, {"chunks": [3, "ab"]})
    assert (wire.text, wire.chunks("agent_thought_chunk")) == ("Hello, ababab", ["hm"])


async def test_ten_thousand_chunks_all_arrive(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.script(session, {"chunks": [10_000, "abcd"]})
    assert wire.chunks() == ["abcd"] * 10_000


async def test_waiting_for_a_file_ends_with_it(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    steps = [{"text": "a"}, {"wait": "go"}, {"text": "b"}]
    prompt = wire.begin(session, f"SIM: {json.dumps(steps)}")
    await wire.until(lambda _: wire.text == "a")
    (cwd / "go").touch()
    await wire.response(prompt)
    assert wire.text == "ab"


async def test_tool_calls_and_updates_as_given(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    plan = {"sessionUpdate": "plan", "entries": []}
    await wire.script(
        session,
        {"tool": {"toolCallId": "a", "title": "Look", "kind": "read"}},
        {"tool": {"toolCallId": "a", "status": "completed"}},
        {"update": plan},
    )
    first, second, third = wire.updates()
    assert (first["sessionUpdate"], first["kind"]) == ("tool_call", "read")
    assert (second["sessionUpdate"], second["status"]) == ("tool_call_update", "completed")
    assert third == plan


async def test_asking_tells_the_answer(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    options = [{"optionId": "yes", "name": "Yes!", "kind": "allow_always"}]
    call = {"toolCallId": "t", "title": "Really?"}
    wire.answer = "yes"
    await wire.script(session, {"ask": {"toolCall": call, "options": options}})
    assert wire.asked()[0]["toolCall"] == call
    assert wire.text == "answer: yes\n"
    wire.answer = None
    await wire.script(session, {"ask": {}})
    assert wire.text == "answer: cancelled\n"


async def test_several_questions_can_be_open_at_once(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    wire.answering = False
    turn = wire.begin(session, 'SIM: [{"together": [{"ask": {}}, {"ask": {}}]}]')
    await wire.until(lambda _: len(wire.asked()) == 2)
    second, first = [f for f in reversed(wire.frames) if "method" in f and "id" in f][:2]
    for frame, option in ((second, "deny"), (first, "allow")):
        outcome = {"outcome": "selected", "optionId": option}
        wire.send(id=frame["id"], result={"outcome": outcome})
    await wire.response(turn)
    assert wire.text == "answer: deny\nanswer: allow\n"


async def test_writing_a_file_by_script(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.script(session, {"write": "sub/a.txt", "text": "ä\n"})
    assert (cwd / "sub" / "a.txt").read_text(encoding="utf-8") == "ä\n"
    assert len(wire.asked()) == 1


async def test_requests_of_any_method_tell_their_outcome(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    wire.answering = False
    prompt = 'SIM: [{"request": ["fs/read_text_file", {"path": "/x"}]}]'
    for answer, said in (
        ({"error": {"code": -32601, "message": "Method not found"}}, "error: -32601\n"),
        ({"result": {"content": "x"}}, 'result: {"content": "x"}\n'),
    ):
        wire.frames.clear()
        turn = wire.begin(session, prompt)
        frame = await wire.until(lambda f: f.get("method") == "fs/read_text_file")
        assert frame["params"] == {"sessionId": session, "path": "/x"}
        wire.send(id=frame["id"], **answer)
        await wire.response(turn)
        assert wire.text == said


async def test_raw_lines_and_stderr(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.script(session, {"raw": "not json"}, {"stderr": "a word"}, {"text": "on"})
    assert (wire.junk, wire.text) == ([b"not json\n"], "on")
    await wire.close()
    assert await wire.stderr() == b"a word\n"


async def test_exit(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    wire.begin(session, 'SIM: [{"exit": 7}]')
    assert await wire.process.wait() == 7


async def test_a_grandchild_has_a_session_of_its_own(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.script(session, {"spawn_grandchild": True})
    pid = int(wire.text.removeprefix("grandchild: "))
    try:
        assert os.getsid(pid) == pid != os.getsid(wire.process.pid)
        assert await wire.close() == 0
        os.kill(pid, 0)  # it is still there
    finally:
        os.kill(pid, signal.SIGKILL)


async def test_stop_reasons_and_failures(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    assert await wire.script(session, {"stop": "max_tokens"}) == {"stopReason": "max_tokens"}
    error = {"code": -32603, "message": "x", "data": {"a": 1}}
    assert await wire.script(session, {"text": "a"}, {"fail": error}) == error
    assert await wire.prompt(session, "Say hello") == {"stopReason": "end_turn"}


async def test_late_steps_come_after_the_response(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.script(session, {"late": [{"text": "late"}]}, {"text": "early"})
    await wire.until(lambda f: "late" in json.dumps(f))
    kinds = ["text" if "method" in frame else "response" for frame in wire.frames]
    assert kinds == ["text", "response", "text"]
    assert wire.chunks() == ["early", "late"]


async def test_echo_sends_the_blocks_back(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    blocks = [
        {"type": "resource", "resource": {"uri": "file:///a", "text": "x"}},
        {"type": "text", "text": 'SIM: [{"echo": true}]'},
    ]
    await wire.request("session/prompt", sessionId=session, prompt=blocks)
    assert json.loads(wire.text) == blocks


async def test_waiting_for_a_time(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    loop = asyncio.get_running_loop()
    began = loop.time()
    assert await wire.script(session, {"wait": 0.2}) == {"stopReason": "end_turn"}
    assert loop.time() - began >= 0.2
