"""A conversation across turns, sessions and processes, with scripted agents over real pipes."""

import asyncio
import json
import os
import re
import signal
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, cast

import pytest

from agy_kernel.acp import sessions
from agy_kernel.acp.connection import Connection
from agy_kernel.acp.process import Launch
from agy_kernel.conversation.conversation import Conversation
from agy_kernel.conversation.engine import Engine
from agy_kernel.conversation.ladder import (
    CANCEL_REQUEST,
    CLOSE,
    KILL,
    TERMINATE,
    Rung,
    climb,
)
from agy_kernel.conversation.thread import AgentThread
from agy_kernel.conversation.turn import Turn
from agy_kernel.errors import (
    AgentExited,
    AgentNotFound,
    AgentStartFailed,
    AuthenticationRequired,
    CommandError,
    RequestFailed,
)
from agy_kernel.events import (
    Answered,
    Asked,
    Command,
    Progress,
    TextChunk,
    ToolCallUpdate,
    TurnBroken,
    TurnEnded,
    UsageChanged,
)
from agy_kernel.questions import Answer
from tests.agents import real, scripted
from tests.agents.model_endpoint import ModelEndpoint
from tests.agents.scripted import (
    Step,
    answer,
    chunk,
    expect,
    expect_response,
    fail,
    hello,
    hold,
    ignore,
    leave,
    new_session,
    opening,
    permission,
    send,
    spawn,
    turn,
    update,
)
from tests.agents.scripts import SCRIPTS
from tests.support.cells import (
    SOON,
    Cell,
    Talk,
    patient_stop,  # noqa: F401
    stops_end_at,
    talking,
)
from tests.support.leaks import (
    nothing_is_left,  # noqa: F401
    processes_left,
)
from tests.support.processes import happens_within, is_alive

PROMPTED = expect("session/prompt")
END_TURN = answer("session/prompt", {"stopReason": "end_turn"})
CANCELLED = answer("session/prompt", {"stopReason": "cancelled"})
NEW, LOAD = expect("session/new"), expect("session/load")
LOADED = [LOAD, answer("session/load", {})]
UP = chunk("up")
BEGUN = [PROMPTED, send(UP)]
NOT_REMEMBERED = "This is a new one: the agent does not remember what was said before."
AT_CANCEL = {"scripted 1": "session/cancel"}


# -- turns


async def test_the_first_prompt_starts_the_agent_and_the_next_ones_use_it() -> None:
    async with talking([*opening(), *turn("one"), *turn("two")]) as talk:
        assert talk.conversation.engine is None
        first = await talk.turn()
        pid = talk.pid
        second = await talk.turn()
        assert (first.text, second.text) == ("one", "two")
        assert talk.pid == pid
        assert talk.wire.methods() == [
            *("initialize", "session/new", "session/prompt", "session/prompt")
        ]
        assert await second.end() == TurnEnded("end_turn")
        assert second.notices == []
        assert talk.conversation.session_id == "s1"


async def test_an_agent_that_does_not_start_breaks_the_turn_and_the_next_tries_again() -> None:
    async with talking([leave(1)], [*opening(), *turn("fine")]) as talk:
        assert isinstance(await talk.ask().error(), AgentStartFailed)
        assert talk.conversation.engine is None
        cell = await talk.turn()
        assert (cell.text, cell.notices) == ("fine", [])


async def test_a_program_that_is_missing_breaks_the_turn() -> None:
    launch = Launch("Agent", ("/no/such",))
    conversation = Conversation(lambda on_event: Connection(launch, "/", on_event), "/", "Agent")
    assert isinstance(await Cell(conversation).error(), AgentNotFound)
    await conversation.close()


async def test_a_session_that_does_not_open_breaks_the_turn_and_the_next_tries_again() -> None:
    refused = [NEW, fail("session/new", -32603, "Could not find default localharness binary")]
    async with talking([*hello(), *refused, *new_session(), *turn("fine")]) as talk:
        error = await talk.ask().error()
        assert isinstance(error, RequestFailed)
        assert "localharness" in str(error)
        assert (await talk.turn()).text == "fine"
        assert len(talk.wires) == 1


async def test_a_sign_in_breaks_the_turn_and_after_it_the_same_agent_goes_on() -> None:
    refused = [NEW, fail("session/new", -32000, "Authentication required")]
    async with talking([*hello(), *refused, *new_session(), *turn("fine")]) as talk:
        assert isinstance(await talk.ask().error(), AuthenticationRequired)
        assert (await talk.turn()).text == "fine"
        assert len(talk.wires) == 1


async def test_what_is_waited_for_is_told_every_second() -> None:
    async with talking([expect("initialize")]) as talk:
        cell = talk.ask()
        progress = await cell.until(lambda event: isinstance(event, Progress))
        assert isinstance(progress, Progress)
        # Its seconds are those that have passed, which are more where our loop comes late.
        assert re.fullmatch(r"starting scripted \([1-9]\d* s\)", progress.text)
        await cell.stop()


@pytest.mark.report(17)
@pytest.mark.usefixtures("patient_stop")
async def test_a_second_prompt_waits_until_the_first_is_over() -> None:
    second_turn = [*BEGUN, expect("session/cancel"), *[CANCELLED], *turn("second")]
    async with talking([*opening(), *second_turn]) as talk:
        first, second = talk.ask(), talk.ask()
        await first.words("up")
        assert talk.wire.methods()[-1] == "session/prompt"
        assert len(talk.wire.sent("session/prompt")) == 1
        await first.stop()
        await second.end()
        assert (first.text, second.text) == ("up", "second")


async def test_a_turn_may_fail_and_the_next_goes_on() -> None:
    failed = [*BEGUN, fail("session/prompt", -32603, "model unreachable: doRequest: EOF")]
    async with talking([*opening(), *failed, *turn("fine")]) as talk:
        cell = talk.ask()
        assert isinstance(await cell.error(), RequestFailed)
        assert cell.text == "up"
        assert (await talk.turn()).text == "fine"
        assert len(talk.wires) == 1


# -- where updates belong


async def test_what_comes_with_the_session_is_taken_for_what_it_is() -> None:
    commands = update("s1", "available_commands_update", availableCommands=[{"name": "plan"}])
    banner = update("s1", "notice", severity="warning", title="No MCP server.")
    welcome = banner, chunk("Welcome "), chunk("to agent 1.0")
    script = [NEW, send(commands), answer("session/new", {"sessionId": "s1"}, *welcome)]
    async with talking([*hello(), *script, *turn("answer")]) as talk:
        await talk.conversation.ready()
        cell = await talk.turn()
        assert cell.text == "answer"
        assert cell.notices == [
            "No MCP server.",
            "Before the first prompt the agent said: Welcome to agent 1.0",
        ]
        assert talk.conversation.commands == (Command("plan"),)


async def test_what_the_session_tells_of_itself_is_known() -> None:
    told = [
        update("s1", "session_info_update", title="A title"),
        update("s1", "usage_update", used=5, size=10),
    ]
    async with talking([*opening(), PROMPTED, send(*told), END_TURN]) as talk:
        cell = await talk.turn()
        assert talk.conversation.title == "A title"
        assert talk.conversation.context == UsageChanged(5, 10)
        assert cell.of(UsageChanged) == [UsageChanged(5, 10)]


async def test_other_sessions_are_not_heard_and_their_questions_are_refused() -> None:
    others = send(chunk("not mine", "s2"), permission("q", session="s2"), chunk("mine"))
    async with talking([*opening(), PROMPTED, others, expect_response("q"), END_TURN]) as talk:
        cell = await talk.turn()
        assert cell.text == "mine"
        assert cell.of(Asked) == []
        assert talk.wire.answers()["q"]["result"] == {"outcome": {"outcome": "cancelled"}}


async def test_what_comes_late_goes_to_the_cell_that_asked() -> None:
    end = answer("session/prompt", {"stopReason": "end_turn"}, chunk(" and late"))
    async with talking([*opening(), PROMPTED, send(chunk("in time")), end, *turn("2")]) as talk:
        first = talk.ask()
        await first.words(" and late")
        assert first.text == "in time and late"
        assert (await talk.turn()).text == "2"


async def test_what_comes_later_still_goes_where_its_id_is_known() -> None:
    def call(kind: str, **fields: Any) -> scripted.Frame:
        return update("s1", kind, toolCallId="c1", **fields)

    first_turn = [
        PROMPTED,
        send(call("tool_call", status="pending"), chunk("one", messageId="m1")),
        END_TURN,
    ]
    second_turn = [
        PROMPTED,
        send(
            chunk("two", messageId="m2"),
            call("tool_call_update", status="completed"),
            chunk(" more", messageId="m1"),
            chunk(" nobody's"),
        ),
        END_TURN,
    ]
    async with talking([*opening(), *first_turn, *second_turn]) as talk:
        first = await talk.turn()
        second = await talk.turn()
        assert (first.text, second.text) == ("one more", "two nobody's")
        assert [c.status for c in first.of(ToolCallUpdate)] == ["pending", "completed"]
        assert second.of(ToolCallUpdate) == []


@pytest.mark.parametrize("status", ["completed", "pending"])
async def test_an_id_that_is_used_anew_belongs_to_the_cell_that_runs(status: str) -> None:
    # The example agent of the SDK counts its calls in each turn, and leaves some open.
    call = update("s1", "tool_call", toolCallId="c1", status=status)
    each = [PROMPTED, send(call, permission("q")), expect_response("q"), END_TURN]
    async with talking([*opening(), *each, *each]) as talk:
        for _ in range(2):
            cell = talk.ask(lambda question: Answer(question.options[0], by="policy"))
            await cell.end()
            assert cell.kinds == [ToolCallUpdate, Asked, Answered, TurnEnded]


# -- questions


async def test_a_question_is_asked_in_the_cell_and_its_answer_told_there() -> None:
    script = [PROMPTED, send(permission("q")), expect_response("q"), END_TURN]
    async with talking([*opening(), *script]) as talk:
        cell = talk.ask()
        question = await cell.question()
        # Buttons are clicked in the main thread, and the agent lives in another.
        clicking = threading.Thread(
            target=question.answer, args=(Answer(question.options[0], by="you"),)
        )
        clicking.start()
        await cell.end()
        clicking.join()
        assert cell.kinds == [Asked, Answered, TurnEnded]
        assert cell.of(Answered)[0].answer.by == "you"


async def test_a_question_that_needs_no_person_is_answered_at_once() -> None:
    script = [PROMPTED, send(permission("q")), expect_response("q"), END_TURN]
    async with talking([*opening(), *script]) as talk:
        cell = talk.ask(lambda question: Answer(question.options[1], by="policy", why="so"))
        await cell.end()
        assert talk.wire.answers()["q"]["result"]["outcome"]["optionId"] == "no"
        assert cell.kinds == [Asked, Answered, TurnEnded]


async def test_a_question_after_the_end_of_its_turn_is_cancelled_at_once() -> None:
    end = answer("session/prompt", {"stopReason": "end_turn"}, permission("q"))
    async with talking([*opening(), PROMPTED, end, expect_response("q"), *turn()]) as talk:
        cell = await talk.turn()
        question = await cell.question()
        assert not question.open
        await talk.turn()
        assert talk.wire.answers()["q"]["result"] == {"outcome": {"outcome": "cancelled"}}


async def test_a_question_that_is_open_when_its_turn_ends_is_cancelled() -> None:
    script = [PROMPTED, send(permission("q")), END_TURN, expect_response("q"), *turn()]
    async with talking([*opening(), *script]) as talk:
        cell = await talk.turn()
        question = await cell.question()
        assert question.reply.result().by == "agent"
        assert cell.kinds == [Asked, Answered, TurnEnded]
        await talk.turn()


async def test_a_question_that_the_agent_takes_back_is_told_as_such() -> None:
    withdrawal = {"method": "$/cancel_request", "params": {"requestId": "q"}}
    script = [PROMPTED, send(permission("q")), send(withdrawal), expect_response("q"), END_TURN]
    async with talking([*opening(), *script]) as talk:
        cell = await talk.turn()
        assert cell.kinds == [Asked, Answered, TurnEnded]
        assert cell.of(Answered)[0].answer.by == "agent"


async def test_a_question_of_a_dead_agent_is_closed() -> None:
    async with talking([*opening(), PROMPTED, send(permission("q")), leave(1)]) as talk:
        cell = talk.ask()
        question = await cell.question()
        assert isinstance(await cell.error(), AgentExited)
        assert not question.open
        assert cell.kinds == [Asked, Answered, TurnBroken]


# -- models and modes


def models(current: str, **fields: Any) -> dict[str, Any]:
    values = [{"value": "m1", "name": "Model One"}, {"value": "m2", "name": "Model Two"}]
    option = {"id": "model", "category": "model", "currentValue": current, "options": values}
    return {"configOptions": [option], **fields}


MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "auto", "name": "Auto"}],
}
SET = "session/set_config_option"
M1_IS_CHOSEN = [expect(SET), answer(SET, models("m1"))]
M2_IS_CHOSEN = [expect(SET), answer(SET, models("m2"))]
SET_MODE = [expect("session/set_mode"), answer("session/set_mode", {})]


async def test_a_model_is_chosen_by_id_or_name() -> None:
    async with talking([*opening(**models("m1")), *M2_IS_CHOSEN, *M1_IS_CHOSEN, *turn()]) as talk:
        assert await talk.conversation.choose("model", "model two") == "Model Two"
        assert await talk.conversation.choose("model", "M1") == "Model One"
        await talk.turn()
        assert [f["params"]["value"] for f in talk.wire.sent(SET)] == ["m2", "m1"]
        assert talk.conversation.choices["model"].current == "m1"


async def test_a_choice_that_does_not_exist_names_the_nearest() -> None:
    async with talking([*opening(**models("m1"))]) as talk:
        with pytest.raises(CommandError, match=r"There is no model 'm22'\. Nearest: m2"):
            await talk.conversation.choose("model", "m22")
        with pytest.raises(CommandError, match="Scripted agent offers no choice of mode"):
            await talk.conversation.choose("mode", "auto")
        assert talk.wire.sent(SET) == []


@pytest.mark.parametrize(
    ("loaded", "is_chosen_again"),
    [(models("m1"), True), (None, True), ({}, True), (models("m2"), False)],
    ids=["config lost", "told nothing", "told too little", "kept"],
)
async def test_what_was_chosen_is_chosen_again_after_a_restart(
    loaded: Any, is_chosen_again: bool
) -> None:
    again = [LOAD, answer("session/load", loaded), *(M2_IS_CHOSEN if is_chosen_again else [])]
    first = [*opening(**models("m1")), *M2_IS_CHOSEN, PROMPTED, leave(1)]
    async with talking(first, [*hello(), *again, *turn("fine")]) as talk:
        await talk.conversation.choose("model", "m2")
        await talk.ask().error()
        assert (await talk.turn()).text == "fine"
        methods = [SET] if is_chosen_again else []
        assert talk.wire.methods() == [*("initialize", "session/load", *methods, "session/prompt")]
        assert talk.conversation.choices["model"].current == "m2"


async def test_what_was_chosen_is_chosen_again_in_a_new_session() -> None:
    opened_twice = [*opening(modes=MODES), *SET_MODE, *new_session("s2", modes=MODES), *SET_MODE]
    async with talking([*opened_twice, *turn("fine", session="s2")]) as talk:
        assert await talk.conversation.choose("mode", "auto") == "Auto"
        talk.conversation.new_session()
        assert (await talk.turn()).text == "fine"
        assert [f["params"] for f in talk.wire.sent("session/set_mode")] == [
            {"sessionId": "s1", "modeId": "auto"},
            {"sessionId": "s2", "modeId": "auto"},
        ]


async def test_defaults_that_are_told_after_the_opening_do_not_undo_a_choice() -> None:
    first = [*opening(**models("m1")), *M2_IS_CHOSEN, PROMPTED, leave(1)]
    defaults = update("s1", "config_option_update", **models("m1"))
    second = [*hello(), LOAD, send(defaults), answer("session/load", {}, defaults), *M2_IS_CHOSEN]
    async with talking(first, [*second, *turn("fine")]) as talk:
        await talk.conversation.choose("model", "m2")
        await talk.ask().error()
        assert (await talk.turn()).text == "fine"
        assert len(talk.wire.sent(SET)) == 1


async def test_a_mode_that_the_agent_leaves_is_left() -> None:
    leaves = send(update("s1", "current_mode_update", currentModeId="ask"))
    script = [*opening(modes=MODES), *SET_MODE, PROMPTED, leaves, END_TURN, *turn("two")]
    async with talking(script) as talk:
        await talk.conversation.choose("mode", "auto")
        assert (await talk.turn()).notices == ["The agent has changed to mode Ask."]
        assert (await talk.turn()).notices == []
        assert talk.conversation.choices["mode"].current == "ask"
        assert len(talk.wire.sent("session/set_mode")) == 1


async def test_a_choice_that_is_refused_is_an_error_and_forgotten() -> None:
    refused = [expect(SET), fail(SET, -32602, "Invalid params", {"message": "not on this plan"})]
    async with talking([*opening(**models("m1")), *refused, *turn()]) as talk:
        with pytest.raises(RequestFailed, match="not on this plan"):
            await talk.conversation.choose("model", "m2")
        await talk.turn()
        assert len(talk.wire.sent(SET)) == 1
        assert talk.conversation.choices["model"].current == "m1"


async def test_a_choice_that_cannot_be_made_again_is_said_once() -> None:
    first = [*opening(**models("m1")), *M2_IS_CHOSEN, PROMPTED, leave(1)]
    refused = [expect(SET), fail(SET, -32602, "no such model")]
    second = [*hello(), LOAD, answer("session/load", models("m1")), *refused]
    second += [*turn("one"), *turn("two")]
    async with talking(first, second) as talk:
        await talk.conversation.choose("model", "m2")
        await talk.ask().error()
        cell = await talk.turn()
        assert "The model m2 could not be set: no such model (-32602)" in cell.notices
        assert (await talk.turn()).notices == []
        assert len(talk.wire.sent(SET)) == 1


# -- another process

DIES = [*BEGUN, scripted.to_stderr("panic\n"), leave(3)]
DIED = "A new agent process was started: the agent has ended (exit status 3)."


async def test_after_a_death_the_next_prompt_starts_and_loads() -> None:
    replay = [chunk("up"), update("s1", "tool_call", toolCallId="old", status="completed")]
    second = [*hello(), LOAD, send(*replay), answer("session/load", None), *turn("remembered")]
    async with talking([*opening(), *DIES], second) as talk:
        cell = talk.ask()
        error = await cell.error()
        assert isinstance(error, AgentExited)
        assert (error.status, error.stderr) == (3, "panic")
        assert cell.text == "up"
        cell = await talk.turn()
        assert cell.text == "remembered"
        assert cell.of(ToolCallUpdate) == []
        assert cell.notices == [DIED]
        assert talk.wire.sent("session/load")[0]["params"]["sessionId"] == "s1"


async def test_a_prompt_that_waits_while_the_agent_dies_is_sent_to_the_next() -> None:
    second = [*hello(), *LOADED, *turn("two")]
    async with talking([*opening(), *DIES], second) as talk:
        first, waiting = talk.ask(), talk.ask()
        await first.error()
        await waiting.end()
        assert waiting.text == "two"
        assert waiting.notices == [DIED]


async def test_an_agent_that_dies_between_turns_is_replaced_and_it_is_said() -> None:
    async with talking([*opening(), *turn("one")], [*hello(), *LOADED, *turn("two")]) as talk:
        await talk.turn()
        engine = talk.conversation.engine
        assert engine is not None
        os.kill(talk.pid, signal.SIGKILL)
        await engine.wait_lost()
        cell = await talk.turn()
        assert cell.text == "two"
        assert cell.notices == [
            "A new agent process was started: the agent has ended (signal SIGKILL)."
        ]


async def test_a_death_that_the_loop_was_not_told_of_yet_is_noticed() -> None:
    async with talking([*opening(), *turn("one")], [*hello(), *LOADED, *turn("two")]) as talk:
        await talk.turn()
        pid = talk.pid
        os.kill(pid, signal.SIGKILL)
        assert happens_within(30, lambda: not is_alive(pid))  # meanwhile the loop stands still
        cell = await talk.turn()
        assert cell.text == "two"
        assert len(talk.wire.sent("session/prompt")) == 1


@pytest.mark.parametrize(
    ("refusal", "why"),
    [
        (fail("session/load", -32002, "Resource not found"), "Resource not found (-32002)."),
        (fail("session/load", -32000, "Session not found"), "Session not found (-32000)."),
        (fail("session/load", -32601, "Method not found"), "Method not found (-32601)."),
        (
            fail(
                "session/load", -32603, "Internal error", {"details": "Invalid session id 7.\n x"}
            ),
            "Internal error (-32603): Invalid session id 7.",
        ),
        (scripted.respond("session/load", error="odd"), "odd (-32603)."),
    ],
    ids=["codex", "RC01", "cannot load at all", "gemini", "a string"],
)
@pytest.mark.report(43)
async def test_where_a_session_cannot_be_loaded_a_new_one_begins_and_it_is_said(
    refusal: Step, why: str
) -> None:
    second = [*hello(), LOAD, refusal, *new_session("s2"), *turn("fine", session="s2")]
    async with talking([*opening(), *DIES], [*second, *turn("2", session="s2")]) as talk:
        await talk.ask().error()
        cell = await talk.turn()
        assert cell.text == "fine"
        assert cell.notices == [
            DIED,
            f"The earlier session could not be loaded: {why} {NOT_REMEMBERED}",
        ]
        assert talk.conversation.session_id == "s2"
        assert (await talk.turn()).notices == []


@pytest.mark.report(45)
async def test_a_load_that_is_never_answered_ends_in_a_new_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sessions.SILENCE, "session/load", 0.2)
    late = [LOAD, *new_session("s2"), PROMPTED, answer("session/load", {}), send(chunk("x", "s2"))]
    async with talking([*opening(), *DIES], [*hello(), *late, END_TURN]) as talk:
        await talk.ask().error()
        cell = await talk.turn()
        assert cell.text == "x"
        assert "not a word in 0.2 s" in cell.notices[1]
        assert talk.conversation.session_id == "s2"


async def test_an_agent_that_dies_of_loading_is_not_asked_to_load_again() -> None:
    dies_of_it = [*hello(), LOAD, leave(4)]
    third = [*hello(), *new_session("s2"), *turn("fine", session="s2")]
    async with talking([*opening(), *DIES], dies_of_it, third) as talk:
        await talk.ask().error()
        error = await talk.ask().error()
        assert isinstance(error, AgentExited)
        assert error.status == 4
        cell = await talk.turn()
        assert cell.text == "fine"
        assert NOT_REMEMBERED in cell.notices[-1]


async def test_a_question_in_a_replay_is_refused() -> None:
    asks = [LOAD, send(permission("q")), expect_response("q"), answer("session/load", {})]
    async with talking([*opening(), *DIES], [*hello(), *asks, *turn("fine")]) as talk:
        await talk.ask().error()
        cell = await talk.turn()
        assert cell.of(Asked) == []
        assert talk.wire.answers()["q"]["result"] == {"outcome": {"outcome": "cancelled"}}


async def test_a_new_session_is_one_that_remembers_nothing() -> None:
    told = send(update("s1", "session_info_update", title="Old"))
    script = [*opening(), told, *turn("one"), *new_session("s2"), *turn("two", session="s2")]
    async with talking(script) as talk:
        await talk.turn()
        talk.conversation.new_session()
        assert (talk.conversation.session_id, talk.conversation.title) == (None, None)
        cell = await talk.turn()
        assert (cell.text, cell.notices) == ("two", [])
        assert talk.conversation.session_id == "s2"


async def test_the_late_end_of_an_old_process_does_not_touch_the_new_one() -> None:
    # It closes its output and so is lost, but lives until TERM.
    stays = [ignore("EOF"), *opening(), PROMPTED, scripted.close("stdout")]
    second = [*hello(), *LOADED, *turn("two"), *turn("three")]
    async with talking([*stays, scripted.pause()], second) as talk:
        await talk.ask().error()
        (farewell,) = talk.conversation._processes._farewells
        assert (await talk.turn()).text == "two"
        pid = talk.pid
        await farewell
        cell = await talk.turn()
        assert (cell.text, cell.notices, talk.pid) == ("three", [], pid)


TRAFFIC = Path(__file__).parent / "agents" / "traffic"


async def test_a_replay_that_comes_after_the_answer_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = (TRAFFIC / "gemini-cli-load.jsonl").read_text("utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    frames = [e["msg"] for e in entries if e["dir"] == "a2c" and e["t"] > 2.65]
    history = [frame for frame in frames if frame.get("method") == "session/update"]
    session = history[0]["params"]["sessionId"]
    (at,) = [i for i, frame in enumerate(frames) if frame.get("id") == 4]
    before, late = frames[:at], [f for f in frames[at + 1 :] if "method" in f]
    resumed = [f for f in late if f["params"]["update"].get("content", {}).get("text") == "resumed"]
    late = late[: late.index(resumed[0])]
    assert len(late) > 20
    script = [LOAD, send(*before), answer("session/load", frames[at]["result"]), send(*late)]
    first = [*hello(), *new_session(session), *BEGUN, leave(3)]
    first[-2] = send(chunk("up", session))
    async with talking(first, [*hello(), *script, PROMPTED, send(*resumed), END_TURN]) as talk:
        hello_and_answer = 2
        talk.is_quiet_after(hello_and_answer + len(before) + len(late), monkeypatch)
        await talk.ask().error()
        cell = await talk.turn()
        assert cell.text == "resumed"
        assert [e for e in cell.events if isinstance(e, TextChunk)] == [
            TextChunk("agent", "resumed")
        ]
        assert len(talk.conversation.commands) > 3  # what came with it is known all the same


# -- Stop


@pytest.mark.usefixtures("patient_stop")
async def test_an_agent_that_honours_cancel_stays() -> None:
    script = [*BEGUN, expect("session/cancel"), send(chunk(" and out")), CANCELLED]
    async with talking([*opening(), *script, *turn("two")]) as talk:
        cell = talk.ask()
        await cell.words("up")
        pid = talk.pid
        await cell.stop()
        assert talk.conversation.rungs == AT_CANCEL
        assert await cell.end() == TurnEnded("cancelled")
        assert cell.text == "up and out"
        second = await talk.turn()
        assert (second.text, second.notices, talk.pid) == ("two", [], pid)
        assert talk.wire.methods() == [
            *("initialize", "session/new", "session/prompt", "session/cancel", "session/prompt")
        ]


@pytest.mark.parametrize(
    "ending",
    [
        answer("session/prompt", {"stopReason": "end_turn"}),
        fail("session/prompt", -32800, "Request cancelled"),
        fail("session/prompt", -32603, "Internal error", {"details": "context canceled"}),
        leave(1),
    ],
    ids=["end_turn", "-32800", "-32603", "it dies"],
)
@pytest.mark.usefixtures("patient_stop")
async def test_a_turn_that_was_stopped_is_never_broken(ending: Step) -> None:
    script = [*BEGUN, expect("session/cancel"), ending]
    async with talking([*opening(), *script]) as talk:
        cell = talk.ask()
        await cell.words("up")
        await cell.stop()
        assert cell.of(TurnBroken) == []


@pytest.mark.usefixtures("patient_stop")
async def test_the_words_of_a_cancelled_engine_are_not_the_agents() -> None:
    leaks = [
        "context canceled",
        "The request was cancelled by the client.",
        "context canceledThe request was cancelled by the client.\n",
    ]
    late = answer("session/prompt", {"stopReason": "cancelled"}, chunk(leaks[0]), chunk("!"))
    script = [*BEGUN, expect("session/cancel"), send(*map(chunk, leaks)), late]
    quotes = turn("It said: context canceled")
    async with talking([*opening(), *script, *quotes]) as talk:
        cell = talk.ask()
        await cell.words("up")
        await cell.stop()
        await cell.words("!")
        assert cell.text == "up!"
        assert (await talk.turn()).text == "It said: context canceled"


@pytest.mark.report(24)
@pytest.mark.usefixtures("patient_stop")
async def test_questions_are_cancelled_by_stop_those_that_come_after_it_too() -> None:
    script = [
        *(PROMPTED, send(permission("q1", "c1"), permission("q2", "c2"))),
        *(expect("session/cancel"), expect_response("q1"), expect_response("q2")),
        *(send(permission("q3", "c3")), expect_response("q3"), CANCELLED),
    ]
    async with talking([*opening(), *script]) as talk:
        cell = talk.ask()
        await cell.question("c1")
        await cell.question("c2")
        await cell.stop()
        assert talk.conversation.rungs == AT_CANCEL
        answers = talk.wire.answers()
        assert sorted(answers) == ["q1", "q2", "q3"]
        for frame in answers.values():
            assert frame["result"] == {"outcome": {"outcome": "cancelled"}}
        assert [event.answer.by for event in cell.of(Answered)] == ["stop"] * 3
        assert isinstance(cell.events[-1], TurnEnded)


@pytest.mark.usefixtures("patient_stop")
async def test_stop_twice_is_stop_once_and_stop_while_idle_is_nothing() -> None:
    script = [*BEGUN, expect("session/cancel"), CANCELLED]
    async with talking([*opening(), *script, *turn("two")]) as talk:
        cell = talk.ask()
        await cell.words("up")
        await asyncio.gather(cell.stop(), cell.stop(), cell.stop())
        await cell.stop()
        second = await talk.turn()
        await second.stop()
        assert len(talk.wire.sent("session/cancel")) == 1
        assert await second.end() == TurnEnded("end_turn")


async def test_stop_during_the_start_ends_the_process_and_sends_nothing() -> None:
    async with talking([ignore("EOF"), hold()], [*opening(), *turn("fine")]) as talk:
        cell = talk.ask()
        await talk.until_sent("initialize")
        assert await cell.stop() < SOON
        assert await cell.end() == TurnEnded("cancelled")
        assert processes_left() == set()
        assert talk.wire.methods() == ["initialize"]
        cell = await talk.turn()
        assert (cell.text, cell.notices) == ("fine", [])


async def test_stop_while_the_session_opens_sends_nothing_and_keeps_the_agent() -> None:
    opens = [NEW, *new_session("s2"), *turn("fine", session="s2")]
    async with talking([*hello(), *opens]) as talk:
        cell = talk.ask()
        await talk.until_sent("session/new")
        assert await cell.stop() < SOON
        assert talk.wire.methods() == ["initialize", "session/new"]
        assert (await talk.turn()).text == "fine"
        assert len(talk.wires) == 1


async def test_stop_while_a_session_loads_lets_the_next_prompt_load_it() -> None:
    second = [*hello(), LOAD, send(chunk("history")), *LOADED, *turn("fine")]
    async with talking([*opening(), *DIES], second) as talk:
        await talk.ask().error()
        cell = talk.ask()
        await talk.until_sent("session/load", start=2)
        assert await cell.stop() < SOON
        assert cell.text == ""
        cell = await talk.turn()
        assert (cell.text, cell.notices) == ("fine", [DIED])
        assert talk.wire.methods()[1:3] == ["session/load", "session/load"]


@pytest.mark.usefixtures("patient_stop")
async def test_stop_of_a_prompt_that_waits_sends_nothing() -> None:
    script = [*BEGUN, expect("session/cancel"), CANCELLED]
    async with talking([*opening(), *script]) as talk:
        first, waiting = talk.ask(), talk.ask()
        await first.words("up")
        assert await waiting.stop() < SOON
        assert waiting.events == [TurnEnded("cancelled")]
        assert talk.wire.sent("session/cancel") == []
        await first.stop()
        assert len(talk.wire.sent("session/prompt")) == 1


async def test_stop_right_after_the_prompt_sends_nothing_and_leaves_nothing() -> None:
    async with talking([*opening(), *turn()]) as talk:
        cell = talk.ask()
        await cell.stop()
        assert cell.kinds == [TurnEnded]
        assert await cell.end() == TurnEnded("cancelled")
        assert processes_left() == set()
        assert talk.wire.sent("session/prompt") == []


# -- the ladder

TIMES = {
    "session/cancel": 0.0,
    "$/cancel_request": 1.5,
    "session/close": 2.5,
    "TERM": 3.5,
    "KILL": 4.5,
}


class Hasty(asyncio.SelectorEventLoop):
    """A loop whose time passes at once where nothing is to be done."""

    now = 0.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        timers: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        if timers and not self._ready:  # type: ignore[attr-defined]
            self.now = max(self.now, timers[0].when())
        super()._run_once()  # type: ignore[misc]


class Deaf:
    """An engine whose turn never ends, and the times at which it was told to end it."""

    def __init__(self) -> None:
        self.told: list[tuple[str, float]] = []

    def _take(self, name: str) -> None:
        self.told.append((name, round(asyncio.get_running_loop().time(), 6)))

    def cancel(self, _: str) -> None:
        self._take("session/cancel")

    def cancel_request(self, _: str) -> None:
        self._take("$/cancel_request")

    async def close_session(self, _: str) -> None:
        self._take("session/close")
        await asyncio.Event().wait()

    def terminate(self) -> None:
        self._take("TERM")

    def kill(self) -> None:
        self._take("KILL")


def test_each_rung_is_taken_in_its_time_and_then_it_is_over() -> None:
    engine = Deaf()

    async def stopped() -> tuple[str, float]:
        taken = await climb(Turn(lambda _: None), cast(Engine, engine), "s1")
        return taken, asyncio.get_running_loop().time()

    with asyncio.Runner(loop_factory=Hasty) as runner:
        taken, end = runner.run(stopped())
    assert engine.told == list(TIMES.items())
    assert taken == KILL.name
    assert end == pytest.approx(4.9)


async def climbed(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> tuple[Cell, list[str]]:
    """Stop a turn; returns its cell, and the rungs that were taken."""
    cell = talk.ask()
    await cell.words("up")
    wire, engine = talk.wire, talk.conversation.engine
    assert engine is not None
    signals: list[str] = []
    for name, send_signal in (("TERM", engine.terminate), ("KILL", engine.kill)):

        def noted(name: str = name, send_signal: Callable[[], None] = send_signal) -> None:
            signals.append(name)
            send_signal()

        monkeypatch.setattr(engine, send_signal.__name__, noted)
    await cell.stop()
    assert await cell.end() == TurnEnded("cancelled")
    return cell, [method for method in wire.methods() if method in TIMES] + signals


Monkey = pytest.MonkeyPatch


async def ends_at_cancel_request(monkeypatch: Monkey) -> None:
    script = [*BEGUN, expect("$/cancel_request"), fail("session/prompt", -32800, "Cancelled")]
    async with talking([*opening(), *script, *turn("two")]) as talk:
        _, rungs = await climbed(talk, monkeypatch)
        assert rungs == list(TIMES)[:2]
        prompt = talk.wire.sent("session/prompt")[0]
        (cancel_request,) = talk.wire.sent("$/cancel_request")
        assert cancel_request["params"] == {"requestId": prompt["id"]}
        second = await talk.turn()
        assert (second.text, second.notices, len(talk.wires)) == ("two", [], 1)
        assert talk.wire.sent("session/load") == []


async def ends_at_close(monkeypatch: Monkey) -> None:
    close = expect("session/close"), CANCELLED, answer("session/close", {})
    async with talking([*opening(), *BEGUN, *close, *LOADED, *turn("two")]) as talk:
        _, rungs = await climbed(talk, monkeypatch)
        assert rungs == list(TIMES)[:3]
        second = await talk.turn()
        assert (second.text, len(talk.wires)) == ("two", 1)
        assert second.notices == ["The last turn ended only when its session was closed."]
        assert talk.wire.methods()[-2:] == ["session/load", "session/prompt"]


async def ends_slowly_and_refuses_to_close(monkeypatch: Monkey) -> None:
    close = expect("session/close"), fail("session/close", -32601, "Method not found"), CANCELLED
    async with talking([*opening(), *BEGUN, *close, *turn("two")]) as talk:
        _, rungs = await climbed(talk, monkeypatch)
        assert rungs == list(TIMES)[:3]
        second = await talk.turn()
        # Its session was not closed, so there is nothing to load and nothing to say.
        assert (second.text, second.notices) == ("two", [])
        assert talk.wire.sent("session/load") == []


async def ends_at_term(monkeypatch: Monkey) -> None:
    second = [*hello(), *LOADED, *turn("two")]
    async with talking([*opening(), *BEGUN, ignore("EOF"), hold()], second) as talk:
        _, rungs = await climbed(talk, monkeypatch)
        assert rungs == list(TIMES)[:4]
        cell = await talk.turn()
        assert cell.text == "two"
        assert cell.notices == [
            "The last turn did not stop when asked to, so the agent was ended (SIGTERM)."
        ]


async def ends_at_kill(monkeypatch: Monkey) -> None:
    deaf = [ignore("EOF"), ignore("TERM"), spawn(own_session=True, deaf=True)]
    second = [*hello(), *LOADED, *turn("two")]
    async with talking([*deaf, *opening(), *BEGUN, hold()], second) as talk:
        cell, rungs = await climbed(talk, monkeypatch)
        assert rungs == list(TIMES)
        assert cell.text == "up"
        cell = await talk.turn()
        assert cell.text == "two"
        assert cell.notices == [
            "The last turn did not stop when asked to, so the agent was ended (SIGKILL)."
        ]


@pytest.mark.parametrize(
    ("ends", "rung"),
    [
        (ends_at_cancel_request, CANCEL_REQUEST),
        (ends_at_close, CLOSE),
        (ends_slowly_and_refuses_to_close, CLOSE),
        (ends_at_term, TERMINATE),
        (ends_at_kill, KILL),
    ],
)
async def test_a_turn_ends_at_the_rung_that_its_agent_needs_and_the_next_cell_works(
    ends: Callable[[Monkey], Awaitable[None]], rung: Rung, monkeypatch: Monkey
) -> None:
    stops_end_at(rung, monkeypatch)
    await ends(monkeypatch)


# -- the end of it all


async def test_closing_what_never_began_is_nothing() -> None:
    async with talking() as talk:
        await talk.conversation.close()


async def test_closing_ends_the_turn_the_question_and_whoever_waits() -> None:
    script = [PROMPTED, send(permission("q")), hold()]
    async with talking([*opening(), *script]) as talk:
        cell, waiting = talk.ask(), talk.ask()
        question = await cell.question()
        await talk.conversation.close()
        assert cell.of(TurnEnded) == waiting.of(TurnEnded) == [TurnEnded("cancelled")]
        assert not question.open
        assert processes_left() == set()


async def test_closing_during_the_start_ends_the_process() -> None:
    async with talking([hold()]) as talk:
        cell = talk.ask()
        await talk.until_sent("initialize")
        await talk.conversation.close()
        assert await cell.end() == TurnEnded("cancelled")
        assert processes_left() == set()


async def test_closing_waits_for_the_end_of_an_agent_that_was_lost_before() -> None:
    stays = [ignore("EOF"), *opening(), PROMPTED, scripted.close("stdout")]
    async with talking([*stays, scripted.pause()]) as talk:
        await talk.ask().error()
        assert processes_left() != set()
        await talk.conversation.close()
        assert processes_left() == set()


# -- codex, which puts its commands into process groups and sessions of their own


@pytest.mark.real_agent
@pytest.mark.usefixtures("patient_stop")
@pytest.mark.parametrize("how", ["stop", "close", "kill"])
async def test_what_codex_runs_ends_with_its_turn_or_with_it(how: str, tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    prompt = SCRIPTS["codex"].run_command("touch started; sleep 600 & sleep 600")
    with ModelEndpoint() as endpoint:
        agent = real.codex(home, endpoint)
        launch = Launch("codex", agent.argv, agent.env)
        conversation = Conversation(
            lambda on_event: Connection(launch, str(work), on_event), str(work), "codex"
        )
        cell = Cell(conversation, lambda question: Answer(question.options[0], by="test"), prompt)
        await becomes_true((work / "started").exists)
        await becomes_true(lambda: len(sleepers(processes_left())) == 2)
        running = processes_left()
        if how == "stop":
            await cell.stop()
            assert list(conversation.rungs.values()) == ["session/cancel"]
        elif how == "kill":
            assert conversation.engine is not None
            assert conversation.engine.pid is not None
            os.kill(conversation.engine.pid, signal.SIGKILL)
            assert isinstance(await cell.error(), AgentExited)
        # Whether codex ends a command with its turn is a race of its own, which a busy machine
        # decides; with codex itself it ends in any case.
        if how == "kill":
            await becomes_true(lambda: commands(running) == set())
        await conversation.close()
        assert processes_left() == set()


async def becomes_true(condition: Callable[[], bool]) -> None:
    # There is no event for what a stranger's process does.
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def commands(pids: set[int]) -> set[int]:
    """Those of the processes that are commands of the test, and still run."""
    return {pid for pid in pids & processes_left() if b"sleep" in command_line(pid)}


def sleepers(pids: set[int]) -> set[int]:
    return {pid for pid in pids if command_line(pid).startswith(b"sleep\0")}


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


# -- the thread that it all lives in


def test_work_runs_in_a_thread_of_its_own_until_that_is_closed() -> None:
    thread = AgentThread()

    async def who() -> str:
        return threading.current_thread().name

    for _ in range(2):
        assert thread.submit(who()).result(30) == "agy agent"
        waiting = thread.submit(asyncio.Event().wait())
        thread.close()
        with pytest.raises(CancelledError):
            waiting.result(30)
        thread.close()
