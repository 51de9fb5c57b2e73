"""One end of the connection, against raw bytes: what is heard, in what order, and answered."""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import pytest

from agy_kernel.acp.jsonrpc import Peer
from agy_kernel.acp.serving import MethodNotFound
from agy_kernel.acp.tape import Tape
from agy_kernel.errors import AgentError, RequestFailed
from tests.support.leaks import nothing_is_left  # noqa: F401

Frame = dict[str, Any]


class Wire:
    """A peer, and the other side's end of its connection in the test's hands."""

    peer: Peer

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.heard: list[tuple[str, Any]] = []
        self.skipped: list[int] = []
        self.serve: Callable[[str, Any], Awaitable[Any]] = self._not_served
        self.on_notification: Callable[[str], None] = lambda _: None
        self._news = asyncio.Event()

    def write(self, *frames: Frame | bytes) -> None:
        """Write frames and raw bytes, all at once."""
        self.writer.write(b"".join(f if isinstance(f, bytes) else encode(f) for f in frames))

    async def read(self) -> Frame:
        """The next frame that the peer sends."""
        frame: Frame = json.loads(await self.reader.readline())
        return frame

    async def heard_until(self, method: str) -> list[str]:
        """The methods of all notifications until one of this method."""
        while method not in [name for name, _ in self.heard]:
            await self._news.wait()
            self._news.clear()
        return [name for name, _ in self.heard]

    def take(self, method: str, params: Any) -> None:
        self.heard.append((method, params))
        self._news.set()
        self.on_notification(method)

    async def answer(self, method: str, params: Any) -> Any:
        return await self.serve(method, params)

    async def _not_served(self, method: str, params: Any) -> Any:
        raise MethodNotFound(method)


def encode(frame: Frame) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n"


def note(method: str, **params: Any) -> Frame:
    return {"method": method, "params": params}


def ask(request_id: Any, method: str = "please") -> Frame:
    return {"id": request_id, "method": method, "params": {}}


@asynccontextmanager
async def connected(max_frame: int | None = None, **seams: Any) -> AsyncIterator[Wire]:
    ours, theirs = socket.socketpair()
    async with AsyncExitStack() as stack:
        reader, writer = await asyncio.open_connection(sock=ours)
        their_reader, their_writer = await asyncio.open_connection(sock=theirs, limit=1 << 24)
        for each in (writer, their_writer):
            stack.push_async_callback(_close, each)
        wire = Wire(their_reader, their_writer)
        wire.peer = Peer(
            reader,
            writer,
            on_notification=wire.take,
            on_request=wire.answer,
            on_skipped=wire.skipped.append,
            **seams,
        )
        if max_frame is not None:
            wire.peer.max_frame = max_frame
        await stack.enter_async_context(wire.peer)
        yield wire


async def _close(writer: asyncio.StreamWriter) -> None:
    if not writer.is_closing():
        writer.transport.abort()
    await asyncio.gather(writer.wait_closed(), return_exceptions=True)


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected() as opened:
        yield opened


# -- what we ask


async def test_a_request_gets_its_result(wire: Wire) -> None:
    asked = asyncio.ensure_future(wire.peer.request("sum", {"of": [1, 2]}))
    assert await wire.read() == {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "sum",
        "params": {"of": [1, 2]},
    }
    wire.write({"id": 1, "result": 3})
    assert await asked == 3


async def test_requests_are_numbered_and_params_are_always_an_object(wire: Wire) -> None:
    first, _ = wire.peer.call("a")
    second, _ = wire.peer.call("b")
    wire.peer.notify("c")
    sent = [await wire.read() for _ in range(3)]
    assert [first, second] == [f["id"] for f in sent[:2]] == [1, 2]
    assert [f["params"] for f in sent] == [{}, {}, {}]
    assert "id" not in sent[2]


async def test_answers_may_come_in_any_order(wire: Wire) -> None:
    first, second = (wire.peer.call(method)[1] for method in ("a", "b"))
    wire.write({"id": 2, "result": "B"}, {"id": 1, "result": "A"})
    assert [await first, await second] == ["A", "B"]


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ({"id": 1, "result": None}, None),
        ({"id": 1}, None),
        ({"id": "1", "result": "the id as text"}, "the id as text"),
        ({"id": 1.0, "result": "the id as a float"}, "the id as a float"),
        ({"id": 1, "method": None, "result": "every field"}, "every field"),
        ({"id": 1, "method": "", "result": "every field", "error": None}, "every field"),
        ({"id": 1, "error": None, "result": "an error that is none"}, "an error that is none"),
        ({"id": 1, "result": {"_meta": {"id": [7, {}]}}}, {"_meta": {"id": [7, {}]}}),
    ],
)
async def test_odd_results_are_results(wire: Wire, answer: Frame, result: Any) -> None:
    _, future = wire.peer.call("a")
    wire.write(answer)
    assert await future == result


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ({"code": -32000, "message": "no", "data": {"a": 1}}, -32000, "no"),
        ({"code": 400, "message": "bad"}, 400, "bad"),
        ("just a string", -32603, "just a string"),
        (["a", "list"], -32603, "['a', 'list']"),
        ({}, -32603, "error"),
        ({"code": "x", "message": 5}, -32603, "error"),
    ],
)
async def test_an_error_of_any_shape_fails_its_request(
    wire: Wire, error: Any, code: int, message: str
) -> None:
    _, future = wire.peer.call("a")
    wire.write({"id": 1, "error": error})
    with pytest.raises(RequestFailed) as failed:
        await future
    assert (failed.value.code, failed.value.message) == (code, message)
    assert failed.value.data == (error.get("data") if isinstance(error, dict) else None)


@pytest.mark.parametrize(
    "odd_id",
    [99, "99", "x", "²", None, [1], {"a": 1}, 1.5, -1, "", True, 0, "9" * 5_000, 1e308],
    ids=lambda odd: repr(odd)[:20],
)
async def test_an_answer_to_no_request_is_passed_over(wire: Wire, odd_id: Any) -> None:
    _, future = wire.peer.call("a")
    wire.write({"id": odd_id, "result": "wrong"}, {"id": odd_id, "error": {"code": 1}})
    wire.write({"id": 1, "result": "right"})
    assert await future == "right"


async def test_a_second_answer_is_passed_over(wire: Wire) -> None:
    _, future = wire.peer.call("a")
    wire.write({"id": 1, "result": "first"}, {"id": 1, "result": "second"}, note("end"))
    assert await future == "first"
    await wire.heard_until("end")


async def test_a_request_that_was_given_up_has_no_late_effect(wire: Wire) -> None:
    effects: list[Any] = []
    asked = asyncio.ensure_future(wire.peer.request("slow", on_result=effects.append))
    await wire.read()
    asked.cancel()
    await asyncio.wait({asked})
    wire.write({"id": 1, "result": "late"}, note("end"))
    await wire.heard_until("end")
    assert effects == []


# -- the order of the wire


async def test_a_response_has_its_effect_before_the_frames_behind_it(wire: Wire) -> None:
    seen: list[str] = []
    wire.on_notification = seen.append
    _, future = wire.peer.call("a", on_result=seen.append)
    wire.write(note("before"), {"id": 1, "result": "result"}, note("after"))
    await future
    assert seen == ["before", "result", "after"]


async def test_an_effect_that_fails_fails_its_request_and_nothing_else(wire: Wire) -> None:
    def effect(result: Any) -> None:
        raise ValueError(result)

    _, future = wire.peer.call("a", on_result=effect)
    wire.write({"id": 1, "result": "odd"}, note("end"))
    with pytest.raises(ValueError, match="odd"):
        await future
    await wire.heard_until("end")


async def test_a_request_sees_all_that_was_said_before_it(wire: Wire) -> None:
    counts: list[int] = []

    async def serve(method: str, params: Any) -> Any:
        counts.append(len(wire.heard))

    wire.serve = serve
    wire.write(note("1"), note("2"), ask("x"), note("3"))
    await wire.read()
    assert counts[0] >= 2


async def test_notifications_keep_their_order(wire: Wire) -> None:
    wire.write(*(note(str(n)) for n in range(5_000)))
    assert await wire.heard_until("4999") == [str(n) for n in range(5_000)]


async def test_a_handler_that_fails_costs_one_frame(
    wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(method: str) -> None:
        if method == "bad":
            raise ValueError(method)

    wire.on_notification = fail
    wire.write(note("bad"), note("end"))
    await wire.heard_until("end")
    assert "could not be handled" in caplog.text
    caplog.clear()


def test_what_is_logged_goes_nowhere_unless_somebody_wants_it() -> None:
    # In a kernel, stderr is the cell that runs.
    script = "import logging, agy_kernel.acp.jsonrpc as j; j.log.error('a traceback')"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert (told.stdout, told.stderr) == (b"", b"")


# -- what is not a message

STRAYS = [
    b"Loaded cached credentials.",
    b"42",
    b"null",
    b"true",
    b'"text"',
    b"[]",
    b"[1, null, [[]]]",
    b"{",
    b"{}",
    b'{"jsonrpc": "2.0"}',
    b'{"method": 5}',
    b'{"method": null, "id": null}',
    b"\xff\xfe\x00broken",
    b'{"method": "\xff',
    b"\x00",
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"1" * 10_000,
    b"NaN",
    b"\r",
    b"   ",
    b"",
    b"\x1b[31mred\x1b[0m",
]


@pytest.mark.parametrize("stray", STRAYS, ids=lambda stray: repr(stray[:12]))
async def test_what_is_not_a_message_is_passed_over(wire: Wire, stray: bytes) -> None:
    _, future = wire.peer.call("a")
    wire.write(note("before"), stray + b"\n", {"id": 1, "result": "fine"}, note("after"))
    assert await future == "fine"
    assert await wire.heard_until("after") == ["before", "after"]


async def test_strays_are_kept_to_be_told_and_taped(wire: Wire) -> None:
    wire.write(b"first\n", *(f"line {n} {'x' * 9_000}\n".encode() for n in range(20)), note("end"))
    await wire.heard_until("end")
    assert len(wire.peer.strays) == 12
    assert wire.peer.strays[-1].startswith("line 19 x")
    assert sum(map(len, wire.peer.strays)) <= 12 * 400


async def test_the_frames_of_a_batch_are_frames(wire: Wire) -> None:
    _, future = wire.peer.call("a")
    batch = [note("one"), {"id": 1, "result": "in a batch"}, 42, None, note("two")]
    wire.write(json.dumps(batch).encode() + b"\n")
    assert await future == "in a batch"
    assert await wire.heard_until("two") == ["one", "two"]


async def test_broken_utf8_costs_a_letter_and_not_the_frame(wire: Wire) -> None:
    wire.write(b'{"method": "text", "params": {"t": "a\xff\xc3b"}}\n', note("end"))
    await wire.heard_until("end")
    assert wire.heard[0] == ("text", {"t": "a\ufffd\ufffdb"})


async def test_surrogates_neither_stop_what_comes_nor_what_goes(wire: Wire) -> None:
    wire.write(b'{"method": "text", "params": {"t": "\\ud800"}}\n', note("end"))
    await wire.heard_until("end")
    assert wire.heard[0] == ("text", {"t": "\ud800"})
    wire.peer.notify("text", {"t": "a\ud800b"})
    assert (await wire.read())["params"] == {"t": "a?b"}


async def test_frames_may_come_byte_by_byte(wire: Wire) -> None:
    for byte in encode(note("söme", t="täxt")) + encode(note("end")):
        wire.write(bytes([byte]))
        await wire.writer.drain()
        await asyncio.sleep(0)
    assert await wire.heard_until("end") == ["söme", "end"]


async def test_carriage_returns_at_the_end_of_lines_do_no_harm(wire: Wire) -> None:
    wire.write(encode(note("one")).replace(b"\n", b"\r\n"), note("end"))
    assert await wire.heard_until("end") == ["one", "end"]


async def test_a_last_line_without_a_newline_is_a_line(wire: Wire) -> None:
    wire.write(note("one"), encode(note("two")).rstrip(b"\n"))
    wire.writer.close()
    await wire.peer.wait_lost()
    assert [method for method, _ in wire.heard] == ["one", "two"]


@pytest.mark.parametrize("size", [70_000, 5_000_000, 50_000_000])
async def test_long_lines_arrive_whole(wire: Wire, size: int) -> None:
    wire.write(note("long", text="x" * size), note("end"))
    await wire.heard_until("end")
    assert wire.heard[0] == ("long", {"text": "x" * size})


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc": "2.0", "id": 1, "result": "xxx\n',
        b'{"jsonrpc": "2.0", "id": 1, "result": "' + b"x" * 20_000 + b'"}\n',
        b'{"result": "' + b"x" * 20_000 + b'", "jsonrpc": "2.0", "id": "1"}\n',
    ],
    ids=["broken", "too long", "too long, id last"],
)
async def test_an_answer_that_was_lost_fails_its_request(line: bytes) -> None:
    async with connected(max_frame=10_000) as wire:
        _, future = wire.peer.call("a")
        wire.write(line, note("end"))
        with pytest.raises(RequestFailed, match="the answer was lost"):
            await future
        await wire.heard_until("end")


async def test_a_request_that_was_lost_is_refused() -> None:
    async with connected(max_frame=10_000) as wire:
        wire.write({"id": "q", "method": "m", "params": "x" * 20_000}, {"id": 7, "method": 5})
        refused = await answers(wire, 2)
        assert [(f["id"], f["error"]["code"]) for f in refused] == [("q", -32600), (7, -32600)]


async def test_a_line_beyond_the_limit_is_said_to_be_lost_and_costs_no_other() -> None:
    async with connected(max_frame=10_000) as wire:
        _, future = wire.peer.call("a")
        wire.write(note("before"), note("long", text="x" * 10_000_000), {"id": 1, "result": 1})
        wire.write(note("after"))
        assert await wire.heard_until("after") == ["before", "after"]
        assert await future == 1
        assert wire.skipped == [10_000]


# -- what we are asked


async def answers(wire: Wire, number: int) -> list[Frame]:
    return [await wire.read() for _ in range(number)]


async def test_what_we_do_not_serve_is_refused(wire: Wire) -> None:
    wire.write(ask(7, "fs/read_text_file"))
    assert await wire.read() == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {
            "code": -32601,
            "message": "Method not found",
            "data": {"method": "fs/read_text_file"},
        },
    }


async def test_every_request_is_answered_exactly_once(wire: Wire) -> None:
    async def serve(method: str, params: Any) -> Any:
        if method == "wait":
            await asyncio.sleep(0)
        if method == "fail":
            raise RequestFailed(-32602, "Invalid params", {"why": "so"})
        if method == "void":
            return None
        if method in ("wait", "quick"):
            return {"method": method}
        raise MethodNotFound(method)

    wire.serve = serve
    methods = ["wait", "quick", "void", "fail", "unknown"]
    wire.write(*(ask(n, methods[n % 5]) for n in range(500)), note("end"))
    answered = {frame["id"]: frame for frame in await answers(wire, 500)}
    wire.peer.notify("nothing more")
    assert (await wire.read())["method"] == "nothing more"
    assert sorted(answered) == list(range(500))
    assert answered[0]["result"] == {"method": "wait"}
    assert answered[1]["result"] == {"method": "quick"}
    assert answered[2]["result"] == {}
    assert answered[3]["error"] == {
        "code": -32602,
        "message": "Invalid params",
        "data": {"why": "so"},
    }
    assert answered[4]["error"]["code"] == -32601


@pytest.mark.parametrize("odd_id", ["text", "", None, 0, 1.5, True, [1], {"a": [None]}], ids=repr)
async def test_the_id_comes_back_as_it_was(wire: Wire, odd_id: Any) -> None:
    wire.write(ask(odd_id))
    assert (await wire.read())["id"] == odd_id


async def test_two_requests_with_one_id_get_two_answers(wire: Wire) -> None:
    wire.write(ask("same"), ask("same"))
    assert [frame["id"] for frame in await answers(wire, 2)] == ["same", "same"]


async def test_a_bug_in_a_handler_is_an_internal_error(
    wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    async def serve(method: str, params: Any) -> Any:
        raise ZeroDivisionError("a bug")

    wire.serve = serve
    wire.write(ask(1))
    error = (await wire.read())["error"]
    assert error == {
        "code": -32603,
        "message": "Internal error",
        "data": {"details": "a bug"},
    }
    caplog.clear()


class Patient:
    """Serves a request for ever, and tells when it began and when it was told to give up."""

    def __init__(self) -> None:
        self.began, self.gave_up = asyncio.Event(), asyncio.Event()

    async def __call__(self, method: str, params: Any) -> Any:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.gave_up.set()


@pytest.mark.parametrize("request_id", [5, "five", {"five": 5}], ids=repr)
async def test_a_request_can_be_withdrawn(wire: Wire, request_id: Any) -> None:
    wire.serve = patient = Patient()
    wire.write(ask(request_id))
    await patient.began.wait()
    wire.write(note("$/cancel_request", requestId=request_id))
    answer = await wire.read()
    assert (answer["id"], answer["error"]["code"]) == (request_id, -32800)
    assert patient.gave_up.is_set()


async def test_a_request_withdrawn_in_the_same_write_is_answered_too(wire: Wire) -> None:
    wire.serve = patient = Patient()
    wire.write(ask(5), note("$/cancel_request", requestId=5))
    answer = await wire.read()
    assert (answer["id"], answer["error"]["code"]) == (5, -32800)
    assert patient.gave_up.is_set()


async def test_withdrawing_what_is_not_open_does_nothing(wire: Wire) -> None:
    wire.write(ask(5), note("$/cancel_request", requestId=5))
    assert (await wire.read())["error"]["code"] == -32601
    odd: list[Any] = [{"requestId": 5}, {"requestId": {"a": []}}, {}, None, [5], "5"]
    for params in odd:
        wire.write({"method": "$/cancel_request", "params": params})
    wire.write(ask(6))
    assert (await wire.read())["id"] == 6


# -- the end


async def test_when_the_other_side_goes_every_request_fails_with_one_error() -> None:
    grave = AgentError("gone")

    async def on_lost(why: str) -> AgentError:
        assert why == "closed its output"
        return grave

    async with connected(on_lost=on_lost) as wire:
        futures = [wire.peer.call(method)[1] for method in "abc"]
        wire.writer.close()
        await wire.peer.wait_lost()
        assert not wire.peer.alive
        assert [f.exception() for f in futures] == [grave] * 3
        with pytest.raises(AgentError) as later:
            await wire.peer.request("d")
        assert later.value is grave
        wire.peer.notify("into the void")


async def test_what_was_written_before_the_end_is_read_first(wire: Wire) -> None:
    _, future = wire.peer.call("a")
    wire.write(*(note(str(n)) for n in range(10_000)), {"id": 1, "result": "in time"})
    wire.writer.close()
    assert await future == "in time"
    await wire.peer.wait_lost()
    assert len(wire.heard) == 10_000


async def test_closing_it_ourselves_asks_nobody_and_fails_what_is_open() -> None:
    async def on_lost(why: str) -> AgentError:
        raise AssertionError(why)

    async with connected(on_lost=on_lost) as wire:
        wire.serve = patient = Patient()
        _, future = wire.peer.call("a")
        wire.write(ask(1))
        await patient.began.wait()
    assert str(future.exception()) == "the agent was closed"
    assert patient.gave_up.is_set()
    assert not wire.peer.alive


# -- more than we can take


async def test_a_closed_gate_holds_the_other_side_back() -> None:
    gate = asyncio.Event()

    async def wait_for_gate(_: int) -> None:
        await gate.wait()

    async with connected(gate=wait_for_gate) as wire:
        wire.write(*(note(str(n), text="x" * 1_000) for n in range(20_000)))
        await wire.heard_until("0")
        # The socket's own buffers are full: it takes no more until the gate opens.
        assert len(wire.heard) < 1_000
        assert wire.writer.transport.get_write_buffer_size() > 10_000_000
        gate.set()
        assert len(await wire.heard_until("19999")) == 20_000


async def test_a_fast_writer_does_not_starve_what_it_asked_for(wire: Wire) -> None:
    served = asyncio.Event()

    async def serve(method: str, params: Any) -> Any:
        served.set()

    wire.serve = serve
    wire.write(ask(1), *(note(str(n), text="x" * 1_000) for n in range(5_000)))
    await served.wait()
    assert len(wire.heard) < 5_000


# -- both ends


async def test_two_peers_talk_both_ways_at_once() -> None:
    async def serve(name: str, _: str, params: Any) -> Any:
        return {"by": name, "n": params["n"]}

    ours, theirs = socket.socketpair()
    async with AsyncExitStack() as stack:
        peers = []
        for name, sock in (("a", ours), ("b", theirs)):
            reader, writer = await asyncio.open_connection(sock=sock)
            stack.push_async_callback(_close, writer)
            peer = Peer(
                reader,
                writer,
                on_notification=lambda *_: None,
                on_request=partial(serve, name),
                tape=Tape(),
            )
            peers.append(await stack.enter_async_context(peer))
        asked = [p.request("who", {"n": n}) for n in range(200) for p in peers]
        answered = await asyncio.gather(*asked)
        assert answered == [{"by": by, "n": n} for n in range(200) for by in "ba"]
