"""A tape played to a client: what is matched, in which order, and where a client departs."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.acp.jsonrpc import Peer
from agy_kernel.acp.privacy import Privacy
from agy_kernel.errors import RequestFailed
from agy_kernel.tapes.reading import TapeError, of_run, read
from agy_kernel.tapes.replay import Replay, Speed
from tests.support.tapes import (
    answered,
    chunk,
    opening,
    prompt,
    replied,
    said,
    sent,
    write,
)

ALLOW = {"outcome": {"outcome": "selected", "optionId": "allow"}}
DENY = {"outcome": {"outcome": "selected", "optionId": "deny"}}
CANCELLED = {"outcome": {"outcome": "cancelled"}}
END = {"stopReason": "end_turn"}


class Pipe:
    """One direction between two peers."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader()

    def write(self, data: bytes, /) -> None:
        self.reader.feed_data(data)

    async def wait_closed(self) -> None:
        await asyncio.Event().wait()


class Client:
    """A client of a replay; ``heard`` is all that came, in order."""

    def __init__(self, pipes: tuple[Pipe, Pipe], answers: list[Any]) -> None:
        into, out = pipes
        self.heard: list[Any] = []
        self.sessions: set[str] = set()
        self.said: list[str] = []
        self.departures = 0
        self.answer: Callable[[], Awaitable[Any]] = self._next_answer
        self._answers = answers
        self.peer = Peer(
            out.reader, into, on_notification=self._notified, on_request=self._requested
        )

    def _notified(self, method: str, params: Any) -> None:
        self.sessions.add(params["sessionId"])
        update = params.get("update", {})
        self.heard.append(update.get("content", {}).get("text", method))

    def _requested(self, method: str, params: Any) -> Awaitable[Any]:
        self.heard.append(method)
        return self.answer()

    async def _next_answer(self) -> Any:
        return self._answers.pop(0)

    async def open(self, cwd: str = "/here") -> Any:
        await self.peer.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        return await self.peer.request("session/new", {"cwd": cwd, "mcpServers": []})

    def begin(self, text: str, session: str = "s1") -> asyncio.Future[Any]:
        params = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
        return self.peer.call("session/prompt", params, lambda _: self.heard.append("end"))[1]

    async def prompt(self, text: str, session: str = "s1") -> Any:
        return await self.begin(text, session)

    async def fails(self, text: str) -> RequestFailed:
        with pytest.raises(RequestFailed) as failed:
            await self.prompt(text)
        assert failed.value.code == -32603
        return failed.value


@asynccontextmanager
async def playing(
    path: Path, *answers: Any, speed: Speed = "at-once", run: int = 1
) -> AsyncIterator[Client]:
    """A client that is connected to a replay, which ends when the client has gone."""
    into, out = Pipe(), Pipe()
    client = Client((into, out), list(answers))
    replay = Replay(
        of_run(read(path, client.said.append), run),
        speed,
        into.reader,
        out,
        Privacy({"MY_TOKEN": "hunter2hunter2"}, "/home/mary", "mary"),
        client.said.append,
    )
    serving = asyncio.create_task(replay.serve())
    async with asyncio.timeout(60), client.peer:
        yield client
        into.reader.feed_eof()
        assert await serving is None
        client.departures = replay.departures


async def test_what_was_said_is_said_in_its_order_around_the_answer(tmp_path: Path) -> None:
    late = [chunk("before "), answered(3, END), chunk("after")]
    path = write(tmp_path / "t", [*opening(), prompt(3, "hello"), *late, prompt(4, "again")])
    async with playing(path) as client:
        assert await client.open() == {"sessionId": "s1"}
        assert await client.prompt("hello") == END
        failed = await client.fails("again")  # which the tape has no answer to
        assert client.heard == ["before ", "end", "after"]
        assert "the tape ends at line 10, without an answer" in str(failed)
    assert client.departures == 0


async def test_ids_are_mapped_both_ways(tmp_path: Path) -> None:
    lines = [
        *opening(),
        prompt("abc", "run it"),
        said("session/request_permission", "perm-77", sessionId="s1", options=[]),
        replied("perm-77", ALLOW),
        answered("abc", END),
    ]
    async with playing(write(tmp_path / "t", lines), ALLOW) as client:
        await client.open()
        assert await client.prompt("run it") == END
    assert client.heard == ["session/request_permission", "end"]
    assert (client.departures, client.said) == (0, [])


async def test_the_same_is_the_same_at_another_time_in_another_folder(tmp_path: Path) -> None:
    taped = (
        "At 12:30:01 in /home/mary/nb/a.ipynb, session 0b9c5e0e-7f0f-4c55-9a53-6a3c5f1f2d11: "
        "took 0.2 s, <home>/x/y"
    )
    now = (
        "At 09:00 in /srv/other/b.ipynb, session 11111111-7f0f-4c55-9a53-6a3c5f1f2d11: "
        "took 13 s, /home/mary/x/y"
    )
    lines = [*opening(), prompt(3, taped), chunk("in /taped/folder/a"), answered(3, END)]
    async with playing(write(tmp_path / "t", lines)) as client:
        await client.open("/here")
        assert await client.prompt(now) == END
    assert client.heard == ["in /here/a", "end"]


async def test_what_the_tape_masks_is_masked_before_it_is_compared(tmp_path: Path) -> None:
    lines = [*opening(), prompt(3, "it is [secret masked]"), answered(3, END)]
    async with playing(write(tmp_path / "t", lines)) as client:
        await client.open()
        assert await client.prompt("it is hunter2hunter2") == END


async def test_a_loaded_session_has_the_name_that_the_client_gives_it(tmp_path: Path) -> None:
    lines = [
        *opening()[:2],
        sent("session/load", 2, sessionId="taped", cwd="/x", mcpServers=[]),
        chunk("earlier", "taped"),
        answered(2, {}),
    ]
    async with playing(write(tmp_path / "t", lines)) as client:
        await client.peer.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        params = {"sessionId": "ours", "cwd": "/y", "mcpServers": []}
        await client.peer.request("session/load", params)
    assert (client.heard, client.sessions) == (["earlier"], {"ours"})


async def test_another_prompt_is_told_where_it_departs_and_the_right_one_still_plays(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "t", [*opening(), prompt(3, "hello"), chunk("hi"), answered(3, END)])
    async with playing(path) as client:
        await client.open()
        failed = await client.fails("hello there")
        words = (
            "the client departs from the tape at line 6 with session/prompt: "
            'params.prompt[0].text is "hello there", not "hello"'
        )
        assert failed.message == words
        assert failed.data == {
            "line": 6,
            "expected": "session/prompt",
            "got": "session/prompt",
            "difference": 'params.prompt[0].text is "hello there", not "hello"',
        }
        assert client.said == [f"replay: {words}"]
        assert await client.prompt("hello") == END
    assert client.departures == 1


async def test_another_method_is_told_what_the_tape_has(tmp_path: Path) -> None:
    path = write(tmp_path / "t", [*opening(), prompt(3, "hello"), answered(3, END)])
    async with playing(path) as client:
        await client.open()
        with pytest.raises(RequestFailed) as failed:
            await client.peer.request("session/list", {"cwd": "/"})
        assert failed.value.message == (
            "at line 6 the tape has session/prompt, and the client sent session/list"
        )
        client.peer.notify("session/cancel", {"sessionId": "s1"})
        assert await client.prompt("hello") == END
        with pytest.raises(RequestFailed, match="the tape ends at line 7, and the client sent"):
            await client.prompt("more")
    assert client.departures == 3
    assert "the client sent the notification session/cancel" in client.said[1]


async def test_another_reply_ends_the_turn_and_the_next_one_plays(tmp_path: Path) -> None:
    lines = [
        *opening(),
        prompt(3, "run it"),
        said("session/request_permission", 1, sessionId="s1", options=[]),
        replied(1, ALLOW),
        chunk("it ran"),
        answered(3, END),
        prompt(4, "next"),
        chunk("the next"),
        answered(4, END),
    ]
    async with playing(write(tmp_path / "t", lines), DENY) as client:
        await client.open()
        failed = await client.fails("run it")
        assert failed.message == (
            "the client departs from the tape at line 8 with the answer to "
            'session/request_permission: result.outcome.optionId is "deny", not "allow"'
        )
        assert await client.prompt("next") == END
    assert client.heard == ["session/request_permission", "the next", "end"]
    assert client.departures == 1


async def test_a_reply_where_the_tape_has_a_stop_departs(tmp_path: Path) -> None:
    lines = [
        *opening(),
        prompt(3, "run it"),
        said("session/request_permission", 1, sessionId="s1", options=[]),
        sent("session/cancel", sessionId="s1"),
        chunk("stopping"),
        replied(1, CANCELLED),
        answered(3, {"stopReason": "cancelled"}),
    ]
    async with playing(write(tmp_path / "t", lines), ALLOW) as client:
        await client.open()
        failed = await client.fails("run it")
        assert "at line 10 with the answer to session/request_permission" in failed.message


@pytest.mark.parametrize(
    ("taped", "sent_now"),
    [
        ("http://127.0.0.1:40609/mcp", "http://127.0.0.1:9/mcp"),
        ("http://localhost:8888", "http://localhost:8889"),
        ("http://[::1]:8888/mcp", "http://[::1]:52000/mcp"),
    ],
)
async def test_a_server_on_this_machine_may_have_another_port(
    tmp_path: Path, taped: str, sent_now: str
) -> None:
    lines = [*opening(), prompt(3, f"call {taped}"), answered(3, END)]
    async with playing(write(tmp_path / "t", lines)) as client:
        await client.open()
        assert await client.prompt(f"call {sent_now}") == END
    assert client.departures == 0


@pytest.mark.parametrize(
    ("taped", "sent_now"),
    [
        ("http://127.0.0.1:40609/mcp", "http://127.0.0.1:40609/sse"),
        ("http://127.0.0.1:40609/mcp", "http://localhost:40609/mcp"),
        ("http://10.0.0.1:40609/mcp", "http://10.0.0.1:40610/mcp"),
    ],
)
async def test_any_other_address_is_another_one(tmp_path: Path, taped: str, sent_now: str) -> None:
    lines = [*opening(), prompt(3, f"call {taped}"), answered(3, END)]
    async with playing(write(tmp_path / "t", lines)) as client:
        await client.open()
        await client.fails(f"call {sent_now}")
    assert client.departures == 1


@pytest.mark.parametrize("reply_first", [True, False])
async def test_what_was_sent_back_to_back_may_come_in_any_order(
    tmp_path: Path, reply_first: bool
) -> None:
    both = [sent("session/cancel", sessionId="s1"), replied(1, CANCELLED)]
    lines = [
        *opening(),
        prompt(3, "run it"),
        said("session/request_permission", 1, sessionId="s1", options=[]),
        *(both[::-1] if reply_first else both),
        answered(3, {"stopReason": "cancelled"}),
    ]
    async with playing(write(tmp_path / "t", lines)) as client:

        async def stop() -> Any:
            client.peer.notify("session/cancel", {"sessionId": "s1"})
            return CANCELLED

        client.answer = stop
        await client.open()
        assert await client.prompt("run it") == {"stopReason": "cancelled"}
    assert client.departures == 0


async def test_a_turn_that_was_stopped_waits_for_the_stop(tmp_path: Path) -> None:
    lines = [
        *opening(),
        prompt(3, "wait"),
        chunk("waiting"),
        sent("session/cancel", sessionId="s1"),
        sent("$/cancel_request", requestId=3),  # which anybody may leave out, or send
        answered(3, {"stopReason": "cancelled"}),
    ]
    async with playing(write(tmp_path / "t", lines)) as client:
        await client.open()
        running = client.begin("wait")
        client.peer.notify("$/cancel_request", {"requestId": 3})
        client.peer.notify("session/cancel", {"sessionId": "s1"})
        assert await running == {"stopReason": "cancelled"}
    assert (client.heard, client.departures) == (["waiting", "end"], 0)


async def test_errors_are_played_with_code_words_and_data(tmp_path: Path) -> None:
    error = {"code": -32000, "message": "Authentication required", "data": {"why": "x"}}
    lines = [*opening()[:3], answered(2, error=error)]
    async with playing(write(tmp_path / "t", lines)) as client:
        with pytest.raises(RequestFailed) as failed:
            await client.open()
    told = failed.value
    assert (told.code, told.message, told.data) == (error["code"], error["message"], {"why": "x"})


async def test_real_speed_keeps_the_pauses_of_the_agent(tmp_path: Path) -> None:
    late = [chunk("a") | {"t": 1.2}, chunk("b") | {"t": 1.5}, answered(3, END) | {"t": 1.5}]
    path = write(tmp_path / "t", [*opening(), prompt(3, "go") | {"t": 1.0}, *late])
    async with playing(path, speed="real") as client:
        await client.open()
        begin = time.monotonic()
        await client.prompt("go")
        assert time.monotonic() - begin >= 0.5


async def test_one_run_of_several_is_played(tmp_path: Path) -> None:
    first, second = ([*opening(), prompt(3, t), answered(3, END)] for t in ("one", "two"))
    path = write(tmp_path / "t", first)
    path.write_text(path.read_text() + write(tmp_path / "t2", second).read_text())
    async with playing(path, run=2) as client:
        await client.open()
        assert await client.prompt("two") == END
    with pytest.raises(TapeError, match="holds 2 runs of an agent, and no number 3"):
        list(of_run(read(path, lambda _: None), 3))


async def test_a_tape_that_begins_in_the_middle_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "t", [prompt(3, "hello"), answered(3, END)])
    async with playing(path) as client:
        with pytest.raises(RequestFailed, match="the tape has session/prompt, and the client sent"):
            await client.open()


async def test_a_tape_that_was_edited_ends_the_replay_at_that_line(tmp_path: Path) -> None:
    path = write(tmp_path / "t", [*opening(), prompt(3, "hello"), answered(3, END)])
    text = path.read_text()
    path.write_text(text.replace('{"sessionId": "s1"}}}', '{"sessionId": "s1"'))
    into, out = Pipe(), Pipe()
    client = Client((into, out), [])
    lines = of_run(read(path, client.said.append), 1)
    replay = Replay(lines, "at-once", into.reader, out, Privacy({}, "", ""), client.said.append)
    serving = asyncio.create_task(replay.serve())
    async with client.peer:
        client.peer.call("initialize", {"protocolVersion": 1})
        client.peer.call("session/new", {"cwd": "/", "mcpServers": []})
        with pytest.raises(TapeError, match=r"line 5: no line of a tape: it is no JSON"):
            await serving


async def test_a_long_tape_takes_the_memory_of_a_piece(tmp_path: Path) -> None:
    path, count = tmp_path / "t", 12_000
    line = json.dumps({"t": 1.0, **chunk("x" * 4_000)}).encode() + b"\n"
    write(path, [*opening(), prompt(3, "go")])
    with path.open("ab") as file:
        file.writelines(line for _ in range(count))
        file.write(json.dumps({"t": 1.0, **answered(3, END)}).encode() + b"\n")
    code = (
        # Not ru_maxrss, which a process inherits from the one that started it.
        "import re, sys; from pathlib import Path; from agy_kernel.cli import main; "
        "status = main(sys.argv[1:]); "
        "status_file = Path('/proc/self/status').read_text(); "
        "print(re.search(r'VmHWM:\\s+(\\d+)', status_file)[1], file=sys.stderr)"
    )
    pipe = asyncio.subprocess.PIPE
    argv = (sys.executable, "-c", code, "replay", str(path))
    replay = await asyncio.create_subprocess_exec(*argv, stdin=pipe, stdout=pipe, stderr=pipe)
    assert replay.stdin is not None
    lines = [line["msg"] for line in [*opening(), prompt(3, "go")] if line["dir"] == "c2a"]
    replay.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert replay.stdout is not None
    heard = [await replay.stdout.readline() for _ in range(count + len(lines))]
    assert json.loads(heard[-1]) == {"jsonrpc": "2.0", "id": 3, "result": END}
    _, err = await replay.communicate(b"")
    assert (replay.returncode, int(err) < 150_000) == (0, True)  # KB; the tape alone has 50 MB


def note(**what: Any) -> dict[str, Any]:
    """A line that did not pass on the wire."""
    return {"dir": "note", "msg": what}


@pytest.mark.parametrize("status", [3, 0])
def test_an_agent_that_has_ended_ends_in_a_replay_too(tmp_path: Path, status: int) -> None:
    lines = [*opening(), prompt(3, "go"), chunk("half"), note(exit=status), note(exit=9)]
    path = write(tmp_path / "t", lines)
    asked = [line["msg"] for line in lines if "method" in line["msg"] and "id" in line["msg"]]
    command = [sys.executable, "-m", "agy_kernel.cli", "replay", str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as replay:
        assert replay.stdin is not None
        replay.stdin.write("".join(f"{json.dumps(frame)}\n" for frame in asked).encode())
        replay.stdin.flush()
        assert replay.wait(60) == status
        out, err = replay.communicate()
    assert b'"half"' in out
    assert not err


async def test_an_agent_that_was_closed_owes_no_answer(tmp_path: Path) -> None:
    path = write(tmp_path / "t", [*opening(), prompt(3, "go"), chunk("half"), note(closed=True)])
    async with playing(path) as client:
        await client.open()
        _, answer = client.peer.call("session/prompt", prompt(3, "go")["msg"]["params"])
        late = await client.fails("more")
        assert "the tape ends at line 8, and the client sent session/prompt" in str(late)
        assert client.heard == ["half"]
        assert not answer.done()
        answer.cancel()
    assert client.departures == 1


async def test_notes_of_other_kinds_are_passed_over(tmp_path: Path) -> None:
    lines = [note(memory=3), *opening(), note(file="there"), prompt(3, "go"), answered(3, END)]
    async with playing(write(tmp_path / "t", lines)) as client:
        await client.open()
        assert await client.prompt("go") == END
    assert client.departures == 0
