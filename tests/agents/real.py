"""How to start the real agents: each one's settings, in a home folder of its own, and command.

Every agent asks before it writes a file or runs a command, talks to the model endpoint only, and
opens sessions without an `authenticate` request.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.agents.model_endpoint import ModelEndpoint

NPM = Path(__file__).parent / "npm"
NPM_MORE = Path(__file__).parent / "npm-more"
"""The agents of `make test-more`, which are too large for every run."""
NODE_MODULES = NPM / "node_modules"
MORE_NODE_MODULES = NPM_MORE / "node_modules"
API_KEY = "test-key"

CODEX_CONFIG = """\
model = "gpt-5.2-codex"
model_provider = "scripted"
approval_policy = "on-request"
sandbox_mode = "read-only"

[features]
use_legacy_landlock = true  # its other sandbox needs bubblewrap, even to read a file before an edit

[model_providers.scripted]
name = "Scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 0
stream_max_retries = 0
"""

GEMINI_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"sessionRetention": {"enabled": False}},  # it deletes sessions that were loaded
}

OPENCODE_CONFIG = {
    "model": "scripted/scripted",
    "small_model": "scripted/scripted",
    "permission": {"edit": "ask", "bash": "ask"},
    "agent": {"title": {"disable": True}},  # it would ask the model for one, with the same prompt
}
OPENCODE_MODEL = {
    "attachment": True,
    "reasoning": True,
    "tool_call": True,
    "modalities": {"input": ["text", "image"], "output": ["text"]},
    "limit": {"context": 200_000, "output": 8_000},
}


@dataclass(frozen=True)
class RealAgent:
    """An agent that nobody here wrote.

    Args:
        name: what tests call it.
        argv: the command that speaks ACP on stdin and stdout.
        env: the variables to add to the environment.
        version: the pinned version of its npm package.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    version: str


def codex(home: Path, endpoint: ModelEndpoint) -> RealAgent:
    """Configure `@zed-industries/codex-acp` in `home`, an existing empty folder."""
    config = home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(CODEX_CONFIG.format(url=endpoint.url), encoding="utf-8")
    env = {"HOME": str(home), "CODEX_HOME": str(config.parent), "OPENAI_API_KEY": API_KEY}
    argv = (str(NODE_MODULES / ".bin" / "codex-acp"),)
    return RealAgent("codex", argv, env, _pinned("@zed-industries/codex-acp"))


def gemini(home: Path, endpoint: ModelEndpoint) -> RealAgent:
    """Configure `@google/gemini-cli` in `home`, an existing empty folder."""
    settings = home / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps(GEMINI_SETTINGS, indent=2), encoding="utf-8")
    env = {
        "HOME": str(home),
        "GEMINI_CLI_HOME": str(home),
        "GEMINI_API_KEY": API_KEY,
        "GOOGLE_GEMINI_BASE_URL": endpoint.url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "TMPDIR": str(home),  # it leaves reports of failed model calls there
    }
    argv = (str(NODE_MODULES / ".bin" / "gemini"), "--acp", "--model", "gemini-2.5-flash")
    return RealAgent("gemini", argv, env, _pinned("@google/gemini-cli"))


def claude(home: Path, endpoint: ModelEndpoint) -> RealAgent:
    """Configure `@agentclientprotocol/claude-agent-acp` in `home`, an existing empty folder."""
    env = {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "ANTHROPIC_API_KEY": API_KEY,
        "ANTHROPIC_BASE_URL": endpoint.url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",  # it refuses to be started by root elsewhere
    }
    argv = (str(MORE_NODE_MODULES / ".bin" / "claude-agent-acp"),)
    return RealAgent(
        "claude", argv, env, _pinned("@agentclientprotocol/claude-agent-acp", NPM_MORE)
    )


def opencode(home: Path, endpoint: ModelEndpoint) -> RealAgent:
    """Configure `opencode-ai` in `home`, an existing empty folder."""
    options = {"baseURL": f"{endpoint.url}/v1", "apiKey": API_KEY}
    provider = {"npm": "@ai-sdk/anthropic", "options": options}
    provider["models"] = {"scripted": OPENCODE_MODEL, "other": OPENCODE_MODEL}
    config = home / "opencode.json"
    config.write_text(json.dumps(OPENCODE_CONFIG | {"provider": {"scripted": provider}}))
    env = {
        "HOME": str(home),
        "OPENCODE_CONFIG": str(config),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }
    argv = (str(MORE_NODE_MODULES / ".bin" / "opencode"), "acp")
    return RealAgent("opencode", argv, env, _pinned("opencode-ai", NPM_MORE))


def backdate_gemini_sessions(home: Path) -> None:
    """Move the session files in gemini's `home` to an earlier minute, so that they can be loaded.

    gemini-cli 0.61.0 names a session's file by the minute; `session/load` in the minute of
    `session/new` overwrites what it should read, and the session is lost.
    """
    for file in home.glob(".gemini/tmp/*/chats/session-*.jsonl"):
        name = re.sub(r"\d{4}-\d\d-\d\dT\d\d-\d\d", "2000-01-01T00-00", file.name)
        if not file.with_name(name).exists():
            file.rename(file.with_name(name))


def sdk_example() -> RealAgent:
    """The example agent of `@agentclientprotocol/sdk`: one canned turn of about 5 s, no model."""
    package = "@agentclientprotocol/sdk"
    agent = NODE_MODULES / package / "dist" / "examples" / "agent.js"
    return RealAgent("sdk-example", ("node", str(agent)), {}, _pinned(package))


MAKERS = {"codex": codex, "gemini": gemini, "claude": claude, "opencode": opencode}
"""How each agent is configured, by its name."""
MORE = [pytest.param(name, marks=pytest.mark.more) for name in ("claude", "opencode")]
"""The names of the large agents, as parameters of tests."""


def _pinned(package: str, project: Path = NPM) -> str:
    pins: dict[str, str] = json.loads((project / "package.json").read_text())["dependencies"]
    return pins[package]
