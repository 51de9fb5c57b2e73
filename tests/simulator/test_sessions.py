"""Sessions: opening, choosing, loading in a fresh process, listing, closing."""

import json
import uuid
from pathlib import Path

import pytest

from tests.simulator.conftest import Start
from tests.simulator.wire import Frame, Wire

INTRODUCTION = "This is the Antigravity simulator."


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
    assert (await wire.stderr()).count(b"sessions cannot be kept") == 1


async def test_session_files_are_private(wire: Wire, cwd: Path, tmp_path: Path) -> None:
    session = await wire.open(cwd)
    (file,) = (tmp_path / "state" / "sessions").iterdir()
    assert file.name == f"{session}.json"
    assert file.stat().st_mode & 0o077 == 0
