"""What it says of itself, whom it lets in, and what it refuses."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from agy_kernel import __version__
from tests.simulator.conftest import Start
from tests.simulator.wire import MODULE, Frame, Wire


# -- hello
async def test_initialize_answers_what_rc01_answers(wire: Wire) -> None:
    result = await wire.request("initialize", protocolVersion=1, clientCapabilities={})

    assert result["protocolVersion"] == 1
    assert result["agentCapabilities"] == {
        "loadSession": True,
        "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
        "mcpCapabilities": {"http": True, "sse": True},
        "sessionCapabilities": {"list": {}, "resume": {}},
        "auth": {"logout": {}},
    }
    assert [method["id"] for method in result["authMethods"]] == [
        "oauth-personal",
        "oauth-business",
        "gemini-api-key",
        "agent-platform",
    ]
    assert result["agentInfo"] == {
        "name": "antigravity-acp",
        "title": "Google Antigravity (simulator)",
        "version": f"simulator-{__version__}",
    }


async def test_a_newer_client_is_answered_with_version_1(wire: Wire) -> None:
    assert (await wire.request("initialize", protocolVersion=2))["protocolVersion"] == 1


async def test_start_delay_holds_initialize_back(start: Start) -> None:
    wire = await start("--start-delay", "0.5")
    loop = asyncio.get_running_loop()
    began = loop.time()
    await wire.request("initialize", protocolVersion=1)
    assert loop.time() - began >= 0.5


async def test_nothing_is_said_before_the_first_request(wire: Wire) -> None:
    assert await wire.close() == 0
    assert wire.frames == []
    assert wire.junk == []


@pytest.mark.parametrize("flags", [["--cancel", "never"], ["--chunk-delay", "-1"], ["--no-such"]])
async def test_wrong_flags_are_refused_with_the_usage(start: Start, flags: list[str]) -> None:
    wire = await start(*flags)
    assert await wire.end() == 2
    assert b"usage: agy-kernel simulate" in await wire.stderr()


async def test_help_names_every_flag() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", MODULE, "--help"), stdout=asyncio.subprocess.PIPE
    )
    text = (await process.communicate())[0].decode()
    documented = (Path(__file__).parents[2] / "docs" / "simulator.md").read_text()
    flags = set(re.findall(r"--[a-z][a-z-]+", text)) - {"--help"}
    assert len(flags) == 9
    assert flags <= set(re.findall(r"--[a-z][a-z-]+", documented))


# -- errors
@pytest.mark.parametrize(
    ("method", "params", "missing"),
    [
        ("initialize", {}, ["protocolVersion"]),
        ("authenticate", {"method": "oauth-personal"}, ["methodId"]),
        ("session/new", {"cwd": "/"}, ["mcpServers"]),
        ("session/new", {}, ["cwd", "mcpServers"]),
        ("session/load", {"sessionId": "x"}, ["cwd", "mcpServers"]),
        ("session/resume", {"sessionId": "x"}, ["cwd"]),
        ("session/close", {}, ["sessionId"]),
        ("session/set_mode", {"sessionId": "x"}, ["modeId"]),
        ("session/set_model", {"sessionId": "x"}, ["modelId"]),
        ("session/set_config_option", {"sessionId": "x", "value": "y"}, ["configId"]),
        ("session/prompt", {"sessionId": "x"}, ["prompt"]),
    ],
)
async def test_missing_params_are_named(
    wire: Wire, method: str, params: Frame, missing: list[str]
) -> None:
    assert await wire.error(method, **params) == {
        "code": -32602,
        "message": "Invalid params",
        "data": {
            "errors": [
                {"loc": [name], "msg": "field required", "type": "value_error.missing"}
                for name in missing
            ]
        },
    }


@pytest.mark.parametrize(
    ("params", "loc"),
    [
        ({"cwd": 1, "mcpServers": []}, ["cwd"]),
        ({"cwd": "relative", "mcpServers": []}, ["cwd"]),
        ({"cwd": "/", "mcpServers": {}}, ["mcpServers"]),
        ({"cwd": "/", "mcpServers": [1]}, ["mcpServers", 0]),
        (
            {"cwd": "/", "mcpServers": [{"type": "http", "name": "a", "url": "http://h/"}]},
            ["mcpServers", 0, "headers"],
        ),
        (
            {"cwd": "/", "mcpServers": [{"name": "a", "command": "c", "args": []}]},
            ["mcpServers", 0, "env"],
        ),
        ({"cwd": "/", "mcpServers": [{"type": "carrier pigeon"}]}, ["mcpServers", 0, "type"]),
    ],
)
async def test_wrong_params_are_located(wire: Wire, params: Frame, loc: list[str | int]) -> None:
    error = await wire.error("session/new", **params)
    assert (error["code"], [e["loc"] for e in error["data"]["errors"]]) == (-32602, [loc])


async def test_unreachable_mcp_servers_are_accepted(wire: Wire, cwd: Path) -> None:
    servers = [{"name": "b", "type": "http", "url": "http://127.0.0.1:9/", "headers": []}]
    assert (await wire.request("session/new", cwd=str(cwd), mcpServers=servers))["sessionId"]


@pytest.mark.parametrize("method", ["session/cancel", "session/fork", "session/delete", "no/such"])
async def test_unknown_methods_have_rc01s_error(wire: Wire, cwd: Path, method: str) -> None:
    session = await wire.open(cwd)
    assert await wire.error(method, sessionId=session) == {
        "code": -32601,
        "message": "Method not found",
        "data": {"method": method},
    }


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
@pytest.mark.parametrize(
    "session", ["928c6a30-e2ba-40c5-8c48-5739ba8adf4c", "../state", "../../etc/passwd", "", "x"]
)
async def test_unknown_sessions_are_said_to_be_so(
    wire: Wire, cwd: Path, method: str, session: str
) -> None:
    error = await wire.error(method, sessionId=session, cwd=str(cwd), mcpServers=[])
    assert (error["code"], error["message"]) == (-32000, "Session not found")


async def test_what_is_not_a_message_does_no_harm(wire: Wire, cwd: Path) -> None:
    for line in (b"42", b"[]", b"{", b"\xff\xfe", b'{"id": 5}', b'{"method": "session/cancel"}'):
        wire.write(line)
    session = await wire.open(cwd)
    assert await wire.prompt(session, "Say hello") == {"stopReason": "end_turn"}


# -- signing in
async def test_signed_out_sessions_need_a_sign_in(start: Start, cwd: Path) -> None:
    wire = await start("--signed-out")
    error = await wire.error("session/new", cwd=str(cwd), mcpServers=[])
    assert (error["code"], error["message"]) == (-32000, "Authentication required")
    assert error["data"]["message"].startswith("No authentication method selected.")

    assert await wire.request("authenticate", methodId="oauth-personal") == {}
    assert (await wire.request("session/new", cwd=str(cwd), mcpServers=[]))["sessionId"]


@pytest.mark.parametrize(
    ("method", "env"),
    [
        ("gemini-api-key", {"GEMINI_API_KEY": "k"}),
        ("agent-platform", {"GOOGLE_API_KEY": "k"}),
        ("agent-platform", {"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "l"}),
    ],
)
async def test_keys_sign_in(start: Start, method: str, env: dict[str, str]) -> None:
    wire = await start("--signed-out", **env)
    assert await wire.request("authenticate", methodId=method) == {}


@pytest.mark.parametrize("method", ["gemini-api-key", "agent-platform", "oauth-business"])
async def test_a_sign_in_fails_without_what_it_needs(
    start: Start, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    wire = await start("--signed-out")
    error = await wire.error("authenticate", methodId=method)
    assert (error["code"], error["data"]) == (-32000, {"reason": "onboarding_failed"})
    assert error["message"].startswith("Onboarding failed: ")


async def test_an_unknown_sign_in_method_is_refused(wire: Wire) -> None:
    error = await wire.error("authenticate", methodId="password")
    assert (error["code"], error["data"]["errors"][0]["loc"]) == (-32602, ["methodId"])


async def test_logout_the_method_and_the_command_sign_out(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    assert await wire.prompt(session, "/logout") == {"stopReason": "end_turn"}
    assert (await wire.prompt(session, "Say hello"))["message"] == "Authentication required"
    await wire.request("authenticate", methodId="oauth-personal")
    assert await wire.request("logout") == {}
    error = await wire.error("session/new", cwd=str(cwd), mcpServers=[])
    assert error["message"] == "Authentication required"
