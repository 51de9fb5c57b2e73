"""Stop, and the end of the process."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.simulator.conftest import Start
from tests.simulator.wire import MODULE, Wire, names

# -- stop
WAITING = (
    "Wait",
    "Create hello.py",
    "Ask me a question",
    'SIM: [{"chunks": [100000000, "abcd"]}]',
    'SIM: [{"request": ["fs/read_text_file", {"path": "/x"}]}]',
    'SIM: [{"together": [{"ask": {}}, {"ask": {}}, {"wait": null}]}]',
)


async def waiting(wire: Wire, session: str, prompt: str) -> int:
    """Begin a turn that does not end by itself, and wait until it is well under way."""
    wire.answering = False
    wire.frames.clear()
    turn = wire.begin(session, prompt)
    if prompt == "Wait":
        # Requests are served in order: when this one is refused, the turn runs.
        assert (await wire.response(wire.begin(session, "hello")))["error"]
    elif "chunks" in prompt:
        await wire.until(lambda f: f.get("method") == "session/update")
    else:
        await wire.until(lambda f: "method" in f and "id" in f)
    return turn


@pytest.mark.parametrize("prompt", WAITING)
async def test_cancel_ends_any_turn(wire: Wire, cwd: Path, prompt: str) -> None:
    session = await wire.open(cwd)
    turn = await waiting(wire, session, prompt)
    wire.notify("session/cancel", {"sessionId": session})
    assert (await wire.response(turn))["result"] == {"stopReason": "cancelled"}

    # The client answers what was open, as the protocol wants; that is too late, and no harm.
    for frame in [f for f in wire.frames if "method" in f and "id" in f]:
        wire.send(id=frame["id"], result={"outcome": {"outcome": "cancelled"}})
    assert await wire.prompt(session, "Say hello") == {"stopReason": "end_turn"}
    assert names(cwd) == []
    await wire.close()
    assert await wire.stderr() == b""


async def test_cancel_while_nothing_runs_does_nothing(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    wire.notify("session/cancel", {"sessionId": session})
    wire.notify("session/cancel", {"sessionId": "no such session"})
    assert await wire.prompt(session, "Say hello") == {"stopReason": "end_turn"}


async def test_cancel_request_and_close_end_a_turn_too(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    turn = await waiting(wire, session, "Wait")
    wire.notify("$/cancel_request", {"requestId": turn})
    assert (await wire.response(turn))["error"]["code"] == -32800

    turn = await waiting(wire, session, "Wait")
    closing = wire.ask("session/close", {"sessionId": session})
    assert (await wire.response(closing))["result"] == {}
    assert (await wire.response(turn))["result"] == {"stopReason": "cancelled"}


async def test_a_cancelled_turn_is_remembered(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    prompt = 'SIM: [{"text": "partial"}, {"wait": null}]'
    turn = wire.begin(session, prompt)
    await wire.until(lambda f: "partial" in json.dumps(f))
    wire.notify("session/cancel", {"sessionId": session})
    await wire.response(turn)
    wire.frames.clear()
    await wire.request("session/load", sessionId=session, cwd=str(cwd), mcpServers=[])
    assert [u["content"]["text"] for u in wire.updates()[:2]] == [prompt, "partial"]


async def test_cancel_ignored_outlasts_every_way_to_stop_it(start: Start, cwd: Path) -> None:
    wire = await start("--cancel", "ignored")
    session = await wire.open(cwd)
    turn = await waiting(wire, session, 'SIM: [{"ask": {}}, {"text": "still here"}]')
    wire.notify("session/cancel", {"sessionId": session})
    wire.notify("$/cancel_request", {"requestId": turn})
    assert await wire.request("session/close", sessionId=session) == {}
    assert (await wire.error("session/cancel", sessionId=session))["code"] == -32601
    (question,) = [f for f in wire.frames if f.get("method") == "session/request_permission"]
    wire.send(id=question["id"], result={"outcome": {"outcome": "cancelled"}})
    assert (await wire.response(turn))["result"] == {"stopReason": "end_turn"}
    assert wire.text == "answer: cancelled\nstill here"
    assert await wire.close() == 0


async def test_cancel_ignored_still_ends_with_its_client(start: Start, cwd: Path) -> None:
    wire = await start("--cancel", "ignored")
    session = await wire.open(cwd)
    await waiting(wire, session, "Wait")
    assert await wire.close() == 0


async def test_cancel_leaks_a_text(start: Start, cwd: Path) -> None:
    wire = await start("--cancel", "leaks")
    session = await wire.open(cwd)
    turn = await waiting(wire, session, "Wait")
    wire.notify("session/cancel", {"sessionId": session})
    assert (await wire.response(turn))["result"] == {"stopReason": "cancelled"}
    assert wire.chunks() == ["context canceledThe request was cancelled by the client."]


async def test_cancel_with_id_wants_an_id(start: Start, cwd: Path) -> None:
    wire = await start("--cancel", "with-id")
    session = await wire.open(cwd)
    turn = await waiting(wire, session, "Wait")
    wire.notify("session/cancel", {"sessionId": session})
    busy = await wire.response(wire.begin(session, "Say hello"))
    assert busy["error"]["message"] == "A foreground turn is already active"
    assert await wire.request("session/cancel", sessionId=session) == {}
    assert (await wire.response(turn))["result"] == {"stopReason": "cancelled"}


async def test_one_turn_at_a_time_in_a_session(wire: Wire, cwd: Path) -> None:
    session, other = await wire.open(cwd), await wire.open(cwd)
    turn = await waiting(wire, session, "Wait")
    for method, params in (
        ("session/prompt", {"prompt": [{"type": "text", "text": "Say hello"}]}),
        ("session/load", {"cwd": str(cwd), "mcpServers": []}),
    ):
        error = await wire.error(method, sessionId=session, **params)
        assert (error["code"], error["message"]) == (
            -32000,
            "A foreground turn is already active",
        )
    assert (await wire.response(wire.begin(other, "Say hello")))["result"]
    wire.notify("session/cancel", {"sessionId": session})
    assert (await wire.response(turn))["result"] == {"stopReason": "cancelled"}


# -- ends
@pytest.mark.parametrize("prompt", ["Wait", "Create hello.py"])
async def test_the_end_of_stdin_ends_it_in_a_turn_too(wire: Wire, cwd: Path, prompt: str) -> None:
    session = await wire.open(cwd)
    await waiting(wire, session, prompt)
    assert await wire.close() == 0
    assert await wire.stderr() == b""


async def test_a_client_that_stops_reading_ends_it(tmp_path: Path, cwd: Path) -> None:
    reading, writing = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", MODULE, "--state", str(tmp_path)),
        stdin=asyncio.subprocess.PIPE,
        stdout=writing,
    )
    os.close(writing)
    os.close(reading)
    assert process.stdin is not None
    process.stdin.write(b'{"jsonrpc":"2.0","id":0,"method":"logout","params":{}}\n')
    assert await process.wait() == 0
    process.stdin.close()


async def test_term_ends_it(wire: Wire, cwd: Path) -> None:
    await wire.open(cwd)
    wire.process.terminate()
    assert await wire.process.wait() == -signal.SIGTERM


async def test_ignore_eof_outlives_term_and_the_end_of_stdin(start: Start, cwd: Path) -> None:
    wire = await start("--ignore-eof")
    await wire.open(cwd)
    wire.process.terminate()
    await wire.open(cwd)
    assert wire.process.stdin is not None
    wire.process.stdin.close()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await wire.process.wait()
    wire.process.kill()
    assert await wire.process.wait() == -signal.SIGKILL


async def test_stdin_may_be_a_file(tmp_path: Path) -> None:
    requests = tmp_path / "requests.jsonl"
    requests.write_text('{"jsonrpc":"2.0","id":0,"method":"logout","params":{}}\n')
    with requests.open() as file:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", MODULE), stdin=file, stdout=asyncio.subprocess.PIPE
        )
        stdout, _ = await process.communicate()
    assert json.loads(stdout) == {"jsonrpc": "2.0", "id": 0, "result": {}}
