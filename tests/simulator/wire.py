"""A raw end of the simulator's wire, for what the Python SDK's client cannot say or would hide."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from acp import schema
from pydantic import BaseModel

MODULE = "agy_kernel.agents.simulator"
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

    Permission requests are answered with the option ``answer`` (None for "cancelled"), and so
    are all other requests, as long as ``answering`` is set.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.answer: str | None = "allow"
        self.answering = True
        self.frames: list[Frame] = []  # since the last prompt
        self._all: list[Frame] = []
        self.junk: list[bytes] = []
        self._methods: dict[int, str] = {}
        self._arrived = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())
        assert process.stderr is not None
        self._stderr = asyncio.create_task(process.stderr.read())

    async def close(self) -> int:
        """Close the simulator's stdin and wait for its end; returns its exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return await self.end()

    async def end(self) -> int:
        """Wait until it has ended by itself; returns its exit status."""
        await self._reading
        return await self.process.wait()

    async def stderr(self) -> bytes:
        """All that it has written to stderr, once it has ended."""
        return await self._stderr

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

    async def request(self, method: str, /, **params: Any) -> Any:
        response = await self.response(self.ask(method, params))
        assert "error" not in response, response
        return response["result"]

    async def error(self, method: str, /, **params: Any) -> Any:
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
        self._all.append(frame)
        if "method" in frame and "id" in frame and self.answering:
            selected = {"outcome": "selected", "optionId": self.answer}
            outcome = selected if self.answer else {"outcome": "cancelled"}
            self.send(id=frame["id"], result={"outcome": outcome})

    # -- what the frames say

    async def open(self, cwd: Path) -> str:
        """Shake hands and open a session; returns its id."""
        await self.request("initialize", protocolVersion=1)
        session = (await self.request("session/new", cwd=str(cwd), mcpServers=[]))["sessionId"]
        await self.until(lambda f: f.get("params", {}).get("sessionId") == session)
        return str(session)

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
        return [u["content"]["text"] for u in self.updates(kind) if "text" in u["content"]]

    @property
    def text(self) -> str:
        return "".join(self.chunks())

    def asked(self) -> list[Frame]:
        return [f["params"] for f in self.frames if f.get("method") == "session/request_permission"]

    def check(self) -> None:
        """Compare every frame with the SDK's models."""
        for frame in self._all:
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
        await wire.close()
        await wire.stderr()


def names(folder: Path) -> list[str]:
    """What is in a folder."""
    return sorted(path.name for path in folder.iterdir())
