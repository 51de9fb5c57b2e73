"""What plain words do."""

import base64
import io
import itertools
import json
import re
from pathlib import Path

import pytest
from PIL import Image

from tests.simulator.conftest import Start
from tests.simulator.wire import Wire

INTRODUCTION = "This is the Antigravity simulator."


async def test_text_comes_in_deltas_that_split_words(wire: Wire, cwd: Path) -> None:
    session = await wire.open(cwd)
    await wire.prompt(session, "Show a long answer")
    chunks = wire.chunks()
    assert len(chunks) > 50
    assert "## How far does a random walk get?" in wire.text
    inside_words = [a for a, b in itertools.pairwise(chunks) if re.match(r"\w", b)]
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
    assert len(prompts) == 18
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
    assert await wire.end() == 3
    assert wire.text == "This answer ends in the middle of"
    assert await wire.stderr() == b"simulator: crashed, as the prompt asked\n"


@pytest.mark.parametrize("flags", [[], ["--usage"]])
async def test_no_usage_anywhere_unless_by_flag(start: Start, cwd: Path, flags: list[str]) -> None:
    wire = await start(*flags)
    session = await wire.open(cwd)
    result = await wire.prompt(session, "Say hello")
    total = (len("Say hello") + len(wire.text)) // 4
    usage = [(u["used"], u["size"]) for u in wire.updates("usage_update")]
    assert usage == ([(total, 1_048_576)] if flags else [])
    assert result.get("usage", {}).get("totalTokens") == (total if flags else None)
    assert ("usage" in json.dumps(wire.frames)) == bool(flags)
