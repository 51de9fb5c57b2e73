"""Prompts in fixed words get exactly the answer that they ask for."""

import asyncio
import base64
import io
import itertools
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from agy_kernel.agents.simulator.turn import deltas
from agy_kernel.probes import prompts
from tests.simulator.conftest import Start
from tests.simulator.wire import Wire, names

Block = Mapping[str, Any]
BROKEN: Block = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}
NOTE = "Ships leave on Mondays. The Secret word is: WALNUT-3, and nobody knows."


def picture(*colours: str, form: str = "PNG") -> Block:
    """An image block; several colours are stripes, from the top."""
    image = Image.new("RGB", (64, 64))
    height = 64 // len(colours)
    for row, colour in enumerate(colours):
        image.paste(colour, (0, row * height, 64, (row + 1) * height))
    image.save(file := io.BytesIO(), form)
    data = base64.b64encode(file.getvalue()).decode()
    return {"type": "image", "mimeType": f"image/{form.lower()}", "data": data}


def resource(text: str) -> Block:
    return {"type": "resource", "resource": {"uri": "file:///note.txt", "text": text}}


async def say(wire: Wire, cwd: Path, text: str, *blocks: Block) -> str:
    session = await wire.open(cwd)
    prompt = [*blocks, {"type": "text", "text": text}]
    wire.frames.clear()
    await wire.request("session/prompt", sessionId=session, prompt=prompt)
    return wire.text


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (prompts.REPLY.format(words="HELLO ACP"), "HELLO ACP"),
        (prompts.COUNT.format(last=3), "1\n2\n3"),
        (prompts.THINK, prompts.PRODUCT),
        (prompts.REMEMBER.format(word="AMBER"), "NOTED"),
        (prompts.RECALL, "You asked me to remember none."),
        (prompts.UNKNOWN_COMMAND, "PASSED ON"),
        (prompts.SLASH_INSIDE, "NO COMMAND"),
        (prompts.SECRET, "I have no resource with such a word."),
        (prompts.COLOUR, "I cannot see the image."),
        (prompts.READ.format(name="missing.txt"), "I cannot read `missing.txt`."),
        (prompts.READ.format(name="../missing.txt"), "I cannot read `../missing.txt`."),
    ],
)
async def test_the_answer_is_exact(wire: Wire, cwd: Path, prompt: str, said: str) -> None:
    assert await say(wire, cwd, prompt) == said


@pytest.mark.parametrize(
    ("prompt", "images", "said"),
    [
        (prompts.COLOUR, [picture("red")], "Red"),
        (prompts.COLOUR, [picture("#0000ff", form="JPEG")], "Blue"),
        (prompts.COLOUR, [picture("#00a000", form="WEBP")], "Green"),
        (prompts.COLOUR, [BROKEN], "I cannot see the image."),
        (prompts.TWO_TONE, [picture("yellow", "black")], "Top: Yellow, Bottom: Black"),
        (prompts.TWO_TONE, [BROKEN], "I cannot see the image."),
        (prompts.SEVERAL, [picture("white"), picture("lime"), picture("red")], "White, Green, Red"),
        (prompts.SEVERAL, [picture("white"), BROKEN], "White, unseen"),
        (prompts.WHICH.format(colour="blue"), [picture("red"), picture("blue")], "B"),
        (prompts.WHICH.format(colour="red"), [picture("red"), picture("blue")], "A"),
        (prompts.WHICH.format(colour="red"), [BROKEN, BROKEN], "I see no such image."),
    ],
)
async def test_colours_are_seen(
    wire: Wire, cwd: Path, prompt: str, images: list[Block], said: str
) -> None:
    assert await say(wire, cwd, prompt, *images) == said


async def test_a_secret_is_read_in_a_linked_file(wire: Wire, cwd: Path) -> None:
    (cwd / "a note.txt").write_text(NOTE)
    (cwd.parent / "outside.txt").write_text(NOTE)
    link = {"type": "resource_link", "name": "note", "uri": (cwd / "a note.txt").as_uri()}
    outside = link | {"uri": (cwd.parent / "outside.txt").as_uri()}
    none = "I have no resource with such a word."
    assert await say(wire, cwd, prompts.LINKED, outside, {"type": "resource_link"}) == none
    assert await say(wire, cwd, prompts.LINKED, link) == "WALNUT-3"


async def test_a_secret_is_read_in_a_resource(wire: Wire, cwd: Path) -> None:
    assert await say(wire, cwd, prompts.SECRET, resource("nothing"), resource(NOTE)) == "WALNUT-3"


async def test_a_thought_comes_before_the_number(wire: Wire, cwd: Path) -> None:
    assert await say(wire, cwd, prompts.THINK) == prompts.PRODUCT
    assert "391" in "".join(wire.chunks("agent_thought_chunk"))


async def test_a_word_is_remembered_across_a_load(start: Start, cwd: Path) -> None:
    first = await start()
    session = await first.open(cwd)
    await first.prompt(session, prompts.REMEMBER.format(word="AMBER"))
    await first.prompt(session, prompts.REMEMBER.format(word="JADE"))
    second = await start()
    await second.request("initialize", protocolVersion=1)
    await second.request("session/load", sessionId=session, cwd=str(cwd), mcpServers=[])
    await second.prompt(session, prompts.RECALL)
    assert second.text == "JADE"


async def test_a_file_holds_the_one_line_that_was_asked_for(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.prompt(session, prompts.CREATE.format(name="a.dat", text="HELLO FILE"))
    (asked,) = wire.asked()
    assert asked["toolCall"]["content"][0]["newText"] == "HELLO FILE\n"
    assert (cwd / "a.dat").read_text() == "HELLO FILE\n"
    await wire.prompt(session, prompts.READ.format(name="a.dat"))
    assert wire.text == "HELLO FILE"
    assert wire.asked() == []
    began, done = wire.updates("tool_call", "tool_call_update")
    assert (began["kind"], began["title"], done["status"]) == ("read", "Read a.dat", "completed")


@pytest.mark.parametrize("name", ["../a.txt", "/a.txt"])
async def test_no_file_is_written_elsewhere(wire: Wire, cwd: Path, name: str) -> None:
    assert "outside" in await say(wire, cwd, prompts.CREATE.format(name=name, text="HELLO"))
    assert wire.asked() == []


async def test_a_refused_file_is_not_written(wire: Wire, cwd: Path) -> None:
    wire.answer = "deny"
    said = await say(wire, cwd, prompts.CREATE.format(name="a.txt", text="HELLO"))
    assert said.endswith("`a.txt` was not written.")
    assert names(cwd) == []


async def test_the_command_stands_in_backticks(wire: Wire, cwd: Path) -> None:
    await say(wire, cwd, prompts.RUN.format(command="echo one; touch two"))
    (asked,) = wire.asked()
    assert asked["toolCall"]["rawInput"]["CommandLine"] == "echo one; touch two"
    assert names(cwd) == []


async def test_a_sleep_takes_its_time_and_ends_well(wire: Wire, cwd: Path) -> None:
    began = asyncio.get_running_loop().time()
    await say(wire, cwd, prompts.RUN.format(command="sleep 0.5"))
    assert asyncio.get_running_loop().time() - began > 0.5
    statuses = [u["status"] for u in wire.updates("tool_call", "tool_call_update")]
    assert statuses == ["pending", "in_progress", "completed"]


async def test_a_sleep_is_ended_by_a_cancel_and_its_call_is_closed(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    turn = wire.begin(session, prompts.RUN.format(command="sleep 60"))
    await wire.until(lambda f: "in_progress" in str(f))
    wire.notify("session/cancel", {"sessionId": session})
    assert (await wire.response(turn))["result"] == {"stopReason": "cancelled"}
    assert wire.updates("tool_call_update")[-1]["status"] == "failed"


@pytest.mark.parametrize(("server", "title"), [("bridge", "bridge_ring"), ("other", "")])
async def test_no_mcp_server_is_called_and_it_says_so(
    wire: Wire, cwd: Path, server: str, title: str
) -> None:
    await wire.request("initialize", protocolVersion=1)
    bridge = {"name": "bridge", "type": "http", "url": "http://127.0.0.1:9/", "headers": []}
    opened = await wire.request("session/new", cwd=str(cwd), mcpServers=[bridge])
    words = prompts.CALL.format(tool="ring", server=server, text="a bell, twice")
    await wire.prompt(opened["sessionId"], words)
    calls = [asked["toolCall"] for asked in wire.asked()]
    assert [call["title"] for call in calls] == ([title] if title else [])
    assert all(call["rawInput"] == {"arguments": {"text": "a bell, twice"}} for call in calls)
    said = "no MCP server was called" if title else "This session has no MCP server other."
    assert said in wire.text


def test_deltas_grow_with_the_text_and_still_split_words() -> None:
    short, long = ("\n".join(map(str, range(1, last + 1))) for last in (300, 3000))
    assert [len(piece) for piece in itertools.islice(deltas(short), 5)] == [9, 4, 13, 7, 17]
    pieces = list(deltas(long))
    assert "".join(pieces) == long
    assert 330 < len(pieces) < 400
    assert any(re.match(r"\d", b) and re.search(r"\d$", a) for a, b in itertools.pairwise(pieces))


def test_pillow_is_not_loaded_at_the_start() -> None:
    program = "import agy_kernel.agents.simulator, sys; sys.exit('PIL' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
