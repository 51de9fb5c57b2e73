"""Sessions that outlive their processes and kernels: opened again, lost, listed, let go."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from agy_kernel.abilities import Capabilities
from agy_kernel.acp import sessions as acp_sessions
from agy_kernel.acp.servers import as_params
from agy_kernel.conversation.history import History, Said, history
from agy_kernel.conversation.known import GREETING
from agy_kernel.conversation.ladder import CANCEL, KILL, TERMINATE, ladder
from agy_kernel.conversation.transcript import Transcript, fold
from agy_kernel.errors import AgentStartFailed, CommandError, RequestFailed
from agy_kernel.events import (
    Event,
    Notice,
    Replayed,
    SessionInfo,
    TextChunk,
    ToolCallUpdate,
    TurnEnded,
)
from agy_kernel.mcp import McpServer
from tests.agents.scripted import (
    Step,
    answer,
    chunk,
    expect,
    fail,
    hello,
    hold,
    ignore,
    leave,
    new_session,
    opening,
    send,
    turn,
    update,
)
from tests.support.cells import (
    patient_stop,  # noqa: F401
    stops_end_at,
    talking,
)
from tests.support.connections import started
from tests.support.leaks import nothing_is_left  # noqa: F401

NOT_REMEMBERED = "This is a new one: the agent does not remember what was said before."
PROMPTED = expect("session/prompt")
END_TURN = answer("session/prompt", {"stopReason": "end_turn"})


def can(*methods: str, **fields: Any) -> list[Step]:
    """Say hello, and that one has these session methods."""
    named: dict[str, Any] = {"sessionCapabilities": {name: {} for name in methods}}
    return hello(agentCapabilities={"loadSession": True, **named, **fields})


def asked(method: str, result: Any = None) -> list[Step]:
    return [expect(method), answer(method, result)]


def refused(method: str, code: int = -32602, message: str = "no such session") -> list[Step]:
    return [expect(method), fail(method, code, message)]


# -- the way back: resume, load, new


async def test_a_session_of_an_earlier_kernel_is_resumed() -> None:
    script = [*can("resume"), *asked("session/resume", {}), *turn("on")]
    async with talking(script, session_id="s1") as talk:
        cell = await talk.turn()
        assert (cell.text, cell.notices) == ("on", [GREETING])
        assert talk.wire.methods() == ["initialize", "session/resume", "session/prompt"]
        assert talk.conversation.session_id == "s1"


@pytest.mark.parametrize(
    ("steps", "failures"),
    [
        (
            [*refused("session/resume"), *asked("session/load", {}), *turn("on")],
            [],
        ),
        (
            [*refused("session/resume"), *refused("session/load", -32603, "broken")],
            [
                "The earlier session could not be resumed: no such session (-32602).",
                f"The earlier session could not be loaded: broken (-32603). {NOT_REMEMBERED}",
            ],
        ),
    ],
    ids=["resume, load", "resume, load, new"],
)
async def test_each_way_back_is_tried_and_each_failure_is_a_line(
    steps: list[Step], failures: list[str]
) -> None:
    ends = [*new_session("s2"), *turn("anew", session="s2")] if failures else []
    async with talking([*can("resume"), *steps, *ends], session_id="s1") as talk:
        cell = await talk.turn()
        assert cell.notices == (failures or [GREETING])
        assert cell.text == ("anew" if failures else "on")


async def test_a_method_that_is_unknown_is_not_tried_again() -> None:
    first = [*can("resume"), *refused("session/resume", -32601, "Method not found")]
    again = [*can("resume"), *asked("session/load", {}), *turn("two")]
    script = [*first, *asked("session/load", {}), *turn("one"), leave(1)]
    async with talking(script, again, session_id="s1") as talk:
        await talk.turn()
        await talk.conversation.engine.wait_lost()  # type: ignore[union-attr]
        assert (await talk.turn()).text == "two"
        assert talk.wire.methods()[:2] == ["initialize", "session/load"]


async def test_a_way_back_that_is_never_answered_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(acp_sessions, "SHORT_SILENCE", 0.2)
    script = [*can("resume"), expect("session/resume"), *asked("session/load", {}), *turn("on")]
    async with talking(script, session_id="s1") as talk:
        assert (await talk.turn()).text == "on"


@pytest.mark.parametrize("result", [None, {}, {"sessionId": "s1"}, [], "text"], ids=str)
async def test_a_load_may_be_answered_with_next_to_nothing(result: Any) -> None:
    script = [*hello(), *asked("session/load", result), *turn("on")]
    async with talking(script, session_id="s1") as talk:
        assert (await talk.turn()).text == "on"


# -- a session that was opened again, but is lost

LOST = f"The session did not answer after it was opened again. {NOT_REMEMBERED}"
EMPTY = [PROMPTED, END_TURN]
REFUSED = [PROMPTED, answer("session/prompt", {"stopReason": "refusal"})]


@pytest.mark.parametrize(
    "first",
    [
        EMPTY,
        REFUSED,
        refused("session/prompt"),
        refused("session/prompt", -32603, "could not find doneCh for checkpoint"),
    ],
    ids=["empty", "refusal", "invalid params", "checkpoint"],
)
async def test_a_first_answer_of_nothing_means_lost_and_the_prompt_goes_to_a_new_session(
    first: Sequence[Step],
) -> None:
    new = [*new_session("s2"), *turn("anew", session="s2")]
    script = [*hello(), *asked("session/load", {}), *first, *new, *turn("two", session="s2")]
    async with talking(script, session_id="s1") as talk:
        cell = await talk.turn()
        assert cell.text == "anew"
        assert cell.notices == [GREETING, LOST]
        assert await cell.end() == TurnEnded("end_turn")
        sent = talk.wire.sent("session/prompt")
        assert [frame["params"]["sessionId"] for frame in sent] == ["s1", "s2"]
        assert (await talk.turn()).notices == []


async def test_a_model_that_cannot_be_reached_costs_no_session() -> None:
    script = [*hello(), *asked("session/load", {})]
    script += [*refused("session/prompt", -32603, "model unreachable: EOF"), *turn("on")]
    async with talking(script, session_id="s1") as talk:
        assert isinstance(await talk.ask().error(), RequestFailed)
        assert talk.conversation.session_id == "s1"
        assert (await talk.turn()).text == "on"


async def test_an_empty_answer_is_no_loss_in_a_session_that_was_well() -> None:
    async with talking([*opening(), *turn("one"), *EMPTY, *EMPTY]) as talk:
        for _ in range(3):
            assert await (await talk.turn()).end() == TurnEnded("end_turn")
        assert talk.conversation.session_id == "s1"


@pytest.mark.report(57)
@pytest.mark.usefixtures("patient_stop")
async def test_a_session_that_a_stop_has_poisoned_is_replaced() -> None:
    cancelled = [PROMPTED, send(chunk("up")), expect("session/cancel")]
    cancelled.append(answer("session/prompt", {"stopReason": "cancelled"}))
    panic = refused("session/prompt", -32603, "could not find doneCh for checkpoint")
    script = [*opening(), *cancelled, *panic, *new_session("s2"), *turn("anew", session="s2")]
    async with talking(script) as talk:
        cell = talk.ask()
        await cell.words("up")
        await cell.stop()
        cell = await talk.turn()
        assert cell.text == "anew"
        lost = "The session did not answer after the turn before it had to be stopped."
        assert cell.notices == [f"{lost} {NOT_REMEMBERED}"]


# -- what was said before


def said(by: str, text: str, session: str = "s1") -> dict[str, Any]:
    return update(session, f"{by}_message_chunk", content={"type": "text", "text": text})


async def test_history_is_one_entry_and_no_part_of_the_answer() -> None:
    replay = [said("user", "Hi"), said("agent", "Hel"), said("agent", "lo"), said("user", "And?")]
    script = [*hello(), expect("session/load"), send(*replay), answer("session/load", {})]
    async with talking([*script, *turn("on")], session_id="s1") as talk:
        cell = await talk.turn()
        assert cell.text == "on"
        transcript = Transcript()
        for event in cell.events:
            transcript = fold(transcript, event)
        earlier = History((Said("you", "Hi"), Said("agent", "Hello"), Said("you", "And?")))
        assert [e for e in transcript.entries if isinstance(e, History)] == [earlier]
        assert transcript.text == "on"


async def test_history_that_this_notebook_shows_already_is_not_shown_again() -> None:
    again = [*hello(), expect("session/load"), send(said("user", "Hi")), answer("session/load", {})]
    async with talking([*opening(), *turn("one"), leave(1)], [*again, *turn("two")]) as talk:
        await talk.turn()
        await talk.conversation.engine.wait_lost()  # type: ignore[union-attr]
        assert not (await talk.turn()).of(Replayed)


def test_a_long_history_is_cut_at_its_beginning() -> None:
    events: list[Event] = [
        TextChunk("user" if n % 2 else "agent", f"{n} " + "x" * 1_000) for n in range(100)
    ]
    cut = history(events)
    assert len(cut.said) == 29
    assert cut.left_out == 71
    assert cut.said[-1].text.startswith("99 ")


def test_thoughts_are_no_history_and_tools_are_named_once() -> None:
    events: list[Event] = [
        TextChunk("thought", "hm"),
        TextChunk("agent", "A"),
        ToolCallUpdate("t", title="Run ls"),
        ToolCallUpdate("t", title="Run ls", status="completed"),
        TextChunk("agent", "B"),
    ]
    assert history(events).said == (Said("agent", "A"), Said("tool", "Run ls"), Said("agent", "B"))


# -- commands: resume, fork, list, close, delete


async def test_another_session_is_resumed_when_asked_for() -> None:
    replay = [said("user", "Earlier", "s0"), said("agent", "Yes", "s0")]
    load = [expect("session/load"), send(*replay), answer("session/load", {})]
    async with talking([*opening(), *turn("one"), *load, *turn("two", session="s0")]) as talk:
        await talk.turn()
        told = history(await talk.conversation.resume("s0"))
        assert told.said == (Said("you", "Earlier"), Said("agent", "Yes"))
        assert talk.conversation.session_id == "s0"
        cell = await talk.turn()
        assert (cell.text, cell.of(Replayed), cell.notices) == ("two", [], [])


async def test_a_session_that_cannot_be_resumed_leaves_the_one_that_is() -> None:
    back = [*asked("session/load", {}), *turn("two")]
    async with talking([*opening(), *turn("one"), *refused("session/load"), *back]) as talk:
        await talk.turn()
        with pytest.raises(CommandError, match=r"session s0 cannot be opened.*no such session"):
            await talk.conversation.resume("s0")
        assert talk.conversation.session_id == "s1"
        assert (await talk.turn()).text == "two"


async def test_a_fork_goes_on_in_a_copy() -> None:
    fork = asked("session/fork", {"sessionId": "s2"})
    async with talking([*opening(), *turn("one"), *fork, *turn("two", session="s2")]) as talk:
        await talk.turn()
        assert await talk.conversation.fork() == "s2"
        assert (await talk.turn()).text == "two"
        assert talk.wire.sent("session/fork")[0]["params"]["sessionId"] == "s1"


async def test_an_agent_without_fork_says_so() -> None:
    script = [*opening(), *refused("session/fork", -32601, "Method not found"), *turn("on")]
    async with talking(script) as talk:
        with pytest.raises(CommandError, match="Scripted agent cannot fork sessions"):
            await talk.conversation.fork()
        assert talk.conversation.session_id == "s1"
        assert (await talk.turn()).text == "on"


async def test_the_agent_s_own_list_is_read_page_by_page() -> None:
    pages = [
        {"sessions": [{"sessionId": "a", "cwd": "/", "title": "A"}, 5, {}], "nextCursor": "2"},
        {"sessions": [{"sessionId": "b", "updatedAt": "2026-11-30T10:00:00Z"}]},
    ]
    lists = [step for page in pages for step in asked("session/list", page)]
    async with talking([*can("list"), *lists]) as talk:
        assert await talk.conversation.sessions() == [
            SessionInfo("a", "/", "A"),
            SessionInfo("b", updated="2026-11-30T10:00:00Z"),
        ]
        cursors = [frame["params"].get("cursor") for frame in talk.wire.sent("session/list")]
        assert cursors == [None, "2"]


async def test_an_agent_that_keeps_no_list_is_not_asked_for_it() -> None:
    async with talking([*hello()]) as talk:
        assert await talk.conversation.sessions() is None


async def test_a_closed_session_is_let_go() -> None:
    script = [*opening(), *turn("one"), *asked("session/close", {}), *new_session("s2")]
    async with talking([*script, *turn("two", session="s2")]) as talk:
        await talk.turn()
        await talk.conversation.close_session()
        assert talk.conversation.session_id is None
        assert (await talk.turn()).text == "two"


async def test_a_deleted_session_is_gone() -> None:
    script = [*opening(), *turn("one"), *asked("session/delete", {}), *asked("session/delete")]
    async with talking([*script, *new_session("s2"), *turn("two", session="s2")]) as talk:
        await talk.turn()
        await talk.conversation.delete_session("s0")
        assert talk.conversation.session_id == "s1"
        await talk.conversation.delete_session("s1")
        assert (await talk.turn()).text == "two"


async def test_a_session_is_closed_when_the_kernel_ends_where_the_agent_can() -> None:
    new = [*can("close"), *new_session()]
    async with talking([*new, *turn("one"), expect("session/close"), hold()]) as talk:
        await talk.turn()
        wire = talk.wire
    assert wire.methods()[-1] == "session/close"


# -- options


def option(option_id: str, current: str, *values: str, **fields: str) -> dict[str, Any]:
    options = [{"value": value, "name": value.upper()} for value in values]
    return {"id": option_id, "type": "select", "currentValue": current, "options": options} | fields


SET = "session/set_config_option"


async def test_any_option_can_be_chosen_by_a_part_that_only_it_has() -> None:
    effort = option("reasoning", "low", "low", "medium", "high", category="thought_level")
    web = {"id": "web", "type": "boolean", "currentValue": False}
    script = opening(configOptions=[effort, web])
    for now in ({**effort, "currentValue": "high"}, {**web, "currentValue": True}):
        script += asked(SET, {"configOptions": [now]})
    async with talking(script) as talk:
        assert await talk.conversation.choose("effort", "hi") == "HIGH"
        assert await talk.conversation.choose("web", "On") == "On"
        assert [frame["params"] for frame in talk.wire.sent(SET)] == [
            {"sessionId": "s1", "configId": "reasoning", "value": "high"},
            {"sessionId": "s1", "configId": "web", "type": "boolean", "value": True},
        ]
        assert talk.conversation.wishes == {"effort": "high", "web": "on"}
        with pytest.raises(CommandError, match=r"'o' fits several: on, off\. Which web\?"):
            await talk.conversation.choose("web", "o")
        with pytest.raises(CommandError, match=r"no choice of colour\. It offers: effort, web"):
            await talk.conversation.choose("colour", "red")


async def test_a_wish_that_is_not_offered_any_more_is_said_once_and_kept() -> None:
    old, new = option("model", "a", "a", "b"), option("model", "c", "c")
    again = [*hello(), *asked("session/load", {"configOptions": [new]}), *turn("1"), *turn("2")]
    back = [*hello(), *asked("session/load", {"configOptions": [old]})]
    back += [*asked(SET, {"configOptions": [{**old, "currentValue": "b"}]}), *turn("3")]
    async with talking([*again, leave(1)], back, session_id="s1", wishes={"model": "b"}) as talk:
        cell = await talk.turn()
        (notice,) = [n for n in cell.notices if n != GREETING]
        assert notice.startswith("The model b could not be set: the agent does not offer it any")
        assert (await talk.turn()).notices == []
        assert talk.conversation.wishes == {"model": "b"}
        await talk.conversation.engine.wait_lost()  # type: ignore[union-attr]
        assert (await talk.turn()).text == "3"
        assert talk.conversation.choices["model"].current == "b"


# -- processes


async def test_an_agent_that_dies_three_times_in_a_row_is_not_started_again() -> None:
    dies = [*opening(), PROMPTED, leave(3)]
    again = [*hello(), *asked("session/load", {}), PROMPTED, leave(3)]
    fine = [*opening("s9"), *turn("fine", session="s9")]
    async with talking(dies, again, dies, fine) as talk:
        for _ in range(3):
            await talk.ask().error()
        error = await talk.ask().error()
        assert isinstance(error, AgentStartFailed)
        assert "has ended 3 times in a row" in str(error)
        assert "exit status 3" in str(error)
        assert len(talk.wires) == 3
        talk.conversation.new_session()
        assert (await talk.turn()).text == "fine"


async def test_a_turn_that_went_well_makes_up_for_deaths() -> None:
    dies = [*opening(), *turn("well"), PROMPTED, leave(3)]
    again = [*hello(), *asked("session/load", {}), *turn("well"), PROMPTED, leave(3)]
    async with talking(dies, again, again, again, again) as talk:
        for _ in range(4):
            assert (await talk.turn()).text == "well"
            await talk.ask().error()
        assert (await talk.turn()).text == "well"
        assert len(talk.conversation.restarts) == 4


async def test_a_restart_that_was_asked_for_is_said_and_keeps_the_session() -> None:
    again = [*hello(), *asked("session/load", {}), *turn("two")]
    async with talking([*opening(), *turn("one")], again) as talk:
        await talk.turn()
        await talk.conversation.restart()
        cell = await talk.turn()
        assert (cell.text, cell.notices) == ("two", ["The agent was started anew, as asked."])


# -- the ladder that is known


def test_of_an_agent_that_is_known_the_futile_rungs_are_left_out() -> None:
    assert [(rung.name, rung.at) for rung in ladder(TERMINATE.name)] == [
        (CANCEL.name, 0.0),
        (TERMINATE.name, 0.5),
        (KILL.name, 1.5),
    ]
    assert ladder(CANCEL.name) == ladder("") == ladder("unheard of")


async def test_the_rung_that_worked_is_taken_sooner_the_next_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stops_end_at(TERMINATE, monkeypatch)
    deaf = [PROMPTED, send(chunk("up")), ignore("EOF"), hold()]
    again = [*hello(), *asked("session/load", {}), *deaf]
    rungs: dict[str, str] = {}
    async with talking([*opening(), *deaf], again, rungs=rungs) as talk:
        for futile in (["$/cancel_request", "session/close"], []):
            cell = talk.ask()
            await cell.words("up")
            await cell.stop()
            sent = talk.wire.methods()
            assert sent[sent.index("session/prompt") + 1 :] == ["session/cancel", *futile]
            assert rungs == {"scripted 1": TERMINATE.name}


# -- MCP servers

SERVERS = {
    "nb": McpServer(command="serve", args=("--stdio",), env={"K": "v"}),
    "web": McpServer("http", url="https://h/x", headers={"A": "b"}),
    "old": McpServer("sse", url="https://h/y"),
}


def test_mcp_servers_are_sent_as_the_protocol_has_them() -> None:
    assert as_params(SERVERS, Capabilities(mcp_http=True)) == [
        {
            "name": "nb",
            "command": "serve",
            "args": ["--stdio"],
            "env": [{"name": "K", "value": "v"}],
        },
        {
            "type": "http",
            "name": "web",
            "url": "https://h/x",
            "headers": [{"name": "A", "value": "b"}],
        },
    ]


@pytest.mark.report(92)
async def test_the_user_s_mcp_servers_go_to_every_opening_and_dropped_ones_are_named() -> None:
    script = [*can(mcpCapabilities={"http": True}), *new_session(), *asked("session/load", {})]
    script += asked("session/fork", {"sessionId": "s2"})
    async with started(*script, servers=SERVERS) as it:
        await it.connection.open_session("new", "/w")
        await it.connection.open_session("load", "/w", "s1")
        await it.connection.open_session("fork", "/w", "s1")
        for method in ("session/new", "session/load", "session/fork"):
            (sent,) = it.wire.sent(method)
            assert [server["name"] for server in sent["params"]["mcpServers"]] == ["nb", "web"]
        assert [notice.text for notice in it.all.of(Notice)] == [
            "The MCP server 'old' was not given to the agent: it does not take servers of type sse."
        ]


async def test_one_prompt_at_a_time() -> None:
    async with talking([*opening(), *turn("one"), *turn("two")]) as talk:
        first, second = talk.ask(), talk.ask()
        await asyncio.gather(first.end(), second.end())
        assert (first.text, second.text) == ("one", "two")
