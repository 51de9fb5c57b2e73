"""Public reports about sessions: opened right, opened again, lost, and never mixed up.

Each test stands for a row of the table in docs/reliability.md.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.acp.sessions import WITHOUT_SERVERS
from agy_kernel.events import Notice
from agy_kernel.mcp import McpServer
from tests.agents.scripted import (
    Step,
    answer,
    expect,
    fail,
    hello,
    new_session,
    one_after_the_other,
    opening,
    turn,
)
from tests.support.cells import talking
from tests.support.connections import started
from tests.support.kernels import SIMULATOR, Kernel, StartKernel, sim
from tests.support.notebook import Json
from tests.support.processes import happens_within

SERVERS = {"nb": McpServer(command="serve")}
NOT_REMEMBERED = "This is a new one: the agent does not remember what was said before."


def refused(method: str, code: int, message: str) -> list[Step]:
    return [expect(method), fail(method, code, message)]


def answered(method: str, result: Any) -> list[Step]:
    return [expect(method), answer(method, result)]


@pytest.fixture
def notebook(tmp_path: Path) -> dict[str, str]:
    """What tells a kernel which notebook it belongs to."""
    path = tmp_path / "notebook" / "a.ipynb"
    path.parent.mkdir()
    path.touch()
    return {"JPY_SESSION_NAME": str(path)}


def openings(kernel: Kernel) -> list[Json]:
    methods = ("session/new", "session/load", "session/resume")
    return [frame for frame in kernel.wire("c2a") if frame.get("method") in methods]


@pytest.mark.report(5)
def test_every_opening_names_a_folder_and_servers(
    start_kernel: StartKernel, notebook: dict[str, str]
) -> None:
    kernel = start_kernel(env=notebook)
    kernel.run(sim({"text": "a"}, {"exit": 1}))
    kernel.run(sim({"text": "b"}))
    kernel.restart()
    kernel.run(sim({"text": "c"}))
    kernel.run("%agy new")
    kernel.run(sim({"text": "d"}))
    asked = [frame["params"] for frame in openings(kernel)]
    assert len(asked) == 4
    for params in asked:
        assert Path(params["cwd"]).is_absolute()
        assert Path(params["cwd"]).is_dir()
        assert params["mcpServers"] == []


# -- an earlier session that cannot be opened as it was


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
@pytest.mark.report(43)
async def test_an_earlier_session_that_takes_no_servers_is_opened_without(method: str) -> None:
    script = [*hello(), *refused(method, -32602, "Invalid params"), *answered(method, {})]
    async with started(*script, servers=SERVERS) as it:
        how = method.removeprefix("session/")
        state = await it.connection.open_session(how, "/w", "s1")  # type: ignore[arg-type]
        assert state.id == "s1"
        given = [frame["params"]["mcpServers"] for frame in it.wire.sent(method)]
        assert [len(servers) for servers in given] == [1, 0]
        assert [notice.text for notice in it.all.of(Notice)] == [WITHOUT_SERVERS]


@pytest.mark.report(43)
async def test_it_is_tried_once_and_a_new_session_has_its_servers() -> None:
    twice = refused("session/load", -32602, "Invalid session identifier") * 2
    async with started(*hello(), *twice, *new_session("s2"), servers=SERVERS) as it:
        with pytest.raises(Exception, match="Invalid session identifier"):
            await it.connection.open_session("load", "/w", "s1")
        await it.connection.open_session("new", "/w")
        assert len(it.wire.sent("session/load")) == 2
        assert len(it.wire.sent("session/new")[0]["params"]["mcpServers"]) == 1
        assert it.all.of(Notice) == []


@pytest.mark.report(43)
def test_what_a_loaded_session_does_without_is_said_in_the_cell(
    start_kernel: StartKernel, notebook: dict[str, str], tmp_path: Path
) -> None:
    refusal = refused("session/load", -32602, "Invalid params")
    scripts = (
        [*opening(), *turn("one")],
        [*hello(), *refusal, *answered("session/load", {}), *turn("two")],
    )
    servers = {
        "nb": {"command": "serve"},
        "far": {"type": "sse", "url": "https://example.org/x"},
    }
    agent = one_after_the_other(tmp_path, *scripts)
    kernel = start_kernel(agent, notebook | {"AGY_MCP": json.dumps(servers)})
    dropped = "was not given to the agent: it does not take servers of type sse."
    assert dropped in kernel.run("Say one").text
    kernel.restart()
    cell = kernel.run("Say two")
    assert "two" in cell.text
    assert WITHOUT_SERVERS in cell.text
    assert dropped in cell.text


@pytest.mark.report(48)
async def test_a_session_under_another_id_is_replaced_and_found_in_the_agent_s_list() -> None:
    can = hello(agentCapabilities={"loadSession": True, "sessionCapabilities": {"list": {}}})
    script = [*can, *refused("session/load", -32602, "Invalid session identifier")]
    script += [*new_session("s2"), *turn("anew", session="s2")]
    listed = {"sessions": [{"sessionId": "stored-as", "cwd": "/", "title": "Before"}]}
    script += [*answered("session/list", listed), *answered("session/load", {})]
    async with talking([*script, *turn("back", session="stored-as")], session_id="s1") as talk:
        cell = await talk.turn()
        said = "The earlier session could not be loaded: Invalid session identifier (-32602)."
        assert (cell.text, cell.notices) == ("anew", [f"{said} {NOT_REMEMBERED}"])
        (found,) = await talk.conversation.sessions() or []
        await talk.conversation.resume(found.id)
        assert talk.wire.sent("session/load")[-1]["params"]["sessionId"] == "stored-as"
        assert (await talk.turn()).text == "back"


# -- two at a time


@pytest.mark.report(49)
def test_two_agents_of_one_kernel_share_nothing(start_kernel: StartKernel) -> None:
    kernel = start_kernel()
    other = f"{SIMULATOR} --usage"
    mine = kernel.run(sim({"text": "mine"}))
    (first,) = kernel.agents
    theirs = kernel.run(f"%%agy --agent '{other}'\n{sim({'text': 'theirs'})}")
    (second,) = kernel.agents - {first}
    assert mine.record["session_id"] != theirs.record["session_id"]
    os.kill(second, signal.SIGKILL)
    assert happens_within(30, lambda: kernel.agents == {first})
    cell = kernel.run(sim({"text": "still mine"}))
    assert cell.record["session_id"] == mine.record["session_id"]
    assert kernel.agents == {first}
    assert "theirs" not in cell.text


def test_what_one_agent_was_told_counts_for_no_other_with_the_same_session_id(
    start_kernel: StartKernel, tmp_path: Path
) -> None:
    folders = [tmp_path / word for word in ("one", "other")]
    for folder in folders:
        folder.mkdir()
    one, other = (one_after_the_other(f, [*opening(), *turn(f.name)]) for f in folders)
    kernel = start_kernel(one)
    assert kernel.run("Say one").record["session_id"] == "s1"
    assert kernel.run(f"%%agy --agent '{other}'\nSay other").record["session_id"] == "s1"
    first, second = (frame["params"]["prompt"] for frame in kernel.sent("session/prompt"))
    assert len(first) == len(second) == 2  # the instructions are for each
