"""The model that obeys the probes' prompts, in each dialect, and behind agents of others."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.agents import catalogue
from agy_kernel.probes import prompts
from agy_kernel.probes.runs import Stage
from agy_kernel.probes.subject import Subject
from tests.agents import real
from tests.agents.dialects import Json, Part
from tests.agents.model_endpoint import DIALECTS, ModelEndpoint, next_call, script
from tests.simulator.test_exact import BROKEN, NOTE, picture, resource

RED = picture("red")["data"]
COLOURED: dict[str, Json] = {
    ":streamGenerateContent": {
        "contents": [
            {
                "role": "user",
                "parts": [{"text": prompts.COLOUR}, {"inlineData": {"data": RED}}],
            }
        ]
    },
    "/responses": {
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": prompts.COLOUR},
                    {"type": "input_image", "image_url": f"data:image/png;base64,{RED}"},
                ],
            }
        ]
    },
    "/messages": {
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": prompts.COLOUR},
                    {"type": "image", "source": {"type": "base64", "data": RED}},
                ],
            }
        ]
    },
}
COUNT = prompts.COUNT.format(last=2)
CREATE = prompts.CREATE.format(name="a.txt", text="HELLO")
READ = prompts.READ.format(name="a.txt")
RUN = prompts.RUN.format(command="sleep 30")
CALL = prompts.CALL.format(tool="ring", server="bell", text="twice")
FILES: Json = {"file_path": {}, "content": {}}
GEMINI = {"write_file": FILES, "read_file": {"file_path": {}}, "run_shell_command": {"command": {}}}


def gemini(*said: str | Json, tools: Mapping[str, Json] = GEMINI) -> list[Part]:
    """What the model does; a string is the person's, an object the result of a tool."""
    contents = []
    for each in said:
        if isinstance(each, str):
            contents.append({"role": "user", "parts": [{"text": each}]})
        else:
            contents.append({"role": "model", "parts": [{"functionCall": {}}]})
            contents.append({"role": "user", "parts": [{"functionResponse": {"response": each}}]})
    declared = [{"name": n, "parameters": {"properties": p}} for n, p in tools.items()]
    body = {"contents": contents, "tools": [{"functionDeclarations": declared}]}
    dialect = DIALECTS[":streamGenerateContent"]
    return next_call(dialect.messages(body), dialect.tools(body))


def codex(prompt: str) -> Part:
    tools = [
        {"type": "custom", "name": "apply_patch"},
        {"type": "function", "name": "exec_command", "parameters": {"properties": {"cmd": {}}}},
        {
            "type": "namespace",
            "name": "mcp__bell",
            "tools": [
                {"type": "function", "name": "ring", "parameters": {"properties": {"x": {}}}}
            ],
        },
    ]
    message = {"type": "message", "role": "user", "content": [{"type": "text", "text": prompt}]}
    body = {"input": [message], "tools": tools}
    dialect = DIALECTS["/responses"]
    (part,) = next_call(dialect.messages(body), dialect.tools(body))
    return part


@pytest.mark.parametrize("path", DIALECTS)
def test_images_are_seen_in_every_dialect(path: str) -> None:
    dialect = DIALECTS[path]
    assert next_call(dialect.messages(COLOURED[path]), []) == [{"text": "Red"}]


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        ([prompts.REPLY.format(words="HELLO")], [{"text": "HELLO"}]),
        ([COUNT], [{"text": "1\n2", "delay": 0.02}]),
        ([prompts.REMEMBER.format(word="AMBER"), prompts.RECALL], [{"text": "AMBER"}]),
        ([COUNT, "Good morning"], [{"text": "(no script in the prompt)"}]),
        ([COUNT, script([{"text": "scripted"}])], [{"text": "scripted"}]),
        ([script([{"text": "scripted"}]), COUNT], [{"text": "1\n2", "delay": 0.02}]),
        ([f"It is Monday.\n{prompts.SECRET}\n{NOTE}"], [{"text": "WALNUT-3"}]),
        ([READ, {"output": "HELLO"}], [{"text": "HELLO"}]),
        ([CREATE, {"output": "written"}], [{"text": "It is done."}]),
        ([RUN, {"error": "refused"}], [{"text": "It was not done."}]),
        ([CALL], [{"text": "I have no tool ring."}]),
    ],
)
def test_the_last_prompt_is_obeyed(said: list[str | Json], parts: list[Part]) -> None:
    assert gemini(*said) == parts


@pytest.mark.parametrize(
    ("prompt", "tool", "args"),
    [
        (CREATE, "write_file", {"file_path": "a.txt", "content": "HELLO\n"}),
        (READ, "read_file", {"file_path": "a.txt"}),
        (RUN, "run_shell_command", {"command": "sleep 30"}),
    ],
)
def test_the_tools_are_the_agents_own(prompt: str, tool: str, args: Json) -> None:
    assert gemini(prompt) == [{"tool": tool, "args": args, "namespace": ""}]


def test_codex_is_told_in_its_own_way() -> None:
    assert codex(CREATE)["input"].splitlines()[1:3] == ["*** Add File: a.txt", "+HELLO"]
    assert codex(READ)["args"] == {"cmd": "cat a.txt"}
    assert codex(CALL) == {"tool": "ring", "args": {"x": "twice"}, "namespace": "mcp__bell"}


@pytest.mark.real_agent
@pytest.mark.parametrize("name", ["codex", "gemini"])
async def test_real_agents_come_through_with_it(name: str, tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    folder.mkdir()
    create = prompts.CREATE.format(name="a.txt", text="HELLO FILE")
    with ModelEndpoint() as endpoint:
        known = real.MAKERS[name](home, endpoint)
        command = ["env", *(f"{key}={value}" for key, value in known.env.items()), *known.argv]
        subject = Subject(Stage(catalogue.find(shlex.join(command)), folder))
        try:
            assert await _said(subject, prompts.THINK) == prompts.PRODUCT
            assert "It is done." in await _said(subject, create)
            assert (folder / "a.txt").read_text() == "HELLO FILE\n"
            assert await _said(subject, prompts.READ.format(name="a.txt")) == "HELLO FILE"
            two = picture("blue", "white")
            assert await _said(subject, two, prompts.TWO_TONE) == "Top: Blue, Bottom: White"
            assert "cannot see" in await _said(subject, BROKEN, prompts.COLOUR)
            assert await _said(subject, resource(NOTE), prompts.SECRET) == "WALNUT-3"
        finally:
            await subject.stop()


async def _said(subject: Subject, *parts: str | Mapping[str, Any]) -> str:
    wire, session = await subject.wire(), await subject.session()
    turn = wire.prompt(session, *parts, allow=lambda _: True)
    await turn.answer(60)
    return turn.text
