"""The commands about sessions, settings, permissions and agents, in a kernel with the simulator."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest

from tests.agents.scripted import HELLO, answer, command, expect, new_session, play_file
from tests.support.kernels import SIMULATOR, Kernel, StartKernel, sim


@pytest.fixture
def kernel(start_kernel: StartKernel, tmp_path: Path) -> Kernel:
    notebook = tmp_path / "a.ipynb"
    notebook.touch()
    return start_kernel(env={"JPY_SESSION_NAME": str(notebook)})


def said(kernel: Kernel, line: str) -> str:
    cell = kernel.run(f"%agy {line}")
    assert cell.status == "ok", cell.text
    return cell.text


def failed(kernel: Kernel, line: str) -> str:
    cell = kernel.run(f"%agy {line}")
    assert cell.status == "error", cell.text
    assert len(cell.reply["traceback"]) == 1
    return cell.text


def session(kernel: Kernel) -> str:
    return str(kernel.run("hello").record["session_id"])


def test_sessions_are_listed_and_one_is_gone_on_with(kernel: Kernel) -> None:
    first = session(kernel)
    said(kernel, "new")
    second = session(kernel)
    listed = said(kernel, "sessions")
    assert f"`{first}`" in listed
    assert f"`{second}` | " in listed
    assert "**this one**" in listed.split(second)[1]
    shown = said(kernel, "resume")
    assert f"The session `{first}`" in shown
    assert "earlier in this session: 2 messages</span></summary>" in shown
    assert session(kernel) == first
    said(kernel, f"resume {second}")
    assert session(kernel) == second


def test_a_session_that_does_not_exist_cannot_be_resumed(kernel: Kernel) -> None:
    first = session(kernel)
    assert "the session nonsense cannot be opened" in failed(kernel, "resume nonsense")
    assert session(kernel) == first


def test_a_session_is_closed_and_the_agent_started_anew(kernel: Kernel) -> None:
    first = session(kernel)
    assert f"`{first}` is closed" in said(kernel, "close")
    assert said(kernel, "close") == "There is no session to close."
    second = session(kernel)
    assert second != first
    assert "The agent was ended" in said(kernel, "restart")
    cell = kernel.run("hello")
    assert cell.record["session_id"] == second
    assert "The agent was started anew, as asked." in cell.text


def test_a_fork_that_the_agent_cannot_make_is_an_error(kernel: Kernel) -> None:
    session(kernel)
    assert "cannot fork sessions" in failed(kernel, "fork")


def test_options_are_listed_and_chosen_by_a_part(kernel: Kernel) -> None:
    listed = said(kernel, "option")
    assert "`model`" in listed
    assert "`mode`" in listed
    assert "yolo" in said(kernel, "option mode")
    assert "**YOLO**" in said(kernel, "option mode yol")
    assert said(kernel, 'model "Gemini 3.8 Flash (Low)"') == "model: **Gemini 3.8 Flash (Low)**"
    assert "There is no option 'colour'. There are: " in failed(kernel, "option colour")
    assert said(kernel, "effort") == "The agent offers no choice of effort."


def test_settings_are_shown_with_their_sources_and_kept(kernel: Kernel) -> None:
    assert "| `agent` | " in said(kernel, "config")
    assert "(AGY_AGENT)" in said(kernel, "config")
    kept = said(kernel, "config set images 2")
    assert "`images` is **2**" in kept
    (file,) = kernel.folder.rglob("settings.json")
    assert json.loads(file.read_text()) == {"images": 2}
    assert "`images` is **7** (set in this session)" in said(kernel, "set images 7")
    kernel.restart()
    assert f"| `images` | 2 ({file}) |" in said(kernel, "config")
    said(kernel, "config unset images")
    assert "| `images` | 4 (default) |" in said(kernel, "config")
    assert "images = 'many' cannot be used" in failed(kernel, "config set images many")
    assert "did you mean 'start_timeout'?" in failed(kernel, "config set start_timout 3")
    assert "did you mean 'start_timeout'?" in failed(kernel, "set start_timout 3")


def test_a_saved_value_that_does_not_count_is_said_to(start_kernel: StartKernel) -> None:
    kernel = start_kernel(env={"AGY_IMAGES": "7"})
    assert "but AGY_IMAGES comes before that" in said(kernel, "config set images 2")


def test_a_bad_setting_is_said_in_the_first_turn_and_only_there(start_kernel: StartKernel) -> None:
    kernel = start_kernel(env={"AGY_PERMISSIONS": "denied"})
    first, second = kernel.run("hello"), kernel.run("hello")
    assert first.status == "ok"
    assert "AGY_PERMISSIONS: permissions = &#x27;denied&#x27; cannot be used" in first.text
    assert "cannot be used" not in second.text


ASK = {"toolCallId": "c", "title": "Run", "kind": "execute", "rawInput": {"CommandLine": "ls"}}


def test_rules_decide_and_are_shown_with_the_audit(kernel: Kernel) -> None:
    said(kernel, 'config set rules [{"do":"allow","command":"ls"},{"do":"deny","kind":"delete"}]')
    cell = kernel.run(sim({"ask": {"toolCall": ASK}}))
    assert "answer: allow" in cell.text
    assert "by the rule: allow (command: ls)" in cell.text
    shown = said(kernel, "permissions")
    assert "| deny (kind: delete) | " in shown
    assert "| execute: ls | “Allow” without asking: by the rule: allow (command: ls) |" in shown
    assert "Where no rule fits: **ask** (default)." in shown
    assert said(kernel, "permissions reset") == "0 rules of this session forgotten."


def test_another_agent_is_used_and_unknown_ones_are_named(kernel: Kernel) -> None:
    before = session(kernel)
    assert "**`" in said(kernel, "agents")
    assert "The next prompt goes to" in said(kernel, f"use '{SIMULATOR} --usage'")
    assert session(kernel) != before
    assert "the agent 'nonsense' is neither a known one" in failed(kernel, "use nonsense")


def test_an_agent_that_is_none_is_named_with_its_variable_or_file(
    start_kernel: StartKernel,
) -> None:
    told = "the agent 'nonsense' is neither a known one"
    by_variable = start_kernel("nonsense").run("hello").error["evalue"]
    assert by_variable.startswith(f"AGY_AGENT: {told}")
    kernel = start_kernel("")
    file = kernel.folder / "jupyter" / "config" / "agy_kernel" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"agent": "nonsense"}')
    assert kernel.run("hello").error["evalue"].startswith(f"{file}: {told}")


def test_mcp_servers_are_added_given_and_taken_out(kernel: Kernel) -> None:
    assert "There are no MCP servers" in said(kernel, "mcp")
    said(kernel, "mcp add nb serve --stdio --env TOKEN=s3cret")
    said(kernel, "mcp add web --http https://h/x --header 'Authorization: Bearer s3cret'")
    listed = said(kernel, "mcp")
    assert "serve --stdio TOKEN=***" in listed
    assert "s3cret" not in listed
    session(kernel)
    (new,) = [f for f in kernel.wire() if f.get("method") == "session/new"]
    assert [server["name"] for server in new["params"]["mcpServers"]] == ["nb", "web"]
    said(kernel, "mcp remove nb")
    assert "serve" not in said(kernel, "mcp")
    assert "there is no MCP server 'nb'" in failed(kernel, "mcp remove nb")
    refused = failed(kernel, "mcp add bad --http nowhere")
    assert "needs a url" in refused
    assert "s3cret" not in refused


def test_nothing_is_deleted_unless_a_person_says_so(kernel: Kernel) -> None:
    first = session(kernel)
    assert "Nothing was deleted" in said(kernel, f"delete {first}")
    cell = kernel.ask(f"%agy delete {first}")
    question = kernel.question(cell)
    assert f"Delete the session {first} for good?" in question.html
    kernel.click(question, next(name for name in question.buttons if name != "Delete"))
    kernel.finish(cell)
    assert "Nothing was deleted" in cell.text
    assert not kernel.sent("session/delete")
    cell = kernel.ask(f"%agy delete {first}")
    kernel.click(kernel.question(cell), "Delete")
    kernel.finish(cell)
    assert kernel.sent("session/delete")  # which the simulator does not have
    assert "(simulator) cannot delete sessions." in cell.text
    assert session(kernel) == first


def test_a_command_that_waits_for_the_agent_says_so_while_it_does(
    start_kernel: StartKernel, tmp_path: Path
) -> None:
    rest = tmp_path / "rest"
    os.mkfifo(rest)  # the agent answers once something is written to it
    kernel = start_kernel(shlex.join(command(expect("initialize"), play_file(rest))))
    cell = kernel.send("%agy mode")
    kernel.shows(cell, "waiting for the agent, 10 s")
    rest.write_text(json.dumps([answer("initialize", HELLO), *new_session()]))
    kernel.finish(cell)
    assert cell.text.strip() == "The agent offers no choice of mode."
