"""The engine against scripted agents over real pipes: hello, sessions, turns, questions, ends."""

import asyncio
import json
import os
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agy_kernel import __version__
from agy_kernel.abilities import (
    AuthMethod,
    Capabilities,
)
from agy_kernel.acp import jsonrpc, process, sessions
from agy_kernel.acp.connection import Connection
from agy_kernel.acp.jsonrpc import Peer
from agy_kernel.acp.process import Launch
from agy_kernel.errors import (
    AgentError,
    AgentExited,
    AgentNotFound,
    AgentStartFailed,
    AuthenticationRequired,
    RequestFailed,
)
from agy_kernel.events import (
    Asked,
    Choice,
    Choices,
    CommandsChanged,
    Event,
    Notice,
    SessionOpened,
    SessionState,
    TextChunk,
    TurnEnded,
    Usage,
)
from agy_kernel.questions import Answer
from tests.agents import scripted
from tests.agents.scripted import (
    Step,
    answer,
    chunk,
    expect,
    expect_response,
    fail,
    hello,
    ignore,
    opening,
    permission,
    raw,
    respond,
    send,
    spawn,
    turn,
    update,
)
from tests.support.connections import agent, opened, started
from tests.support.leaks import (
    nothing_is_left,  # noqa: F401
    processes_left,
)
from tests.support.processes import happens_within

PROMPTED = expect("session/prompt")
END_TURN = answer("session/prompt", {"stopReason": "end_turn"})


# -- hello


async def test_we_advertise_what_we_serve_and_read_what_it_can() -> None:
    capabilities = {"loadSession": True, "promptCapabilities": {"image": True, "audio": "yes"}}
    methods = [
        {"id": "login", "name": "Log in", "description": "In a browser"},
        {
            "id": "key",
            "type": "env_var",
            "vars": [{"name": "KEY"}, {"name": "URL", "optional": True}],
        },
    ]
    script = hello(agentCapabilities=capabilities, authMethods=methods)
    async with started(*script) as it:
        (said,) = it.wire.sent("initialize")
        assert said["params"] == {
            "protocolVersion": 1,
            "clientCapabilities": {
                "fs": {"readTextFile": False, "writeTextFile": False},
                "terminal": False,
                "session": {"configOptions": {"boolean": {}}},
                "elicitation": {"form": {}, "url": {}},
                "_meta": {"terminal_output": True},
            },
            "clientInfo": {
                "name": "agy-kernel",
                "title": "agy-kernel for Jupyter",
                "version": __version__,
            },
        }
        assert it.connection.info.label == "Scripted agent"
        assert it.connection.capabilities == Capabilities(load_session=True, image=True)
        assert it.connection.auth_methods == (
            AuthMethod("login", "Log in", "In a browser"),
            AuthMethod("key", "key", variables=("KEY",), type="env_var"),
        )


@pytest.mark.parametrize(
    "fields",
    [
        {"agentInfo": None, "agentCapabilities": None, "authMethods": None},
        {"agentInfo": [], "agentCapabilities": 5, "authMethods": {"a": 1}},
        {"agentInfo": {"name": 7}, "agentCapabilities": {"promptCapabilities": []}},
        {"authMethods": [None, 5, {}], "_meta": {"x": 1}, "unknown": True},
    ],
    ids=str,
)
async def test_it_may_say_little_or_odd_things_of_itself(fields: dict[str, Any]) -> None:
    async with started(*hello(**fields)) as it:
        assert it.connection.alive
        assert it.connection.info.name == "scripted"


async def test_talk_before_hello_does_no_harm() -> None:
    talk = raw(b"Loaded cached credentials.\n\n{}\n[]\n42\nnull\n\xff\xfe\n")
    async with started(talk, *hello()) as it:
        assert it.connection.alive


@pytest.mark.report(6)
async def test_one_that_keeps_silent_is_given_up_with_its_command_and_last_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = scripted.to_stderr("usage: agent --acp\n")
    async with agent(words, expect("initialize"), start_timeout=1.0) as it:
        initialize = it.connection._initialize

        async def once_it_has_spoken() -> Any:
            await it.wire.until(lambda: bool(it.wire.entries("stderr")))
            return await initialize()

        monkeypatch.setattr(it.connection, "_initialize", once_it_has_spoken)
        with pytest.raises(AgentStartFailed) as failed:
            await it.connection.start()
        said = str(failed.value)
        assert "scripted was started, but did not answer within 1 s" in said
        assert "AGY_START_TIMEOUT" in said
        assert "scripted.py" in said
        assert said.endswith("stderr:\nusage: agent --acp")
        assert not it.connection.alive
        assert it.connection.pid is None or processes_left() == set()


async def test_one_that_talks_and_goes_is_shown_with_what_it_said() -> None:
    script = [raw(b"This is agent 1.52.0.\nIt is no more.\n"), scripted.to_stderr("bye\n")]
    async with agent(*script, scripted.leave(0)) as it:
        with pytest.raises(AgentStartFailed) as failed:
            await it.connection.start()
        said = str(failed.value)
        assert "scripted has ended (exit status 0) before it answered anything." in said
        assert "stdout:\nThis is agent 1.52.0.\nIt is no more." in said
        assert said.endswith("stderr:\nbye")


async def test_one_that_refuses_to_begin_says_why() -> None:
    refusal = fail("initialize", -32602, "Invalid params", {"message": "protocolVersion: odd"})
    async with agent(expect("initialize"), refusal) as it:
        with pytest.raises(AgentStartFailed, match=r"refused to begin: Invalid params.*odd"):
            await it.connection.start()


@pytest.mark.parametrize("version", [2, 0, "1", None, []], ids=repr)
async def test_another_version_of_the_protocol_is_named(version: Any) -> None:
    async with agent(*hello(protocolVersion=version)) as it:
        with pytest.raises(AgentStartFailed, match=r"speaks version .*Update the older"):
            await it.connection.start()
        assert processes_left() == set()


async def test_a_program_that_is_missing_is_named() -> None:
    missing = Connection(Launch("Agent", ("/no/such", "--acp")), "/", lambda *_: None)
    with pytest.raises(AgentNotFound, match="/no/such"):
        await missing.start()
    assert not missing.alive
    assert missing.pid is None
    await missing.close()


async def test_a_start_that_is_cancelled_ends_the_process() -> None:
    async with agent(ignore("TERM"), send(chunk("up")), expect("initialize")) as it:
        starting = asyncio.create_task(it.connection.start())
        await it.all.words("up")
        starting.cancel()
        await asyncio.wait({starting})
        assert starting.cancelled()
        assert processes_left() == set()


# -- sessions

NEW = expect("session/new")
LOAD = expect("session/load")


@pytest.mark.report(5)
async def test_a_session_is_opened_in_a_folder() -> None:
    async with started(*opening()) as it:
        assert await it.connection.open_session("new", "/w") == SessionState("s1")
        (said,) = it.wire.sent("session/new")
        assert said["params"] == {"cwd": "/w", "mcpServers": []}


async def test_what_surrounds_the_answer_keeps_its_place() -> None:
    commands = update("s1", "available_commands_update", availableCommands=[{"name": "plan"}])
    script = [NEW, send(chunk("before")), answer("session/new", {"sessionId": "s1"}, commands)]
    async with started(*hello(), *script, *turn()) as it:
        await it.connection.open_session("new", "/w")
        await it.prompt()
        kinds: list[type[Event]] = [TextChunk, SessionOpened, CommandsChanged, TurnEnded]
        assert [type(event) for event in it.of_session("s1").events] == kinds


@pytest.mark.parametrize("result", [None, {}, {"sessionId": None}, {"sessionId": 5}, []], ids=str)
async def test_a_new_session_without_an_id_is_an_error(result: Any) -> None:
    async with started(*hello(), NEW, answer("session/new", result)) as it:
        with pytest.raises(RequestFailed, match="session/new was answered without a session id"):
            await it.connection.open_session("new", "/w")
        assert it.all.events == []


async def test_a_session_tells_its_models_and_modes_even_odd_ones() -> None:
    result = {"sessionId": "s1", "models": 5, "modes": {"availableModes": 7}, "configOptions": 9}
    async with started(*hello(), NEW, answer("session/new", result)) as it:
        state = await it.connection.open_session("new", "/w")
        assert state == SessionState("s1", {"mode": Choices()})


@pytest.mark.parametrize("result", [None, {}, {"_meta": {}}], ids=str)
async def test_a_loaded_session_need_not_name_itself(result: Any) -> None:
    script = [LOAD, send(chunk("history")), answer("session/load", result, chunk("late"))]
    async with started(*hello(), *script, *turn()) as it:
        assert await it.connection.open_session("load", "/w", "s1") == SessionState("s1")
        (said,) = it.wire.sent("session/load")
        assert said["params"] == {"cwd": "/w", "sessionId": "s1", "mcpServers": []}
        await it.prompt()
        kinds: list[type[Event]] = [TextChunk, SessionOpened, TextChunk, TurnEnded]
        assert [type(event) for event in it.of_session("s1").events] == kinds


async def test_a_session_that_cannot_be_loaded_is_an_error() -> None:
    refusal = fail("session/load", -32002, "Resource not found")
    async with started(*hello(), LOAD, refusal) as it:
        with pytest.raises(RequestFailed, match="Resource not found"):
            await it.connection.open_session("load", "/w", "s9")


async def test_silence_is_given_up_and_a_late_answer_has_no_effect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sessions, "SHORT_SILENCE", 0.2)
    late = [NEW, expect("session/load"), answer("session/new", {"sessionId": "late"})]
    async with started(*hello(), *late, answer("session/load", None)) as it:
        with pytest.raises(RequestFailed, match=r"not a word in 0\.2 s"):
            await it.connection.open_session("new", "/w")
        await it.connection.open_session("load", "/w", "s1")
        assert [e.state.id for e in it.all.of(SessionOpened)] == ["s1"]


async def test_an_opening_that_was_cancelled_has_no_late_effect() -> None:
    late = [NEW, send(chunk("asked")), LOAD, answer("session/new", {"sessionId": "late"})]
    async with started(*hello(), *late, answer("session/load", None)) as it:
        opening_it = asyncio.create_task(it.connection.open_session("new", "/w"))
        await it.all.words("asked")
        opening_it.cancel()
        await asyncio.wait({opening_it})
        await it.connection.open_session("load", "/w", "s1")
        assert [e.state.id for e in it.all.of(SessionOpened)] == ["s1"]


async def test_a_long_replay_is_waited_for_as_long_as_anything_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # By a clock that only what is heard moves on, half of that with each frame.
    monkeypatch.setitem(sessions.SILENCE, "session/load", 0.002)
    replay = scripted.flood(20_000, chunk("x" * 100))
    async with started(*hello(), LOAD, replay, answer("session/load", None)) as it:
        clock = SimpleNamespace(monotonic=lambda: 0.001 * len(it.all.events))
        monkeypatch.setattr(sessions, "time", clock)
        await it.connection.open_session("load", "/w", "s1")
        assert len(it.all.text) == 2_000_000


# -- signing in

WANTED = fail("session/new", -32000, "Authentication required", {"message": "No method selected."})
METHODS = [
    {"id": "oauth", "name": "Log in", "description": "In a browser"},
    {"id": "key", "name": "API key", "vars": [{"name": "SCRIPTED_KEY"}, {"name": "SCRIPTED_URL"}]},
]
SIGNED_OUT = [*hello(authMethods=METHODS), NEW, WANTED]
AUTHENTICATED = [expect("authenticate"), answer("authenticate", {})]
WITH_KEY = {"SCRIPTED_KEY": "k", "SCRIPTED_URL": "u"}


@pytest.mark.report(52)
async def test_a_sign_in_that_needs_a_person_says_what_to_do() -> None:
    async with started(*SIGNED_OUT, env={"SCRIPTED_KEY": "k"}) as it:
        with pytest.raises(AuthenticationRequired) as wanted:
            await it.connection.open_session("new", "/w")
        said = str(wanted.value)
        assert "Scripted agent wants you to sign in first" in said
        assert "No method selected." in said
        assert "oauth: Log in. In a browser" in said
        assert "key: API key." in said
        assert "Needs SCRIPTED_KEY, SCRIPTED_URL in the environment." in said
        assert "AGY_AUTH" in said
        assert it.wire.methods() == ["initialize", "session/new"]
        assert it.connection.alive


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ({"env": WITH_KEY}, "key"),
        ({"env": {"X": "1"}, "auth_needs": {"oauth": ("X",)}}, "oauth"),
        ({"env": WITH_KEY, "auth": "oauth"}, "oauth"),
    ],
    ids=["variables set", "the catalogue knows what it needs", "chosen by the user"],
)
async def test_a_sign_in_that_needs_no_person_is_done(options: Any, method: str) -> None:
    script = [*SIGNED_OUT, *AUTHENTICATED, *scripted.new_session()]
    async with started(*script, **options) as it:
        assert (await it.connection.open_session("new", "/w")).id == "s1"
        (said,) = it.wire.sent("authenticate")
        assert said["params"] == {"methodId": method}
        assert it.wire.methods()[1:] == ["session/new", "authenticate", "session/new"]


async def test_variables_that_are_set_to_nothing_are_not_set() -> None:
    async with started(*SIGNED_OUT, env={**WITH_KEY, "SCRIPTED_URL": ""}) as it:
        with pytest.raises(AuthenticationRequired):
            await it.connection.open_session("new", "/w")
        assert it.wire.sent("authenticate") == []


async def test_a_sign_in_that_fails_says_what_to_do() -> None:
    refused = [expect("authenticate"), fail("authenticate", -32000, "Onboarding failed: no")]
    async with started(*SIGNED_OUT, *refused, env=WITH_KEY) as it:
        with pytest.raises(AuthenticationRequired, match="Onboarding failed: no"):
            await it.connection.open_session("new", "/w")


@pytest.mark.parametrize(
    ("again", "error"),
    [(WANTED, AuthenticationRequired), (fail("session/new", -32603, "Broken"), RequestFailed)],
    ids=["signed out", "broken"],
)
async def test_what_fails_after_signing_in_is_told_as_what_it_is(
    again: Step, error: type[AgentError]
) -> None:
    async with started(*SIGNED_OUT, *AUTHENTICATED, NEW, again, env=WITH_KEY) as it:
        with pytest.raises(error):
            await it.connection.open_session("new", "/w")
        assert len(it.wire.sent("authenticate")) == 1


async def test_a_server_that_cannot_is_not_one_that_wants_a_sign_in() -> None:
    # Antigravity RC01 has one code for all that its state does not allow.
    refusal = fail("session/load", -32000, "Session not found", {"reason": "session_not_found"})
    async with started(*hello(authMethods=METHODS), LOAD, refusal, env=WITH_KEY) as it:
        with pytest.raises(RequestFailed, match="Session not found"):
            await it.connection.open_session("load", "/w", "s1")
        assert it.wire.sent("authenticate") == []


async def test_a_sign_in_that_has_run_out_is_told_in_the_turn() -> None:
    refusal = fail("session/prompt", -32000, "Authentication required")
    script = [*hello(authMethods=METHODS), *scripted.new_session(), PROMPTED, refusal]
    async with opened(*script, env=WITH_KEY) as it:
        with pytest.raises(AuthenticationRequired, match="oauth: Log in"):
            await it.prompt()
        assert len(it.wire.sent("session/prompt")) == 1  # what it did before is not done twice


# -- choosing

M1, M2 = Choice("m1", "M 1"), Choice("m2", "M 2")


def option(current: str) -> dict[str, Any]:
    values = [{"value": c.id, "name": c.name} for c in (M1, M2)]
    return {"id": "model-x", "category": "model", "currentValue": current, "options": values}


@pytest.mark.parametrize(
    ("result", "now"),
    [
        ({"configOptions": [option("m2")]}, "m2"),
        ([option("m2")], "m2"),
        ({"configOptions": [option("m1")]}, "m1"),
        ({}, "m2"),
        (None, "m2"),
        ({"configOptions": None}, "m2"),
        ([5, None], "m2"),
    ],
    ids=str,
)
async def test_a_model_is_chosen_by_its_option(result: Any, now: str) -> None:
    name = "session/set_config_option"
    async with opened(*opening(), expect(name), answer(name, result)) as it:
        known = Choices("m1", (M1, M2), "model-x")
        assert await it.connection.choose("s1", "model", known, "m2") == Choices(
            now, (M1, M2), "model-x"
        )
        (said,) = it.wire.sent(name)
        assert said["params"] == {"sessionId": "s1", "configId": "model-x", "value": "m2"}


@pytest.mark.parametrize("what", ["model", "mode"])
async def test_what_has_no_option_is_chosen_by_its_own_method(what: Any) -> None:
    name = f"session/set_{what}"
    async with opened(*opening(), expect(name), answer(name, None)) as it:
        known = Choices("m1", (M1, M2))
        assert await it.connection.choose("s1", what, known, "m2") == Choices("m2", (M1, M2))
        (said,) = it.wire.sent(name)
        assert said["params"] == {"sessionId": "s1", f"{what}Id": "m2"}


# -- turns


async def test_a_turn_is_its_updates_and_then_its_end() -> None:
    usage = {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}
    end = answer("session/prompt", {"stopReason": "end_turn", "usage": usage}, chunk("late"))
    async with opened(*opening(), PROMPTED, send(chunk("Hel"), chunk("lo")), end) as it:
        await it.prompt()
        await it.all.words("late")
        assert it.all.events[1:] == [
            TextChunk("agent", "Hel"),
            TextChunk("agent", "lo"),
            TurnEnded("end_turn", Usage(1, 2, 3)),
            TextChunk("agent", "late"),
        ]


@pytest.mark.parametrize("result", [None, {}, [], {"stopReason": 5}, "text"], ids=str)
async def test_a_turn_may_end_without_a_reason(result: Any) -> None:
    async with opened(*opening(), PROMPTED, answer("session/prompt", result)) as it:
        await it.prompt()
        assert it.all.of(TurnEnded) == [TurnEnded("unknown")]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ({"code": -32603, "message": "model unreachable: doRequest: EOF"}, "model unreachable"),
        ("out of luck", "out of luck"),
        ({"code": 400, "message": "bad", "data": {"details": "very bad"}}, "bad .400.: very bad"),
    ],
    ids=str,
)
async def test_a_turn_may_fail(error: Any, said: str) -> None:
    failed = respond("session/prompt", error=error)
    async with opened(*opening(), PROMPTED, failed, *turn("fine")) as it:
        with pytest.raises(RequestFailed, match=said):
            await it.prompt()
        await it.prompt()
        assert it.all.text == "fine"


async def test_cancel_is_a_notification_and_cancel_request_names_the_prompt() -> None:
    waits = [PROMPTED, send(chunk("up")), *map(expect, ("session/cancel", "$/cancel_request"))]
    async with opened(*opening(), *waits, END_TURN) as it:
        it.connection.cancel_request("s1")  # nothing runs: nothing is sent
        prompting = asyncio.create_task(it.prompt())
        await it.all.words("up")
        it.connection.cancel("s1")
        it.connection.cancel_request("s1")
        await prompting
        it.connection.cancel_request("s1")
        (prompt,) = it.wire.sent("session/prompt")
        cancel, cancel_request = it.wire.sent()[-2:]
        assert cancel == {
            "jsonrpc": "2.0",
            "method": "session/cancel",
            "params": {"sessionId": "s1"},
        }
        assert cancel_request["params"] == {"requestId": prompt["id"]}
        assert "id" not in cancel_request


async def test_updates_that_nobody_knows_are_kept_and_odd_notifications_ignored() -> None:
    odd: list[Any] = [
        {"method": "_vendor/status", "params": {"x": 1}},
        {"method": "session/update"},
        {"method": "session/update", "params": None},
        {"method": "session/update", "params": [1]},
        {"method": "session/update", "params": {"sessionId": 5, "update": 7}},
        update("s1", "state_update", state="dreaming"),
        update("s1", "agent_message_chunk", content={"type": "hologram"}),
        update("s1", "tool_call", toolCallId="c", kind="teleport", status="dreaming"),
    ]
    async with opened(*opening(), PROMPTED, send(*odd, chunk("fine")), END_TURN) as it:
        await it.prompt()
        assert it.all.text == "fine"
        names = [type(event).__name__ for event in it.of_session("s1").events]
        assert names == [
            *("SessionOpened", "UnknownUpdate", "ContentChunk", "ToolCallUpdate"),
            *("TextChunk", "TurnEnded"),
        ]


@pytest.mark.parametrize("size", [70_000, 5_000_000])
async def test_long_lines_arrive(size: int) -> None:
    async with opened(*opening(), PROMPTED, scripted.say_much(size), END_TURN) as it:
        await it.prompt()
        assert it.all.text == "x" * size


@pytest.mark.report(1)
async def test_a_line_beyond_the_limit_is_told_in_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Peer, "max_frame", 100_000)
    script = [PROMPTED, scripted.say_much(1_000_000), send(chunk("fine")), END_TURN]
    async with opened(*opening(), *script) as it:
        await it.prompt()
        (notice,) = it.all.of(Notice)
        assert notice.text.startswith(
            "The agent sent a line of more than 100,000 bytes. It was passed over"
        )
        assert notice.severity == "warning"
        assert it.all.text == "fine"


# -- questions

DENIED = Answer(None, by="test")


async def test_an_answer_goes_back_as_the_option_that_was_chosen() -> None:
    script = [PROMPTED, send(permission("q1")), expect_response("q1"), END_TURN]
    async with opened(*opening(), *script) as it:
        prompting = asyncio.create_task(it.prompt())
        question = await it.all.question()
        assert [o.name for o in question.options] == ["Allow", "Reject"]
        # Buttons are clicked in the main thread, and the agent lives in another.
        chosen = Answer(question.options[1], by="you")
        clicking = threading.Thread(target=question.answer, args=(chosen,))
        clicking.start()
        await prompting
        clicking.join()
        assert it.wire.answers()["q1"]["result"] == {
            "outcome": {"outcome": "selected", "optionId": "no"}
        }


async def test_a_question_keeps_its_place_among_the_updates() -> None:
    frames = chunk("before"), permission(1), chunk("after")
    end = answer("session/prompt", {"stopReason": "end_turn"})
    async with opened(*opening(), PROMPTED, send(*frames), end) as it:
        await it.prompt()
        kinds: list[type[Event]] = [SessionOpened, TextChunk, Asked, TextChunk, TurnEnded]
        assert [type(event) for event in it.all.events[:5]] == kinds
        (await it.all.question()).answer(DENIED)


async def test_no_option_is_cancelled_and_only_the_first_answer_counts() -> None:
    script = [PROMPTED, send(permission(0)), expect_response(0), END_TURN]
    async with opened(*opening(), *script) as it:
        prompting = asyncio.create_task(it.prompt())
        question = await it.all.question()
        assert question.answer(DENIED)
        assert not question.answer(Answer(question.options[0], by="too late"))
        await prompting
        assert it.wire.answers()[0]["result"] == {"outcome": {"outcome": "cancelled"}}


async def test_several_questions_are_open_at_once_and_answered_in_any_order() -> None:
    asked = send(*(permission(n, call=f"c{n}") for n in range(3)))
    script = [PROMPTED, asked, *(expect_response(n) for n in (2, 0, 1)), END_TURN]
    async with opened(*opening(), *script) as it:
        prompting = asyncio.create_task(it.prompt())
        questions = [await it.all.question(f"c{n}") for n in range(3)]
        for n in (2, 0, 1):
            questions[n].answer(Answer(questions[n].options[n % 2], by="you"))
        await prompting
        outcomes = [it.wire.answers()[n]["result"]["outcome"] for n in range(3)]
        assert [o["optionId"] for o in outcomes] == ["yes", "no", "yes"]


async def test_a_question_can_be_withdrawn_by_the_agent() -> None:
    withdrawal = {"method": "$/cancel_request", "params": {"requestId": "q1"}}
    script = [PROMPTED, send(permission("q1"), withdrawal), expect_response("q1"), END_TURN]
    async with opened(*opening(), *script) as it:
        await it.prompt()
        question = await it.all.question()
        assert not question.open
        assert question.reply.result().by == "agent"
        assert question.reply.result().option is None
        assert it.wire.answers()["q1"]["error"]["code"] == -32800
        assert not question.answer(DENIED)


async def test_a_question_without_options_can_still_be_cancelled() -> None:
    odd = scripted.request(1, "session/request_permission", {"sessionId": "s1"})
    async with opened(*opening(), PROMPTED, send(odd), expect_response(1), END_TURN) as it:
        prompting = asyncio.create_task(it.prompt())
        question = await it.all.question("")
        assert question.options == ()
        question.answer(DENIED)
        await prompting


async def test_what_we_do_not_serve_is_refused_once_each() -> None:
    methods = [
        *("fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output"),
        *("terminal/wait_for_exit", "terminal/kill", "terminal/release", "mcp/connect"),
        *("mcp/connect", "mcp/message", "_vendor/ask", "session/update", "initialize", ""),
    ]
    asked = [scripted.request(n, method) for n, method in enumerate(methods)]
    waits = [expect_response(n) for n in range(len(methods))]
    async with opened(*opening(), PROMPTED, send(*asked), *waits, END_TURN) as it:
        await it.prompt()
        answers = it.wire.answers()
        assert sorted(answers) == list(range(len(methods)))
        assert {frame["error"]["code"] for frame in answers.values()} == {-32601}


# -- ends


async def test_an_agent_that_dies_in_a_turn_is_told_with_status_and_last_words() -> None:
    script = [PROMPTED, send(chunk("partial")), scripted.to_stderr("panic: no luck\n")]
    async with opened(*opening(), *script, scripted.leave(3)) as it:
        with pytest.raises(AgentExited) as exited:
            await it.prompt()
        assert (exited.value.why, exited.value.status) == ("has ended", 3)
        assert exited.value.stderr == "panic: no luck"
        assert it.all.text == "partial"
        assert not it.connection.alive
        assert await it.connection.wait_lost() is exited.value
        with pytest.raises(AgentExited) as later:
            await it.prompt()
        assert later.value is exited.value
        it.connection.cancel("s1")  # to nobody: no harm


async def test_all_that_was_said_before_the_end_is_heard() -> None:
    script = [PROMPTED, scripted.flood(20_000, chunk("x" * 100)), END_TURN, scripted.leave(0)]
    async with opened(*opening(), *script) as it:
        await it.prompt()
        assert len(it.all.text) == 2_000_000


async def test_nothing_is_lost_when_we_are_slow_and_the_agent_has_long_gone() -> None:
    begin = time.monotonic()

    async def gate(_: int) -> None:
        # Slow enough that the connection, left to itself, would give up what is still to come.
        await asyncio.sleep(0.1)

    script = [PROMPTED, scripted.flood(4_000, chunk("x" * 1_000)), END_TURN, scripted.leave(0)]
    async with opened(*opening(), *script, gate=gate) as it:
        await it.prompt()
        assert len(it.all.text) == 4_000_000
        assert time.monotonic() - begin > 1.0


async def test_an_agent_that_closes_its_output_but_lives_is_lost_and_ended() -> None:
    script = [PROMPTED, scripted.close("stdout"), ignore("EOF"), scripted.hold()]
    async with opened(*opening(), *script) as it:
        with pytest.raises(AgentExited) as exited:
            await it.prompt()
        assert (exited.value.why, exited.value.status) == ("closed its output", None)
        await it.connection.close()
        assert processes_left() == set()


async def test_an_agent_that_closes_its_input_but_lives_is_lost_and_ended() -> None:
    words = scripted.to_stderr("still here\n")
    script = [PROMPTED, words, scripted.close("stdin"), scripted.pause()]
    async with opened(*opening(), *script) as it:
        with pytest.raises(AgentExited) as exited:
            await it.prompt()
        assert (exited.value.why, exited.value.status) == ("stopped reading its input", None)
        assert exited.value.stderr == "still here"


async def test_what_comes_while_all_of_us_stand_still_is_read_before_it_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jsonrpc, "STRAGGLERS", 0.2)
    script = [scripted.report_term(), *opening(), PROMPTED, scripted.close("stdin")]
    async with opened(*script, scripted.pause()) as it:
        prompting = asyncio.create_task(it.prompt())
        pid = it.connection._process.pid
        await it.connection._process.stdin.wait_closed()
        await asyncio.sleep(0)  # from here on its last bytes are waited for
        before = written_by(pid)
        os.kill(pid, signal.SIGTERM)
        assert happens_within(30, lambda: written_by(pid) > before)
        time.sleep(0.3)  # noqa: ASYNC251
        await it.wire.until(lambda: bool(it.wire.told("_test/term")))
        assert it.connection.alive
        with pytest.raises(AgentExited):
            await prompting


async def test_an_agent_whose_child_holds_the_pipes_is_seen_to_die() -> None:
    script = [PROMPTED, spawn(own_session=True, holds_pipes=True), send(chunk("up"))]
    async with opened(*opening(), *script) as it:
        prompting = asyncio.create_task(it.prompt())
        await it.all.words("up")
        assert it.connection.pid is not None
        os.kill(it.connection.pid, signal.SIGKILL)
        with pytest.raises(AgentExited) as exited:
            await prompting
        assert exited.value.status == -signal.SIGKILL


async def test_a_polite_agent_is_closed_without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    for grace in ("STDIN_GRACE", "TERM_GRACE", "KILL_GRACE"):
        monkeypatch.setattr(process, grace, 60.0)
    async with opened(*opening()) as it:
        begin = time.monotonic()
        await it.connection.close()
        assert time.monotonic() - begin < 30  # no grace was waited for
        assert (await it.connection.wait_lost()).args


async def test_closing_ends_what_is_open() -> None:
    script = [PROMPTED, send(permission(1)), scripted.hold()]
    async with opened(*opening(), *script) as it:
        prompting = asyncio.create_task(it.prompt())
        question = await it.all.question()
        await it.connection.close()
        with pytest.raises(AgentError, match="was closed"):
            await prompting
        assert not question.open
        await it.connection.close()


@pytest.mark.report(50)
async def test_two_agents_have_nothing_to_do_with_each_other() -> None:
    dying = [*opening(), PROMPTED, scripted.to_stderr("the end of one\n"), scripted.leave(1)]
    living = [*opening(), PROMPTED, expect("session/cancel"), *turn("alive")]
    async with opened(*dying) as one, opened(*living) as other:
        waiting = asyncio.create_task(other.prompt())
        with pytest.raises(AgentExited):
            await one.prompt()
        await one.connection.close()
        assert other.connection.alive
        other.connection.cancel("s1")
        await other.prompt()
        assert (one.all.text, other.all.text) == ("", "alive")
        assert other.wire.entries("stderr") == []
        waiting.cancel()
        await asyncio.wait({waiting})


# -- more than we can take


async def test_noise_on_stderr_stops_no_turn() -> None:
    noise = [scripted.to_stderr("RAW WS MSG: " + "x" * 10_000 + "\n", 500), send(chunk("."))]
    async with opened(*opening(), PROMPTED, *noise * 10, END_TURN) as it:
        await it.prompt()
        assert it.all.text == "." * 10


def written_by(pid: int) -> int:
    """The bytes that a process has written so far."""
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("wchar")).split()[1])


async def test_an_agent_that_writes_faster_than_we_draw_is_held_back() -> None:
    ahead: list[int] = []

    def lead() -> int:
        assert it.connection.pid is not None
        return written_by(it.connection.pid) - len(it.all.events) * len(line)

    async def draw(_: int) -> None:
        await asyncio.sleep(0.002)
        while not ahead and lead() < 1_000_000:  # noqa: ASYNC110 - no event tells what it writes
            await asyncio.sleep(0.002)
        ahead.append(lead())

    line = json.dumps(chunk("x" * 10_000)) + "\n"
    # In writes that are no longer than what it has to be ahead.
    script = [PROMPTED, scripted.flood(5_000, chunk("x" * 10_000), at_once=50), END_TURN]
    async with opened(*opening(), *script) as it:
        it.connection._rpc._gate = draw
        await it.prompt()
        assert len(it.all.text) == 50_000_000
        # Twice the stream's limit, and what the pipe and one read hold.
        assert max(ahead) < 2 * 4 * 1024 * 1024 + 2_000_000
        assert max(ahead) > 1_000_000  # it did run ahead of us
