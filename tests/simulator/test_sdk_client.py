"""The Python SDK's client, which nobody here wrote, gets on with the simulator."""

import asyncio
import sys
from pathlib import Path
from typing import Any, cast

import acp
import pytest
from acp import schema

from tests.simulator.wire import MODULE


class SdkClient:
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
    async with acp.spawn_agent_process(cast(acp.Client, client), *command) as (agent, process):
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
