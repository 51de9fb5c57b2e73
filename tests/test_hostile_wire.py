"""Whatever bytes an agent sends: what the cell shows, that the next cell works, that nothing is
left behind (which the kernel's fixture checks), and no traceback anywhere.

One valid frame is never lost: words before and after the odd one are shown, as they are.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.acp.framing import MAX_FRAME
from tests.agents import scripted
from tests.agents.scripted import (
    Step,
    answer,
    chunk,
    command,
    expect,
    opening,
    play_file,
    raw,
    send,
    update,
)
from tests.support.kernels import Kernel, StartKernel, sim
from tests.support.notebook import Cell, Json

PROMPTED = expect("session/prompt")
END_TURN = answer("session/prompt", {"stopReason": "end_turn"})
LOADED = [expect("session/load"), answer("session/load", {})]
STILL_HERE = scripted.turn("still here")


@pytest.fixture
def kernel(shared_kernel: Kernel) -> Kernel:
    return shared_kernel


StartScripted = Callable[..., Kernel]


@pytest.fixture
def start(start_kernel: StartKernel, tmp_path: Path) -> StartScripted:
    """Start a kernel with a scripted agent; its second process plays ``again``."""

    def start(*steps: Step, again: Sequence[Step] = ()) -> Kernel:
        agents = [_agent(tmp_path / f"{n}.json", script) for n, script in enumerate((steps, again))]
        first = shlex.quote(str(tmp_path / "first"))
        line = f"if mkdir {first} 2>&-; then exec {agents[0]}; else exec {agents[1]}; fi"
        return start_kernel(shlex.join(["sh", "-c", line]))

    return start


def _agent(file: Path, script: Sequence[Step]) -> str:
    file.write_text(json.dumps(script))
    return shlex.join(command(play_file(file)))


def check_clean(cell: Cell) -> None:
    """Nothing that only a programmer could read."""
    assert "Traceback" not in cell.text
    assert not [o for o in cell.outputs if o["output_type"] == "stream"], cell.text


def said(cell: Cell) -> list[str]:
    """The plain texts of a cell that ended well, without its footer."""
    check_clean(cell)
    assert cell.status == "ok", cell.text
    return [output["data"]["text/plain"] for output in cell.outputs[:-1]]


def check_works(kernel: Kernel, agent: int | None = None) -> None:
    """The next cell works, with the same agent where that is given."""
    cell = kernel.run(sim({"text": "still here"}), timeout=60)
    assert said(cell)[-1] == "still here"
    assert agent in (None, kernel.agent)


def between(kernel: Kernel, *steps: Json) -> list[str]:
    """What a cell shows with odd lines between its words; the agent lives on."""
    kernel.run(sim({"text": "begin"}))
    agent = kernel.agent
    cell = kernel.run(sim({"text": "before. "}, *steps, {"text": "after."}))
    shown = said(cell)
    assert cell.record["stop_reason"] == "end_turn"
    check_works(kernel, agent)
    return shown


def line(frame: Any) -> Json:
    """A step of the simulator's: a frame as it is."""
    return {"raw": json.dumps(frame)}


def session(kernel: Kernel) -> str:
    return str(kernel.run(sim({"text": "begin"})).record["session_id"])


# -- lines that are no messages

NOISE = {
    "words": "Loaded cached credentials.",
    "number": "42",
    "null": "null",
    "empty batch": "[]",
    "batch of nothing": '[1, null, "x", [[]]]',
    "half an object": '{"jsonrpc": "2.0", "method": "session/upd',
    "empty object": "{}",
    "no method": '{"jsonrpc": "2.0"}',
    "odd method": '{"jsonrpc": "2.0", "method": 5}',
    "odd request": '{"jsonrpc": "2.0", "id": 9, "method": {"a": []}}',
    "broken letters": "\ud800\udfff",
    "broken letters in a frame": '{"jsonrpc": "2.0", "method": "x", "params": {"\udcff": 1}}',
    "control letters": "\x00\x07\x1b[31m\x1b]0;title\x07\r",
    "deep": "[" * 100_000,
    "deep json": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "long number": "9" * 10_000,
    "blank": "   ",
    "html": "<script>alert(1)</script>",
}


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
def test_noise_on_stdout_costs_nothing(kernel: Kernel, noise: str) -> None:
    assert between(kernel, {"raw": noise}) == ["before. after."]


def test_the_frames_of_a_batch_count(kernel: Kernel) -> None:
    frame = chunk("in a batch. ", session(kernel))
    assert between(kernel, line([frame, 42, {}, frame])) == [
        "before. in a batch. in a batch. after."
    ]


# -- answers

NO_IDS = ["99999", '"99999"', '"x"', '""', "null", "true", "1.5", "[]", "{}", '{"a":[1]}', "-1"]
NO_IDS += ["NaN", "1e999", "9" * 5_000, '"' + "9" * 5_000 + '"', "[" * 500 + "]" * 500]


def test_answers_to_no_request_are_passed_over(kernel: Kernel) -> None:
    # Ids count from 1, so the first of them are late or doubled answers.
    ids = [*map(str, range(1, 4)), *NO_IDS]
    results = ['"result": {"stopReason": "refusal"}', '"error": {"code": 1, "message": "no"}']
    frames = [f'{{"jsonrpc": "2.0", "id": {i}, {result}}}' for i in ids for result in results]
    assert between(kernel, *({"raw": frame} for frame in frames)) == ["before. after."]


def ending(*answers: str) -> list[Step]:
    """Turns that end with these answers; the first prompt is the third request."""
    turns = ([PROMPTED, send(chunk("half.")), raw_line(a, n)] for n, a in enumerate(answers, 3))
    return [*opening(), *(step for turn in turns for step in turn), *STILL_HERE]


def raw_line(text: str, request_id: int) -> Step:
    return raw(text.replace("ID", str(request_id)).encode() + b"\n")


ENDS = {
    '{"id": ID, "result": {"stopReason": "max_tokens"}}': "max_tokens",
    '{"id": "ID", "result": {"stopReason": "max_tokens"}}': "max_tokens",
    '{"id": ID.0, "result": {"stopReason": "max_tokens"}}': "max_tokens",
    '{"id": ID, "result": {"stopReason": "refusal"}, "_meta": [{}]}': "refusal",
    '{"id": ID, "method": null, "result": {"stopReason": "refusal"}, "error": null}': "refusal",
    '{"id": ID}': "unknown",
    '{"id": ID, "result": null}': "unknown",
    '{"id": ID, "result": [], "error": null}': "unknown",
    '{"id": ID, "result": "ok"}': "unknown",
    '{"id": ID, "result": {"stopReason": "bored", "usage": {"inputTokens": "x"}}}': "bored",
    '[{"id": ID, "result": {"stopReason": 5}}, {"id": ID, "result": null}]': "unknown",
}


def test_a_turn_may_end_with_any_result(start: StartScripted) -> None:
    kernel = start(*ending(*ENDS))
    for reason in ENDS.values():
        cell = kernel.run("Go on.")
        check_clean(cell)
        assert "half." in cell.text
        assert cell.record["stop_reason"] == reason
    check_works(kernel, kernel.agent)


ERRORS = {
    '"just a string"': "just a string",
    "42": "42",
    "[1]": "[1]",
    '{"code": {}, "message": null, "data": [[]]}': "error",
    '{"code": 1e400, "message": "\\ud800 odd"}': "? odd",
    '{"message": "odd", "data": "' + "long " * 1_000_000 + '"}': "(5,000,000 characters)",
    '{"message": "' + "long " * 1_000_000 + '"}': "(5,000,000 characters)",
}


def test_a_turn_may_fail_with_any_error(start: StartScripted) -> None:
    kernel = start(*ending(*(f'{{"id": ID, "error": {error}}}' for error in ERRORS)))
    for words in ERRORS.values():
        cell = kernel.run("Go on.")
        check_clean(cell)
        assert "half." in cell.text
        assert cell.error["ename"] == "RequestFailed"
        assert words in cell.error["evalue"]
        assert len(cell.error["evalue"]) < 10_000
    check_works(kernel, kernel.agent)


def test_a_broken_answer_ends_its_turn_instead_of_leaving_it_waiting(start: StartScripted) -> None:
    kernel = start(*ending('{"jsonrpc": "2.0", "id": ID, "result": {"stopReason": "end_'))
    cell = kernel.run("Go on.")
    check_clean(cell)
    assert "the answer was lost: it is broken" in cell.error["evalue"]
    check_works(kernel, kernel.agent)


# -- requests

UNSERVED = ["fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output"]
UNSERVED += ["terminal/kill", "_vendor/x", "no/such", "session/prompt", "initialize", "mcp/connect"]
ODD_IDS: list[Any] = [0, -1, 1.5, True, None, "", "x", "\ud800", "é", [], {}, 10**400]
ODD_IDS += [{"a": [None]}]


def test_requests_that_we_do_not_serve_are_refused_once_each(kernel: Kernel) -> None:
    asked: list[Json] = [{"id": f"u {m}", "method": m, "params": {}} for m in UNSERVED]
    asked += [{"id": [odd], "method": "x", "params": []} for odd in ODD_IDS]
    asked += [{"id": odd, "method": "x", "params": None} for odd in ODD_IDS]
    assert between(kernel, *map(line, asked)) == ["before. after."]
    answers = [frame for frame in kernel.wire("c2a") if "method" not in frame]
    for request in asked:
        mine = [a for a in answers if json.dumps(a["id"]) == json.dumps(request["id"])]
        assert [a["error"]["code"] for a in mine] == [-32601], request


# -- updates


def test_an_update_that_comes_as_a_request_is_one(kernel: Kernel) -> None:
    asked = {**chunk("asked. ", session(kernel)), "id": "update"}
    assert between(kernel, line(asked)) == ["before. asked. after."]
    answers = [frame for frame in kernel.wire("c2a") if frame.get("id") == "update"]
    assert [frame["error"]["code"] for frame in answers] == [-32601]


def updates(session_id: str) -> list[str]:
    """Odd updates, as lines."""
    metas: list[Any] = [None, 1, "x", [], {"a": {"b": [[]]}}, True, {"agy.security.warning": [1]}]
    odd: list[Any] = [None, 5, "text", [], {}, {"type": "hologram"}, {"type": 7}]
    odd += [{"type": "image"}]
    frames = [
        *(update(session_id, kind, x=1) for kind in ("_vendor_update", "no_such_update", "")),
        *(update(session_id, kind) for kind in UNSTABLE),
        *(update(session_id, "agent_message_chunk", content=content) for content in odd),
        *(update(session_id, "tool_call", toolCallId=c, content=c, kind=c) for c in odd),
        *(update(session_id, "tool_call_update", toolCallId="t", content=[c]) for c in odd),
        *(update(session_id, "plan", entries=[{"content": c, "status": c}, c]) for c in odd),
        *(update(session_id, "usage_update", used=c, size=c, cost=c) for c in odd),
        *(update(session_id, "tool_call", toolCallId="t", _meta=meta) for meta in metas),
        update(session_id, "tool_call", toolCallId="t", status="halfway", kind="dream"),
        update(session_id, "usage_update", used=10**400, size=-1, cost={"amount": 10**400}),
        *({"jsonrpc": "2.0", "method": "session/update", "params": p} for p in odd),
        *({"jsonrpc": "2.0", "method": m, "params": {}} for m in ("_vendor/x", "", "no/such")),
        {**update(session_id, "plan", entries=[]), "id": 7, "_meta": [{}]},
    ]
    return [json.dumps(frame) for frame in frames]


UNSTABLE = ["plan_update", "plan_removed", "notice", "compaction_update"]
UNSTABLE += ["compaction_summary_chunk"]


def test_updates_of_any_content_break_nothing(kernel: Kernel) -> None:
    lines = [{"raw": text} for text in updates(session(kernel))]
    shown = "\n".join(between(kernel, *lines))
    assert shown.startswith("before. ")
    assert shown.endswith("after.")


ODD_VALUES = {
    "deep": "[" * 10_000 + "]" * 10_000,
    "deep enough": "[" * 90 + "]" * 90,
    "long number": "9" * 5_000,
    "not a number": "[NaN, Infinity, -Infinity, 1e999]",
    "lone surrogates": '["\\ud800", "a\\udfffb", {"\\udc00": "\\udc00\\ud800"}]',
    "zero": '"\\u0000\\u001b[31m\\u202e"',
    "one name twice": '{"a": 1, "a": {"b": 2}, "a": null}',
}


@pytest.mark.parametrize("value", ODD_VALUES.values(), ids=ODD_VALUES)
def test_values_of_any_kind_break_nothing(kernel: Kernel, value: str) -> None:
    fields = ("rawInput", "rawOutput", "_meta", "title", "toolCallId", "status", "kind", "content")
    frame = json.dumps(update(session(kernel), "tool_call", **dict.fromkeys(fields, "VALUE")))
    text = json.dumps(chunk("said. ", session(kernel), _meta="VALUE"))
    odd = [{"raw": told.replace('"VALUE"', value)} for told in (text, frame)]
    first, *_, last = between(kernel, *odd)
    assert first == "before. said. "
    assert last.endswith("after.")


@pytest.mark.parametrize("name", ["\\ud800", "9" * 5_000, "\\u0000", "x\\nx"])
def test_names_of_any_kind_can_be_asked_about(kernel: Kernel, name: str) -> None:
    call = {"toolCallId": "NAME", "title": "NAME", "kind": "NAME", "rawInput": {"NAME": "NAME"}}
    options = [
        {"optionId": "NAME", "name": "NAME", "kind": kind} for kind in ("allow_once", "NAME")
    ]
    params = {"sessionId": session(kernel), "toolCall": call, "options": options}
    asked = {"jsonrpc": "2.0", "id": "ask NAME", "method": "session/request_permission"}
    frame = json.dumps({**asked, "params": params}).replace("NAME", name)
    shown = between(kernel, {"raw": frame})
    assert shown[0] == "before. "
    sent = [f for f in kernel.wire("c2a") if f.get("id") == json.loads(f'"ask {name}"')]
    assert [f["result"]["outcome"]["outcome"] for f in sent] == ["cancelled"]


# -- bytes


def test_frames_may_come_byte_by_byte_and_the_last_without_a_newline(start: StartScripted) -> None:
    last = json.dumps(chunk("last words")).encode()
    kernel = start(
        *opening(),
        PROMPTED,
        scripted.drip(chunk("drop "), chunk("by dröp. ")),
        raw(b'{"method": "session/update", "params": {"sessionId": "s1", "update": {'),
        raw(b'"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "\xff"'),
        raw(b"}}}}\n"),
        raw(b"\xef\xbb\xbf" + json.dumps(chunk(" marked. ")).encode() + b"\r\n"),
        raw(last),
        scripted.leave(3),
    )
    cell = kernel.run("Go on.")
    check_clean(cell)
    assert cell.outputs[0]["data"]["text/plain"] == "drop by dröp. \ufffd marked. last words"
    assert "exit status 3" in cell.error["evalue"]


@pytest.mark.parametrize("size", [70_000, 5_000_000, 50_000_000])
def test_long_lines_are_read(start: StartScripted, size: int) -> None:
    long = json.dumps(update("s1", "tool_call", toolCallId="t", title="Read", rawOutput="SIZE"))
    before, after = long.split("SIZE")
    line = scripted.long_line(before, size, after)
    words = [send(chunk("before.")), line, send(chunk("after.")), END_TURN]
    kernel = start(*opening(), PROMPTED, *words, *STILL_HERE)
    first, call, last = said(kernel.run("Go on.", timeout=60))
    assert (first, last) == ("before.", "after.")
    assert "Read" in call
    check_works(kernel, kernel.agent)


@pytest.mark.parametrize("size", [70_000, 5_000_000])
def test_long_texts_are_shown(start: StartScripted, size: int) -> None:
    words = [scripted.say_much(size), send(chunk("\n\nthe end")), END_TURN]
    kernel = start(*opening(), PROMPTED, *words, *STILL_HERE)
    shown = "".join(said(kernel.run("Go on.", timeout=60)))
    assert (shown.count("x"), shown[-7:]) == (size, "the end")
    check_works(kernel, kernel.agent)


def too_long(before: str, after: str) -> Step:
    return scripted.long_line(before, MAX_FRAME + 1, after)


LOST = f"more than {MAX_FRAME:,} bytes"


def test_a_line_beyond_all_bounds_is_said_to_be_missing(start: StartScripted) -> None:
    before, after = json.dumps(chunk("SIZE")).split("SIZE")
    words = [send(chunk("before.")), too_long(before, after), send(chunk("after.")), END_TURN]
    kernel = start(*opening(), PROMPTED, *words, *STILL_HERE)
    shown = said(kernel.run("Go on.", timeout=60))
    assert (shown[0], shown[-1]) == ("before.", "after.")
    assert LOST in shown[1]
    check_works(kernel, kernel.agent)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"jsonrpc": "2.0", "id": ID, "result": {"x": "', '"}}'),
        ('{"result": {"x": "', '"}, "id": ID, "jsonrpc": "2.0"}'),
    ],
)
def test_an_answer_beyond_all_bounds_ends_its_turn_as_an_error(
    start: StartScripted, before: str, after: str
) -> None:
    # The prompt is the third request, after initialize and session/new.
    line = too_long(before.replace("ID", "3"), after.replace("ID", "3"))
    kernel = start(*opening(), PROMPTED, send(chunk("before.")), line, *STILL_HERE)
    cell = kernel.run("Go on.", timeout=60)
    check_clean(cell)
    assert cell.text.index("before.") < cell.text.index(LOST)
    assert "the answer was lost: its line is longer" in cell.error["evalue"]
    check_works(kernel, kernel.agent)


def test_a_lost_line_that_nobody_can_place_leaves_a_turn_that_can_be_stopped(
    start: StartScripted,
) -> None:
    kernel = start(*opening(), PROMPTED, too_long("", ""), scripted.hold())
    cell = kernel.ask("Go on.")
    kernel.shows(cell, LOST, timeout=60)
    kernel.interrupt()
    kernel.finish(cell)
    assert cell.error["ename"] == "TurnCancelled"


def test_a_request_beyond_all_bounds_is_refused(start: StartScripted) -> None:
    line = too_long('{"jsonrpc": "2.0", "id": "q", "method": "_vendor/x", "params": ["', '"]}')
    asked = [line, scripted.expect_response("q"), send(chunk("refused.")), END_TURN]
    kernel = start(*opening(), PROMPTED, *asked, *STILL_HERE)
    shown = said(kernel.run("Go on.", timeout=60))
    assert shown[-1] == "refused."
    check_works(kernel, kernel.agent)


# -- pipes


@pytest.mark.parametrize("end", ["\n", ""], ids=["lines", "one line"])
def test_fifty_megabytes_on_stderr_stop_nothing(start: StartScripted, end: str) -> None:
    noise = scripted.to_stderr("RAW WS MSG: " + "x" * 99_988 + end, 500)
    kernel = start(*opening(), PROMPTED, noise, send(chunk("heard.")), END_TURN, *STILL_HERE)
    assert said(kernel.run("Go on.", timeout=60)) == ["heard."]
    check_works(kernel, kernel.agent)


def test_the_last_words_of_an_endless_line_are_few(start: StartScripted) -> None:
    noise = scripted.to_stderr("x" * 1_000_000 + "out of luck", 1)
    kernel = start(*opening(), PROMPTED, noise, scripted.leave(4))
    cell = kernel.run("Go on.")
    check_clean(cell)
    assert "out of luck" in cell.error["evalue"]
    assert len(cell.error["evalue"]) < 1_000


@pytest.mark.parametrize(("stream", "word"), [("stdin", "input"), ("stdout", "output")])
def test_an_agent_that_hangs_up_and_lives_is_ended_and_replaced(
    start: StartScripted, stream: str, word: str
) -> None:
    kernel = start(
        *opening(),
        *STILL_HERE,
        PROMPTED,
        send(chunk("half a ")),
        scripted.ignore("EOF"),
        scripted.close(stream),
        scripted.pause(),
        again=[*scripted.hello(), *LOADED, *STILL_HERE],
    )
    check_works(kernel)
    first = kernel.agent
    cell = kernel.run("Go on.")
    check_clean(cell)
    assert "half a" in cell.text
    assert cell.error["ename"] == "AgentExited"
    assert word in cell.error["evalue"]
    again = said(kernel.run("Go on."))
    assert "A new agent process was started" in again[0]
    assert again[-1] == "still here"
    kernel.wait(lambda: first not in kernel.agents, "the end of the first agent")


def peak_memory(pid: int) -> int:
    """The most memory that a process has had, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024


def test_an_agent_that_writes_faster_than_we_draw_is_held_back(start: StartScripted) -> None:
    call = update("s1", "tool_call", toolCallId="t", title="Read", rawOutput="x" * 5_000_000)
    flood = scripted.flood(40, call)
    kernel = start(*opening(), PROMPTED, flood, send(chunk("the end.")), END_TURN, *STILL_HERE)
    before = peak_memory(kernel.pid)
    assert said(kernel.run("Go on.", timeout=90))[-1] == "the end."
    # 200 MB came; there is room for some lines, the tape's ring, and what is being drawn.
    assert peak_memory(kernel.pid) - before < 120_000_000
    check_works(kernel, kernel.agent)


def test_an_agent_that_asks_and_has_hung_up_is_answered_by_nobody(start: StartScripted) -> None:
    asked = send(*(scripted.request(n, "_vendor/x") for n in range(50)))
    kernel = start(
        *opening(), PROMPTED, scripted.close("stdin"), asked, send(chunk("so.")), scripted.pause()
    )
    cell = kernel.run("Go on.")
    check_clean(cell)
    assert "so." in cell.text
    assert "stopped reading its input" in cell.error["evalue"]


def test_a_prompt_that_is_not_read_can_be_stopped(start: StartScripted) -> None:
    kernel = start(*opening(), send(chunk("I hear nothing.")), scripted.pause())
    cell = kernel.ask("Read this: " + "x" * 10_000_000)
    kernel.wait(lambda: kernel.sent("session/prompt"), "the prompt on its way")
    kernel.interrupt()
    kernel.finish(cell)
    check_clean(cell)
    assert cell.error["ename"] == "TurnCancelled"


def test_both_sides_can_write_much_at_once(start: StartScripted) -> None:
    # The agent reads the prompt only when all of this is written, and we have read it.
    much = scripted.flood(4_000, update("s1", "_vendor", x="x" * 5_000))
    kernel = start(*opening(), much, PROMPTED, send(chunk("got it.")), END_TURN, *STILL_HERE)
    shown = said(kernel.run("Read this: " + "x" * 10_000_000, timeout=60))
    assert shown[-1].endswith("got it.")
    check_works(kernel, kernel.agent)


# -- the whole text, again and again


def test_text_that_is_sent_again_is_shown_once(start: StartScripted) -> None:
    text = "This is all that I have to say, and it takes me a while to say it."
    pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
    whole = [chunk(so_far) for so_far in accumulate(pieces)]
    once_more = [*map(chunk, pieces), chunk(text)]
    kernel = start(
        *opening(),
        *([PROMPTED, send(*whole), END_TURN]),
        *([PROMPTED, send(*once_more), END_TURN]),
        *([PROMPTED, send(*[chunk("ha")] * 1_000), END_TURN]),
    )
    assert said(kernel.run("Go on.")) == [text]
    assert said(kernel.run("Go on.")) == [text]
    assert said(kernel.run("Go on.")) == ["ha" * 1_000]
