"""How agents are found and started."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agy_kernel.acp.signin import SignIn
from agy_kernel.agents.catalogue import CATALOGUE, HARNESS, HARNESS_VARIABLE, SERVER, find
from agy_kernel.errors import AgentNotFound, RequestFailed, SettingsError


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty home folder, and a PATH with one empty folder in it."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv(HARNESS_VARIABLE, raising=False)
    return tmp_path


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


FLAGS = ("--uid=",) if sys.platform == "linux" else ()


# -- Antigravity


@pytest.mark.report(87)
def test_where_the_server_is_looked_for_and_in_which_order(home: Path) -> None:
    places = [
        (home / ".gemini/bin/agy", ("acp",)),
        (home / ".local/bin/agy", ("acp",)),
        (home / "bin/agy", ("acp",)),
        (home / ".local/opt/agy-acp/current" / SERVER, FLAGS),
        (home / "bin" / SERVER, FLAGS),
    ]
    for path, arguments in places:
        found = program(path)
        assert find("antigravity").argv == (found, *arguments)
    given = program(home / "elsewhere" / "server")
    assert find("antigravity", Path(given)).argv == (given, *FLAGS)


def test_a_server_that_is_not_found_names_every_place_and_the_ways_on(home: Path) -> None:
    with pytest.raises(AgentNotFound) as caught:
        find("antigravity", home / "nowhere" / "server.par")
    message = str(caught.value)
    for place in (
        f"AGY_ACP_BIN ({home}/nowhere/server.par)",
        f"{SERVER} on PATH",
        f"~/.local/opt/agy-acp/current/{SERVER}",
        "agy acp on PATH",
        "~/.local/bin/agy acp",
        "~/.gemini/bin/agy acp",
    ):
        assert place in message
    for way in ("AGY_ACP_BIN", "docs/install.md", "AGY_AGENT=simulator", "command line"):
        assert way in message


def test_a_variable_that_is_not_set_is_said_to_be_so(home: Path) -> None:
    with pytest.raises(AgentNotFound, match=r"AGY_ACP_BIN: not set"):
        find("antigravity")


@pytest.mark.parametrize("what", ["folder", "not executable"])
def test_what_cannot_be_run_is_not_found(home: Path, what: str) -> None:
    path = home / "server"
    path.mkdir() if what == "folder" else path.write_text("x")
    with pytest.raises(AgentNotFound):
        find("antigravity", path)


@pytest.mark.report(86)
def test_the_server_is_told_of_the_harness_beside_it(home: Path) -> None:
    server = program(home / "opt" / SERVER)
    assert find("antigravity", Path(server)).env == {}
    harness = program(home / "opt" / HARNESS)
    assert find("antigravity", Path(server)).env == {HARNESS_VARIABLE: harness}
    link = home / "link.par"
    link.symlink_to(server)
    assert find("antigravity", link).env == {HARNESS_VARIABLE: harness}


def test_a_harness_that_the_user_chose_stays(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = program(home / "opt" / SERVER)
    program(home / "opt" / HARNESS)
    monkeypatch.setenv(HARNESS_VARIABLE, "/my/harness")
    assert find("antigravity", Path(server)).env == {}


def test_the_cli_alone_can_be_asked_for(home: Path) -> None:
    with pytest.raises(AgentNotFound, match="agy acp on PATH"):
        find("agy")
    agy = program(home / "bin/agy")
    program(home / "bin" / SERVER)
    assert find("agy").argv == (agy, "acp")


# -- the others


@pytest.mark.parametrize(
    ("name", "command", "package"),
    [
        ("gemini", "gemini --acp", "@google/gemini-cli"),
        ("codex", "codex-acp", "@zed-industries/codex-acp"),
        ("claude", "claude-agent-acp", "@agentclientprotocol/claude-agent-acp"),
        ("opencode", "opencode acp", "opencode-ai"),
    ],
)
def test_a_known_agent_is_started_by_its_command(
    home: Path, name: str, command: str, package: str
) -> None:
    words = command.split()
    with pytest.raises(AgentNotFound, match=f"no {words[0]} on PATH") as caught:
        find(name)
    assert f"npm install --global {package})" in str(caught.value)
    path = program(home / "bin" / words[0])
    launch = find(name)
    assert (launch.name, launch.argv) == (name, (path, *words[1:]))


def test_an_agent_that_offers_no_way_to_sign_in_is_helped_out(home: Path) -> None:
    program(home / "bin" / "claude-agent-acp")
    sign_in = SignIn((), {}, hint=find("claude").sign_in)
    said = sign_in.advice("Claude Agent", RequestFailed(-32000, "Authentication required"))
    assert "`claude-agent-acp --cli auth login`" in said
    assert "ANTHROPIC_API_KEY" in said
    assert "It offers" not in said


def test_the_simulator_needs_nothing_but_this_python(home: Path) -> None:
    assert find("simulator").argv == (sys.executable, "-m", "agy_kernel.agents.simulator")
    assert set(CATALOGUE) == {
        *("antigravity", "agy", "gemini", "codex", "claude", "opencode", "simulator")
    }


# -- command lines


def test_a_command_line_is_split_as_a_shell_would(home: Path) -> None:
    launch = find("/opt/my agent/../a.sh --flag 'two words' \"$HOME\"")
    assert launch.argv == ("/opt/my", "agent/../a.sh", "--flag", "two words", "$HOME")
    assert launch.name == "my"


def test_one_word_is_a_program_that_can_be_found(home: Path) -> None:
    path = program(home / "bin" / "my-agent")
    assert find("my-agent").argv == ("my-agent",)
    assert find(path).name == "my-agent"


@pytest.mark.parametrize("agent", ["antigravty", "", "   ", "no-such-program"])
def test_a_word_that_is_neither_names_what_is_known(home: Path, agent: str) -> None:
    with pytest.raises(SettingsError) as caught:
        find(agent)
    assert all(name in str(caught.value) for name in CATALOGUE)


def test_a_broken_command_line_is_no_command_line(home: Path) -> None:
    with pytest.raises(SettingsError, match="not a command line"):
        find("agent 'never closed")
