"""Whether an agent reaches MCP servers: the verdicts follow what the servers were asked."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.probes import loopback
from agy_kernel.probes.loopback import HEADER, HttpServer, asked_over_stdio
from agy_kernel.probes.verdicts import load
from tests.agents import mcp_caller
from tests.agents.scripted import expect, fail, hello, opening
from tests.probes.asked import found, script, simulator, verdicts

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def caller(*flags: str) -> str:
    """The command line of an agent that calls MCP servers."""
    return shlex.join([sys.executable, mcp_caller.__file__, *flags])


def test_an_agent_that_calls_the_tool_passes(tmp_path: Path) -> None:
    told = found("mcp", caller(), tmp_path, "stdio", "http", "header", "dead")
    assert set(verdicts(told).values()) == {"pass"}
    assert told["http"].words == "the tool is called, and the answer holds its result"
    assert told["http"].facts == {
        "accepted": True,
        "asked": ["initialize", "tools/call", "tools/list"],
        "told": True,
    }
    assert told["stdio"] == told["http"]
    assert told["header"].words == "requests with it: 3, without it: 0"
    assert told["header"].facts == {"with": True, "without": False}
    assert told["dead"].facts == {"accepted": True}


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("lists", "the server is contacted, and its tool not called: 'No tool.'"),
        ("other", "the server is contacted, and its tool not called: 'I was not allowed to.'"),
        ("keeps", "the tool is called, and its result not told: 'Done.'"),
    ],
)
@pytest.mark.parametrize("name", ["stdio", "http"])
def test_an_agent_that_goes_halfway_is_told_how_far(
    name: str, flag: str, words: str, tmp_path: Path
) -> None:
    told = found("mcp", caller(flag), tmp_path, name)[name]
    assert (told.verdict, told.words) == ("fallback", words)


def test_headers_that_do_not_arrive_are_a_failure(tmp_path: Path) -> None:
    told = found("mcp", caller("headerless"), tmp_path, "http", "header")
    assert verdicts(told) == {"http": "fallback", "header": "fail"}
    assert told["http"].words == "the server is contacted without its header, and refuses"
    assert told["header"].words == "requests without it: 1, with it: 0"
    assert told["header"].facts == {"with": False, "without": True}


def test_an_agent_may_refuse_a_dead_server(tmp_path: Path) -> None:
    told = found("mcp", caller("eager"), tmp_path, "dead")["dead"]
    assert told.verdict == "fallback"
    assert told.facts == {"accepted": False, "code": -32603}
    assert told.words == (
        "error the server is dead (-32603): a client has to try a server before it names it"
    )


def test_the_simulator_takes_servers_and_never_calls_them(tmp_path: Path) -> None:
    told = found("mcp", simulator(tmp_path / "state"), tmp_path)
    assert verdicts(told) == {
        "stdio": "fallback",
        "http": "fallback",
        "header": "skipped",
        "dead": "pass",
        "without_headers": "fallback",
    }
    assert told["http"].words == "the server is accepted, and never contacted"
    assert told["header"].words == "the server was never contacted"
    assert told["without_headers"].facts == {
        "accepted": False,
        "code": -32602,
        "fields": ["headers"],
    }


def test_what_is_not_advertised_is_not_sent(tmp_path: Path) -> None:
    refusal = [expect("session/new"), fail("session/new", -32602, "no servers")]
    told = found("mcp", script(hello(), refusal), tmp_path)
    assert verdicts(told) == {
        "stdio": "fail",
        "http": "skipped",
        "header": "absent",
        "dead": "absent",
        "without_headers": "absent",
    }
    assert told["stdio"].words == "session/new got error no servers (-32602)"
    assert told["http"].words == "HTTP servers are not offered"


@pytest.mark.parametrize(
    ("flags", "gate"),
    [
        ((), "pass"),
        (("stdio-only",), "pass"),
        (("headerless",), "fallback"),
        (("lists",), "fallback"),
    ],
)
def test_the_gate_is_about_what_is_offered(
    flags: tuple[str, ...], gate: str, tmp_path: Path
) -> None:
    found("mcp", caller(*flags), tmp_path, "stdio", "http")
    assert load(tmp_path / "out").gates() == {"F": gate}


def test_an_entry_without_headers_may_be_accepted(tmp_path: Path) -> None:
    takes = {"agentCapabilities": {"mcpCapabilities": {"http": True}}}
    agent = script(opening()[:1], [["respond", "initialize", {"result": takes}]], opening()[2:])
    told = found("mcp", agent, tmp_path, "without_headers")["without_headers"]
    assert (told.verdict, told.facts) == ("pass", {"accepted": True})


def test_without_live_only_sessions_are_opened(tmp_path: Path) -> None:
    told = found("mcp", script(opening()), tmp_path, live=False)
    assert verdicts(told)["stdio"] == verdicts(told)["http"] == "skipped"
    assert '"method":"session/prompt"' not in (tmp_path / "out" / "mcp.jsonl").read_text()


# -- the server itself


def test_the_program_answers_and_keeps_what_it_was_asked(tmp_path: Path) -> None:
    frames: list[Any] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "x"}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "ä"}}},
        {"id": 4, "method": "resources/list"},
        ["no", "message"],
    ]
    lines = "".join(f"{json.dumps(frame)}\n" for frame in frames)
    file = tmp_path / "asked"
    done = subprocess.run(
        [sys.executable, "-m", "agy_kernel.probes.loopback", str(file)],
        input=f"{lines}no JSON\n",
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2, 3, 4]
    assert answers[0]["result"]["protocolVersion"] == "x"
    assert [tool["name"] for tool in answers[1]["result"]["tools"]] == ["echo"]
    assert answers[2]["result"]["content"] == [{"type": "text", "text": "ECHO:ä"}]
    assert answers[3]["error"]["code"] == -32601
    assert asked_over_stdio(file) == [
        "initialize",
        "notifications/initialized",
        "tools/list",
        "tools/call",
        "resources/list",
    ]


def test_a_program_that_never_ran_was_asked_nothing(tmp_path: Path) -> None:
    assert asked_over_stdio(tmp_path / "asked") == []


def post(url: str, body: bytes, **headers: str) -> tuple[int, bytes]:
    request = urllib.request.Request(url, body, headers)
    try:
        with OPENER.open(request, timeout=60) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


async def test_the_http_server_wants_its_header_and_ends_with_its_block() -> None:
    header = {HEADER["name"]: HEADER["value"]}
    ping = b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}'
    async with HttpServer() as server:
        url = server.url
        assert url.startswith("http://127.0.0.1:")
        assert post(url, ping)[0] == 403
        assert post(url, ping, **{HEADER["name"]: "other"})[0] == 403
        status, body = post(url, ping, **header)
        assert (status, json.loads(body)) == (200, {"jsonrpc": "2.0", "id": 7, "result": {}})
        assert post(url, b'{"method": "notifications/initialized"}', **header) == (202, b"")
        assert post(url, b"no JSON", **header)[0] == 400
        assert server.asked == ["ping", "notifications/initialized"]
        assert server.refused == 2
        with pytest.raises(urllib.error.HTTPError, match="405"):
            OPENER.open(url, timeout=60)
    with pytest.raises(urllib.error.URLError):
        OPENER.open(url, timeout=60)


def test_the_program_needs_nothing_but_the_standard_library() -> None:
    code = f"import runpy, sys; runpy.run_path({loopback.__file__!r}); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert "agy_kernel" not in done.stdout
