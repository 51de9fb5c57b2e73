"""How to start the real agents: each one's settings, in a home folder of its own, and command.

Every agent asks before it writes a file or runs a command, talks to the model endpoint only, and
opens sessions without an `authenticate` request.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.agents.model_endpoint import ModelEndpoint

NPM = Path(__file__).parent / "npm"
NODE_MODULES = NPM / "node_modules"
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


def _pinned(package: str) -> str:
    pins: dict[str, str] = json.loads((NPM / "package.json").read_text())["dependencies"]
    return pins[package]
