"""The simulator, driven by the Python SDK's client and, where that cannot say it, line by line."""

import asyncio
import base64
import io
import json
import os
import re
import signal
import sys
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import acp
import pytest
from acp import schema
from PIL import Image
from pydantic import BaseModel

from agy_kernel import __version__

MODULE = "agy_kernel.agents.simulator"
INTRODUCTION = "This is the Antigravity simulator."
Frame = dict[str, Any]

RESULTS: dict[str, type[BaseModel]] = {
    "initialize": schema.InitializeResponse,
    "authenticate": schema.AuthenticateResponse,
    "logout": schema.LogoutResponse,
    "session/new": schema.NewSessionResponse,
    "session/load": schema.LoadSessionResponse,
    "session/resume": schema.ResumeSessionResponse,
    "session/list": schema.ListSessionsResponse,
    "session/close": schema.CloseSessionResponse,
    "session/set_mode": schema.SetSessionModeResponse,
    "session/set_config_option": schema.SetSessionConfigOptionResponse,
    "session/prompt": schema.PromptResponse,
}


class Wire:
    """One end of the wire: sends what a test says, keeps and checks every frame that comes.

    Args:
        process: a simulator.
        answer: the option that permission requests are answered with, None for "cancelled".
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.answer: str | None = "allow"
        self.answering = True
        self.frames: list[Frame] = []
        self.junk: list[bytes] = []
        self._methods: dict[int, str] = {}
        self._arrived = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())

    async def close(self) -> int:
        """Close the simulator's stdin; returns its exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        await self._reading
        return await self.process.wait()

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")

    def send(self, **message: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def notify(self, method: str, params: Frame) -> None:
        self.send(method=method, params=params)

    def ask(self, method: str, params: Frame) -> int:
        """Send a request; returns its id."""
        request_id = len(self._methods)
        self._methods[request_id] = method
        self.send(id=request_id, method=method, params=params)
        return request_id

    async def response(self, request_id: int) -> Frame:
        return await self.until(lambda f: f.get("id") == request_id and "method" not in f)

    async def request(self, method: str, **params: Any) -> Any:
        response = await self.response(self.ask(method, params))
        assert "error" not in response, response
        return response["result"]

    async def error(self, method: str, **params: Any) -> Any:
        return (await self.response(self.ask(method, params)))["error"]

    async def until(self, wanted: Callable[[Frame], Any]) -> Frame:
        """The first frame of that kind, waiting until it has come."""

        def found() -> Frame | None:
            return next((f for f in self.frames if wanted(f)), None)

        async with self._arrived:
            await self._arrived.wait_for(lambda: found() or self._reading.done())
        frame = found()
        assert frame is not None, f"the simulator ended without it: {self.frames[-3:]}"
        return frame

    async def _read(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            async with self._arrived:
                self._take(line)
                self._arrived.notify_all()

    def _take(self, line: bytes) -> None:
        try:
            frame = json.loads(line)
        except ValueError:
            self.junk.append(line)
            return
        self.frames.append(frame)
        if "method" in frame and "id" in frame and self.answering:
            selected = {"outcome": "selected", "optionId": self.answer}
            outcome = selected if self.answer else {"outcome": "cancelled"}
            self.send(id=frame["id"], result={"outcome": outcome})

    # -- what the frames say

    async def open(self, cwd: Path) -> str:
        """Shake hands and open a session; returns its id."""
        await self.request("initialize", protocolVersion=1)
        session = await self.request("session/new", cwd=str(cwd), mcpServers=[])
        return str(session["sessionId"])

    def begin(self, session: str, text: str) -> int:
        blocks = [{"type": "text", "text": text}]
        return self.ask("session/prompt", {"sessionId": session, "prompt": blocks})

    async def prompt(self, session: str, text: str) -> Any:
        """Prompt; returns the answer, and leaves only this turn's frames in ``frames``."""
        self.frames.clear()
        response = await self.response(self.begin(session, text))
        return response.get("result") or response["error"]

    async def script(self, session: str, *steps: Any) -> Any:
        return await self.prompt(session, "SIM:" + json.dumps(steps))

    def updates(self, *kinds: str) -> list[Frame]:
        found = [f["params"]["update"] for f in self.frames if f.get("method") == "session/update"]
        return [u for u in found if not kinds or u["sessionUpdate"] in kinds]

    def chunks(self, kind: str = "agent_message_chunk") -> list[str]:
        return [u["content"]["text"] for u in self.updates(kind)]

    @property
    def text(self) -> str:
        return "".join(self.chunks())

    def asked(self) -> list[Frame]:
        return [f["params"] for f in self.frames if f.get("method") == "session/request_permission"]

    def check(self) -> None:
        """Compare every frame with the SDK's models."""
        for frame in self.frames:
            if "method" in frame:
                _check_sent(frame)
            elif "error" in frame:
                _same(schema.Error, frame["error"])
            elif model := RESULTS.get(self._methods[frame["id"]]):
                _same(model, frame["result"])


def _check_sent(frame: Frame) -> None:
    if frame["method"] == "session/update":
        _same(schema.SessionNotification, frame["params"])
    elif frame["method"] == "session/request_permission":
        _same(schema.RequestPermissionRequest, frame["params"])


def _same(model: type[BaseModel], value: Frame) -> None:
    """Nothing is refused, and nothing is dropped but ``models``, which left the specification."""
    kept = model.model_validate(value).model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert kept == {k: v for k, v in value.items() if k != "models"}


@asynccontextmanager
async def simulator(
    *flags: str, state: Path, env: dict[str, str] | None = None
) -> AsyncIterator[Wire]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", MODULE, "--chunk-delay", "0", "--state", str(state), *flags),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=1 << 24,
        env={**os.environ, **(env or {})},
        start_new_session=True,
    )
    wire = Wire(process)
    try:
        yield wire
        wire.check()
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
        await wire._reading


Start = Callable[..., Any]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Starts simulators that share a folder of sessions."""
    async with AsyncExitStack() as running:

        async def start(*flags: str, state: Path = tmp_path / "state", **env: str) -> Wire:
            return await running.enter_async_context(simulator(*flags, state=state, env=env))

        yield start


@pytest.fixture
async def wire(start: Start) -> Wire:
    opened: Wire = await start()
    return opened


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


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
    _, stderr = await wire.process.communicate()
    assert wire.process.returncode == 2
    assert b"usage: agy-kernel simulate" in stderr


async def test_help_names_every_flag() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", MODULE, "--help"), stdout=asyncio.subprocess.PIPE
    )
    text = (await process.communicate())[0].decode()
    documented = (Path(__file__).parent.parent / "docs" / "simulator.md").read_text()
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
@pytest.mark.parametrize("session", [str(uuid.uuid4()), "../state", "../../etc/passwd", "", "x"])
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


# -- sessions


async def test_a_new_session_brings_the_whole_catalogue(wire: Wire, cwd: Path) -> None:
    result = await wire.request("session/new", cwd=str(cwd), mcpServers=[])

    assert str(uuid.UUID(result["sessionId"])) == result["sessionId"]
    modes = [mode["id"] for mode in result["modes"]["availableModes"]]
    assert (result["modes"]["currentModeId"], modes) == (
        "default",
        ["default", "auto_edit", "yolo"],
    )
    models = result["models"]["availableModels"]
    assert result["models"]["currentModelId"] == "gemini-3.7-flash-high"
    assert len(models) == 11
    assert models[9] == {
        "modelId": "gemini-pro-agent",
        "name": "Gemini 3.1 Pro (High)",
        "description": "gemini-pro-agent",
    }
    model, mode = result["configOptions"]
    assert (model["id"], model["category"], model["type"]) == ("model", "model", "select")
    assert [o["value"] for o in model["options"]] == [m["modelId"] for m in models]
    assert (mode["id"], mode["name"], mode["currentValue"]) == ("mode", "Session Mode", "default")


async def test_the_commands_come_right_after_the_session(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.until(lambda f: f.get("method") == "session/update")

    opened, commands = wire.frames[-2:]
    assert opened["result"]["sessionId"] == session
    assert commands["params"]["sessionId"] == session
    update = commands["params"]["update"]
    assert update["sessionUpdate"] == "available_commands_update"
    assert [command["name"] for command in update["availableCommands"]] == ["plan", "logout"]


async def test_model_and_mode_can_be_set_in_three_ways(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)

    async def set_option(option: str, value: str) -> list[str]:
        params = {"sessionId": session, "configId": option, "value": value}
        result = await wire.request("session/set_config_option", **params)
        return [option["currentValue"] for option in result["configOptions"]]

    assert await set_option("model", "gemini-3.8-flash-low") == ["gemini-3.8-flash-low", "default"]
    assert await wire.request("session/set_mode", sessionId=session, modeId="yolo") == {}
    model = {"sessionId": session, "modelId": "gemini-pro-agent"}
    assert await wire.request("session/set_model", **model) == {}
    assert await set_option("mode", "auto_edit") == ["gemini-pro-agent", "auto_edit"]


@pytest.mark.parametrize(
    ("method", "params", "loc"),
    [
        ("session/set_config_option", {"configId": "model", "value": "gpt"}, "value"),
        ("session/set_config_option", {"configId": "effort", "value": "high"}, "configId"),
        ("session/set_mode", {"modeId": "plan"}, "modeId"),
        ("session/set_model", {"modelId": "gpt"}, "modelId"),
    ],
)
async def test_unknown_choices_are_refused(
    wire: Wire, cwd: Path, method: str, params: Frame, loc: str
) -> None:
    error = await wire.error(method, sessionId=await wire.open(cwd), **params)
    assert (error["code"], error["data"]["errors"][0]["loc"]) == (-32602, [loc])


async def test_load_in_a_fresh_process_replays_whole_texts(start: Start, cwd: Path) -> None:
    first = await start()
    session = await first.open(cwd)
    await first.request("session/set_mode", sessionId=session, modeId="yolo")
    texts = []
    for prompt in ("Think first", "Show a long answer"):
        await first.prompt(session, prompt)
        texts += [prompt, first.text]
    assert await first.close() == 0

    second = await start()
    load = {"sessionId": session, "cwd": str(cwd), "mcpServers": []}
    result = await second.request("session/load", **load)
    await second.until(lambda f: "available_commands_update" in json.dumps(f))

    assert [u["sessionUpdate"] for u in second.updates()] == [
        "user_message_chunk",
        "agent_message_chunk",
        "user_message_chunk",
        "agent_message_chunk",
        "available_commands_update",
    ]
    assert [u["content"]["text"] for u in second.updates()[:4]] == texts
    assert second.frames[4]["result"] == result, "history comes before the response"
    assert "sessionId" not in result
    assert result["modes"]["currentModeId"] == "default", "RC01 loses the config"
    await second.prompt(session, "Say hello")
    assert INTRODUCTION not in second.text


@pytest.mark.parametrize(("flags", "mode"), [([], "default"), (["--keep-config"], "yolo")])
async def test_config_survives_a_load_only_by_flag(
    start: Start, cwd: Path, flags: list[str], mode: str
) -> None:
    first = await start(*flags)
    session = await first.open(cwd)
    await first.request("session/set_mode", sessionId=session, modeId="yolo")
    await first.close()
    second = await start(*flags)
    load = {"sessionId": session, "cwd": str(cwd), "mcpServers": []}
    assert (await second.request("session/load", **load))["modes"]["currentModeId"] == mode


async def test_resume_opens_without_a_replay(start: Start, cwd: Path) -> None:
    first = await start()
    session = await first.open(cwd)
    await first.prompt(session, "Say hello")
    await first.close()
    second = await start()
    result = await second.request("session/resume", sessionId=session, cwd=str(cwd))
    assert result["configOptions"]
    await second.prompt(session, "Say hello")
    assert second.updates("user_message_chunk") == []


async def test_list_tells_of_a_folders_sessions(wire: Wire, cwd: Path, tmp_path: Path) -> None:
    session = await wire.open(cwd)
    elsewhere = await wire.open(tmp_path)
    await wire.prompt(session, "Say hello\nto me")

    everywhere = (await wire.request("session/list"))["sessions"]
    assert [s["sessionId"] for s in everywhere] == [session, elsewhere], "the latest first"
    (here,) = (await wire.request("session/list", cwd=str(cwd)))["sessions"]
    assert (here["sessionId"], here["cwd"], here["title"]) == (session, str(cwd), "Say hello")


async def test_a_closed_session_is_gone_and_can_be_loaded(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    assert await wire.request("session/close", sessionId=session) == {}
    assert (await wire.prompt(session, "hello"))["message"] == "Session not found"
    load = {"sessionId": session, "cwd": str(cwd), "mcpServers": []}
    await wire.request("session/load", **load)
    assert await wire.prompt(session, "hello") == {"stopReason": "end_turn"}


async def test_without_a_folder_for_sessions_only_their_memory_is_lost(
    start: Start, cwd: Path, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    wire = await start(state=blocked)
    session = await wire.open(cwd)
    assert await wire.prompt(session, "Say hello") == {"stopReason": "end_turn"}
    assert await wire.prompt(session, "/plan a party") == {"stopReason": "end_turn"}
    assert [u["status"] for u in wire.updates("tool_call_update")] == ["failed"]
    assert "could not write the plan" in wire.text
    await wire.close()
    assert wire.process.stderr is not None
    assert (await wire.process.stderr.read()).count(b"sessions cannot be kept") == 1


async def test_session_files_are_private(wire: Wire, cwd: Path, tmp_path: Path) -> None:
    session = await wire.open(cwd)
    (file,) = (tmp_path / "state" / "sessions").iterdir()
    assert file.name == f"{session}.json"
    assert file.stat().st_mode & 0o077 == 0


# -- words


async def test_text_comes_in_deltas_that_split_words(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.prompt(session, "Show a long answer")
    chunks = wire.chunks()
    assert len(chunks) > 50
    assert "## How far does a random walk get?" in wire.text
    inside_words = [a for a, b in zip(chunks, chunks[1:], strict=False) if re.match(r"\w", b)]
    assert any(re.search(r"\w$", chunk) for chunk in inside_words)
    assert wire.frames[-1]["result"] == {"stopReason": "end_turn"}, "updates before the response"


async def test_whole_text_comes_in_one_chunk(start: Start, cwd: Path) -> None:
    wire = await start("--whole-text")
    session = await wire.open(cwd)
    await wire.prompt(session, "Say hello")
    introduction, hello = wire.chunks()
    assert INTRODUCTION in introduction
    assert hello.startswith("Hello!")


async def test_the_first_reply_says_that_this_is_a_simulator(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.prompt(session, "Say hello")
    assert wire.text.startswith(f"> **{INTRODUCTION}**")
    await wire.prompt(session, "Say hello")
    assert INTRODUCTION not in wire.text


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("Say hello", "Hello!"),
        ("Explain what you can do", "| `Create hello.py that greets` |"),
        ("Show a long answer", "```python"),
        ("What is the answer?", "> What is the answer?"),
        ("Explain this error", "Each of these prompts"),
        ("Think first", "I have thought about it."),
    ],
)
async def test_plain_words_choose_the_reply(wire: Wire, cwd: Path, prompt: str, said: str) -> None:
    session = await wire.open(cwd)
    assert await wire.prompt(session, prompt) == {"stopReason": "end_turn"}
    assert said in wire.text


async def test_every_prompt_that_is_explained_does_something(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.prompt(session, "Explain what you can do")
    prompts = re.findall(r"^\| `(.+)` \| .+ \|$", wire.text, re.MULTILINE)
    assert len(prompts) == 16
    answered = [p for p in prompts if p not in ("Wait", "Crash", "/logout")]
    for prompt in answered:
        await wire.prompt(session, prompt)
        assert "I only know a few prompts" not in wire.text or prompt == "How are you?"


async def test_thoughts_are_apart_from_the_answer(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.prompt(session, "Think first")
    assert "goes out as a thought" in "".join(wire.chunks("agent_thought_chunk"))
    assert "goes out as a thought" not in wire.text


async def test_what_came_with_a_prompt_is_named(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    blocks = [
        {"type": "image", "mimeType": "image/png", "data": "iVBORw0="},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "x = 1  # edit a.py"}},
        {"type": "text", "text": "What is this?"},
    ]
    await wire.request("session/prompt", sessionId=session, prompt=blocks)
    assert "> What is this?" in wire.text
    assert "1 image, 1 resource" in wire.text


async def test_an_image_is_a_picture(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.prompt(session, "Draw an image")
    content = [u["content"] for u in wire.updates() if u["content"]["type"] == "image"]
    with Image.open(io.BytesIO(base64.b64decode(content[0]["data"]))) as picture:
        picture.load()
        assert (picture.format, picture.size) == ("PNG", (96, 96))


async def test_errors_are_text_and_a_good_end(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    assert await wire.prompt(session, "error") == {"stopReason": "end_turn"}
    assert wire.text.startswith("Agent execution error: ")


async def test_a_refusal_has_its_stop_reason(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    assert await wire.prompt(session, "Refuse, please") == {"stopReason": "refusal"}


async def test_a_crash_ends_the_process_in_mid_sentence(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    wire.frames.clear()
    wire.begin(session, "Crash")
    _, stderr = await wire.process.communicate()
    assert (wire.process.returncode, wire.text) == (3, "This answer ends in the middle of")
    assert stderr == b"simulator: crashed, as the prompt asked\n"


async def test_no_usage_anywhere_unless_by_flag(start: Start, cwd: Path) -> None:
    for flags in ([], ["--usage"]):
        wire = await start(*flags)
        session = await wire.open(cwd)
        result = await wire.prompt(session, "Say hello")
        (asked,) = [b"Say hello"]
        total = (len(asked) + len(wire.text)) // 4
        usage = [(u["used"], u["size"]) for u in wire.updates("usage_update")]
        assert usage == ([(total, 1_048_576)] if flags else [])
        assert result.get("usage", {}).get("totalTokens") == (total if flags else None)
        assert ("usage" in json.dumps(wire.frames)) == bool(flags)


# -- tools


async def test_a_file_is_written_once_allowed_under_another_id(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.prompt(session, "Create hello.py that greets")

    (asked,) = wire.asked()
    call = asked["toolCall"]
    assert re.fullmatch(r"[0-9a-f]{32}", call["toolCallId"])
    assert (call["title"], call["kind"], call["status"]) == ("Run create_file?", "edit", "pending")
    source = (cwd / "hello.py").read_text()
    assert call["content"] == [
        {
            "type": "diff",
            "path": str(cwd / "hello.py"),
            "newText": source,
            "_meta": {"kind": "add"},
        }
    ]
    assert call["locations"] == [{"path": str(cwd / "hello.py")}]
    assert asked["options"] == [
        {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
        {"optionId": "deny", "name": "Deny", "kind": "reject_once"},
    ]
    steps = [
        (u["toolCallId"], u["status"], u.get("rawOutput"))
        for u in wire.updates("tool_call", "tool_call_update")
    ]
    assert steps == [
        (call["toolCallId"], "pending", None),
        (call["toolCallId"], "failed", "Tool call was approved but never executed."),
        (f"{session}:7", "in_progress", None),
        (f"{session}:7", "completed", "Edit hello.py"),
        ("call_859008", "in_progress", None),
        ("call_859008", "completed", "Read hello.py"),
    ]
    assert 'return "Hello, world!"' in source


async def test_an_edit_has_the_old_text_too(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.prompt(session, "Create hello.py that greets")
    before = (cwd / "hello.py").read_text()
    await wire.prompt(session, "Edit hello.py so that it greets by name")
    (diff,) = wire.asked()[0]["toolCall"]["content"]
    assert (diff["oldText"], diff["newText"]) == (before, (cwd / "hello.py").read_text())
    assert "def greet(name: str)" in diff["newText"]
    assert "_meta" not in diff
    await wire.prompt(session, "Run python hello.py")
    (done,) = [u for u in wire.updates() if u.get("status") == "completed"]
    assert done["content"] == [
        {"type": "content", "content": {"type": "text", "text": "Hello, Ada!"}}
    ]
    assert done["rawOutput"] == "Run python hello.py"
    assert "**simulated**" in wire.text


@pytest.mark.parametrize("answer", ["deny", None, "no such option"])
async def test_a_file_is_left_alone_unless_allowed(
    wire: Wire, cwd: Path, answer: str | None
) -> None:
    session = await wire.open(cwd)
    wire.answer = answer
    assert await wire.prompt(session, "Create hello.py") == {"stopReason": "end_turn"}
    assert list(cwd.iterdir()) == []
    (update,) = wire.updates("tool_call_update")
    assert (update["status"], update["rawOutput"]) == ("failed", "Tool call was denied.")
    assert "was not created" in wire.text


@pytest.mark.parametrize(
    ("mode", "asked"), [("default", 3), ("auto_edit", 2), ("yolo", 1)], ids=lambda v: str(v)
)
async def test_modes_decide_what_is_asked(wire: Wire, cwd: Path, mode: str, asked: int) -> None:
    session = await wire.open(cwd)
    await wire.request("session/set_mode", sessionId=session, modeId=mode)
    questions = 0
    for prompt in ("Create hello.py", "Run ls", "mcp hello"):
        await wire.prompt(session, prompt)
        questions += len(wire.asked())
    assert questions == asked
    assert (cwd / "hello.py").exists()


@pytest.mark.parametrize("name", ["../evil.py", "/tmp/evil.py", "link/evil.py", "~/../../evil.py"])
async def test_nothing_is_written_outside_the_folder(
    wire: Wire, cwd: Path, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (cwd / "link").symlink_to(outside)
    session = await wire.open(cwd)
    await wire.prompt(session, f"Create {name}")
    assert wire.asked() == []
    assert "outside the notebook's folder" in wire.text
    assert list(outside.iterdir()) == []
    error = await wire.script(session, {"write": name, "text": "x"})
    assert error["code"] == -32602


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("notes.md", b"one\r\ntwo", b"one\r\ntwo\n\nEdited by"),
        ("analysis.py", b"x = 1\n", b"x = 1\n\n# Edited by"),
        ("data.json", b"{}", b"{}"),
        ("binary.py", b"\xff\xfe", b"\xff\xfe"),
    ],
)
async def test_edits_of_other_files_add_a_line_or_nothing(
    wire: Wire, cwd: Path, name: str, before: bytes, after: bytes
) -> None:
    (cwd / name).write_bytes(before)
    session = await wire.open(cwd)
    assert await wire.prompt(session, f"Edit {name}") == {"stopReason": "end_turn"}
    assert (cwd / name).read_bytes().startswith(after)
    assert len((cwd / name).read_bytes()) == len(before) or wire.asked()


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("echo 'a b' c", "a b c"),
        ("pwd", "{cwd}"),
        ("ls", "a.txt"),
        ("touch gone.txt; echo x > gone.txt", "(simulated) "),
        ("python evil.py", "(simulated) "),
        ("echo 'unbalanced", "'unbalanced"),
    ],
)
async def test_no_command_is_ever_run(wire: Wire, cwd: Path, command: str, output: str) -> None:
    (cwd / "a.txt").touch()
    (cwd / "evil.py").write_text("open('gone.txt', 'w')\n")
    if command == "ls":
        (cwd / "evil.py").unlink()
    session = await wire.open(cwd)
    await wire.prompt(session, f"Run {command}")
    (asked,) = wire.asked()
    assert asked["toolCall"]["title"] == "Run run_command?"
    assert asked["toolCall"]["rawInput"] == {"CommandLine": command, "Cwd": str(cwd)}
    (done,) = [u for u in wire.updates() if u.get("status") == "completed"]
    printed = done["content"][0]["content"]["text"]
    assert printed.startswith(output.format(cwd=cwd))
    assert not (cwd / "gone.txt").exists()


async def test_mcp_calls_look_as_on_rc01(wire: Wire, cwd: Path) -> None:
    await wire.request("initialize", protocolVersion=1)
    server = {"name": "bridge", "type": "http", "url": "http://127.0.0.1:9/", "headers": []}
    opened = await wire.request("session/new", cwd=str(cwd), mcpServers=[server])
    await wire.prompt(opened["sessionId"], "mcp hello there")
    call = wire.asked()[0]["toolCall"]
    assert re.fullmatch(r"call_\d{6}", call["toolCallId"])
    assert call["title"] == "bridge_echo"
    assert call["rawInput"] == {"arguments": {"text": "hello there"}}
    assert call["_meta"]["mcp"]["tool"] == "echo"
    (done,) = [u for u in wire.updates() if u.get("status") == "completed"]
    assert (done["rawOutput"], "content" in done) == ("Call echo", False)


@pytest.mark.parametrize(("answer", "said"), [("2", "**A long answer**"), (None, "No answer")])
async def test_questions_come_in_permission_form(
    wire: Wire, cwd: Path, answer: str | None, said: str
) -> None:
    session = await wire.open(cwd)
    wire.answer = answer
    await wire.prompt(session, "Ask me a question")
    (asked,) = wire.asked()
    assert re.fullmatch(r"interaction_[0-9a-f]{32}", asked["toolCall"]["toolCallId"])
    assert asked["toolCall"]["title"].endswith("?")
    assert {option["kind"] for option in asked["options"]} == {"allow_once"}
    assert [option["optionId"] for option in asked["options"]] == ["1", "2", "3"]
    assert said in wire.text


async def test_plan_is_intercepted_and_written_apart(wire: Wire, cwd: Path, tmp_path: Path) -> None:
    session = await wire.open(cwd)
    await wire.prompt(session, "/plan Organize a birthday party")
    assert wire.asked() == []
    kinds = [u["sessionUpdate"] for u in wire.updates()]
    assert list(dict.fromkeys(kinds)) == [
        "agent_message_chunk",  # the introduction
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
    ]
    assert kinds[-1] == "agent_message_chunk"
    create, edit = wire.updates("tool_call")
    assert create["title"] == "Create implementation_plan.md"
    assert "Organize a birthday party" in create["content"][0]["newText"]
    assert edit["toolCallId"] == f"{session}:7"
    plan = Path(edit["locations"][0]["path"])
    assert plan.read_text() == edit["content"][0]["newText"]
    assert plan.is_relative_to(tmp_path / "state" / "brain" / session)
    assert list(cwd.iterdir()) == []
    assert "Please decide" in wire.text


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
    assert list(cwd.iterdir()) == []
    await wire.close()
    assert wire.process.stderr is not None
    assert await wire.process.stderr.read() == b""


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
    assert wire.process.stderr is not None
    assert await wire.process.stderr.read() == b""


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


# -- the script form


async def test_the_script_may_follow_other_text_and_span_lines(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.prompt(session, 'Hello, and then\nSIM: [\n  {"text": "scripted"}\n]\nthe rest')
    assert wire.text == "scripted"


@pytest.mark.parametrize(
    "bad", ["", "nonsense", "{}", "[1]", "[{}]", '[{"dance": 1}]', '[{"late": [{"dance": 1}]}]']
)
async def test_a_bad_script_is_refused(wire: Wire, cwd: Path, bad: str) -> None:
    session = await wire.open(cwd)
    error = await wire.prompt(session, f"SIM: {bad}")
    assert error["code"] == -32602
    assert error["data"]["errors"][0]["loc"] == ["prompt"]


async def test_texts_thoughts_and_chunks(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.script(session, {"text": "Hello, "}, {"thought": "hm"}, {"chunks": [3, "ab"]})
    assert (wire.text, wire.chunks("agent_thought_chunk")) == ("Hello, ababab", ["hm"])


async def test_ten_thousand_chunks_all_arrive(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.script(session, {"chunks": [10_000, "abcd"]})
    assert wire.chunks() == ["abcd"] * 10_000


async def test_tool_calls_and_updates_as_given(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    plan = {"sessionUpdate": "plan", "entries": []}
    await wire.script(
        session,
        {"tool": {"toolCallId": "a", "title": "Look", "kind": "read"}},
        {"tool": {"toolCallId": "a", "status": "completed"}},
        {"update": plan},
    )
    first, second, third = wire.updates()
    assert (first["sessionUpdate"], first["kind"]) == ("tool_call", "read")
    assert (second["sessionUpdate"], second["status"]) == ("tool_call_update", "completed")
    assert third == plan


async def test_asking_tells_the_answer(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    options = [{"optionId": "yes", "name": "Yes!", "kind": "allow_always"}]
    call = {"toolCallId": "t", "title": "Really?"}
    wire.answer = "yes"
    await wire.script(session, {"ask": {"toolCall": call, "options": options}})
    assert wire.asked()[0]["toolCall"] == call
    assert wire.text == "answer: yes\n"
    wire.answer = None
    await wire.script(session, {"ask": {}})
    assert wire.text == "answer: cancelled\n"


async def test_several_questions_can_be_open_at_once(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    wire.answering = False
    turn = wire.begin(session, 'SIM: [{"together": [{"ask": {}}, {"ask": {}}]}]')
    await wire.until(lambda _: len(wire.asked()) == 2)
    second, first = [f for f in reversed(wire.frames) if "method" in f and "id" in f][:2]
    for frame, option in ((second, "deny"), (first, "allow")):
        outcome = {"outcome": "selected", "optionId": option}
        wire.send(id=frame["id"], result={"outcome": outcome})
    await wire.response(turn)
    assert wire.text == "answer: deny\nanswer: allow\n"


async def test_writing_a_file_by_script(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.script(session, {"write": "sub/a.txt", "text": "ä\n"})
    assert (cwd / "sub" / "a.txt").read_text(encoding="utf-8") == "ä\n"
    assert len(wire.asked()) == 1


async def test_requests_of_any_method_tell_their_outcome(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    wire.answering = False
    prompt = 'SIM: [{"request": ["fs/read_text_file", {"path": "/x"}]}]'
    for answer, said in (
        ({"error": {"code": -32601, "message": "Method not found"}}, "error: -32601\n"),
        ({"result": {"content": "x"}}, 'result: {"content": "x"}\n'),
    ):
        wire.frames.clear()
        turn = wire.begin(session, prompt)
        frame = await wire.until(lambda f: f.get("method") == "fs/read_text_file")
        assert frame["params"] == {"sessionId": session, "path": "/x"}
        wire.send(id=frame["id"], **answer)
        await wire.response(turn)
        assert wire.text == said


async def test_raw_lines_and_stderr(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.script(session, {"raw": "not json"}, {"stderr": "a word"}, {"text": "on"})
    assert (wire.junk, wire.text) == ([b"not json\n"], "on")
    await wire.close()
    assert wire.process.stderr is not None
    assert await wire.process.stderr.read() == b"a word\n"


async def test_exit(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    wire.begin(session, 'SIM: [{"exit": 7}]')
    assert await wire.process.wait() == 7


async def test_a_grandchild_has_a_session_of_its_own(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.script(session, {"spawn_grandchild": True})
    pid = int(wire.text.removeprefix("grandchild: "))
    try:
        assert os.getsid(pid) == pid != os.getsid(wire.process.pid)
        assert await wire.close() == 0
        os.kill(pid, 0)  # it is still there
    finally:
        os.kill(pid, signal.SIGKILL)


async def test_stop_reasons_and_failures(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    assert await wire.script(session, {"stop": "max_tokens"}) == {"stopReason": "max_tokens"}
    error = {"code": -32603, "message": "x", "data": {"a": 1}}
    assert await wire.script(session, {"text": "a"}, {"fail": error}) == error
    assert await wire.prompt(session, "Say hello") == {"stopReason": "end_turn"}


async def test_late_steps_come_after_the_response(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.script(session, {"late": [{"text": "late"}]}, {"text": "early"})
    await wire.until(lambda f: "late" in json.dumps(f))
    kinds = ["text" if "method" in frame else "response" for frame in wire.frames]
    assert kinds == ["text", "response", "text"]
    assert wire.chunks() == ["early", "late"]


async def test_echo_sends_the_blocks_back(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    blocks = [
        {"type": "resource", "resource": {"uri": "file:///a", "text": "x"}},
        {"type": "text", "text": 'SIM: [{"echo": true}]'},
    ]
    await wire.request("session/prompt", sessionId=session, prompt=blocks)
    assert json.loads(wire.text) == blocks


async def test_waiting_for_a_time(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    loop = asyncio.get_running_loop()
    began = loop.time()
    assert await wire.script(session, {"wait": 0.2}) == {"stopReason": "end_turn"}
    assert loop.time() - began >= 0.2


# -- the Python SDK as the client


class SdkClient(acp.Client):
    """Allows everything, and keeps what it is told."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.waiting = asyncio.Event()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: Any, **_: Any
    ) -> acp.RequestPermissionResponse:
        allowed = schema.AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        return acp.RequestPermissionResponse(outcome=allowed)

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)
        self.waiting.set()

    @property
    def text(self) -> str:
        chunks = [u for u in self.updates if isinstance(u, schema.AgentMessageChunk)]
        return "".join(
            c.content.text for c in chunks if isinstance(c.content, schema.TextContentBlock)
        )


async def test_the_python_sdk_as_client(tmp_path: Path, cwd: Path) -> None:
    client = SdkClient()
    command = (sys.executable, "-m", MODULE, "--chunk-delay", "0", "--state", str(tmp_path / "s"))
    async with acp.spawn_agent_process(client, *command) as (agent, process):
        info = (await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)).agent_info
        assert info is not None
        assert info.title == "Google Antigravity (simulator)"
        session = (await agent.new_session(cwd=str(cwd), mcp_servers=[])).session_id

        options = await agent.set_config_option("model", session, "gemini-3.8-flash-low")
        assert options.config_options[0].current_value == "gemini-3.8-flash-low"
        await agent.set_session_mode(session_id=session, mode_id="default")

        answer = await agent.prompt(session, [acp.text_block("Create hello.py that greets")])
        assert answer.stop_reason == "end_turn"
        assert (cwd / "hello.py").exists()
        assert "hello.py` now exists" in client.text
        calls = [u for u in client.updates if isinstance(u, schema.ToolCallStart)]
        assert [call.kind for call in calls] == ["edit", "edit", "read"]

        client.waiting.clear()
        turn = asyncio.create_task(
            agent.prompt(session, [acp.text_block('SIM: [{"text": "a"}, {"wait": null}]')])
        )
        await client.waiting.wait()
        await agent.cancel(session)
        assert (await turn).stop_reason == "cancelled"

        await agent.close_session(session)
        client.updates.clear()
        loaded = await agent.load_session(cwd=str(cwd), session_id=session, mcp_servers=[])
        assert loaded.modes is not None
        assert (await agent.list_sessions(cwd=str(cwd))).sessions[0].session_id == session
        replayed = [u for u in client.updates if isinstance(u, schema.UserMessageChunk)]
        assert len(replayed) == 2
        with pytest.raises(acp.RequestError):
            await agent.prompt("no such session", [acp.text_block("hello")])
    assert process.returncode == 0
