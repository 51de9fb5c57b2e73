"""What can be set: one field each, with what it does and what it may be.

Where values come from is ``configuration.py``'s business. A page of the docs is made from this.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from .mcp import McpServer
from .rules import Rule


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError(str(error)) from None


def _decoded(value: Any) -> Any:
    """JSON, where it comes as text: from the environment, or behind ``%agy config set``."""
    return json.loads(value) if isinstance(value, str) else value


UserPath = Annotated[Path, AfterValidator(_expanded)]
"""A path that may begin with ``~``: no shell reads the environment of a kernelspec."""

Rules = Annotated[tuple[Rule, ...], NoDecode, BeforeValidator(_decoded)]
Servers = Annotated[dict[str, McpServer], NoDecode, BeforeValidator(_decoded)]


class Settings(BaseSettings):
    """The settings of one kernel."""

    model_config = SettingsConfigDict(env_prefix="AGY_", env_ignore_empty=True)

    agent: str = Field(
        default="antigravity",
        description="Which agent to start: a name from the catalogue, or a command line.",
    )
    engine: Literal["acp"] = Field(
        default="acp", description="How the agent is spoken to: the Agent Client Protocol."
    )
    acp_bin: UserPath | None = Field(
        default=None, description="Where Google's ACP server (agy_acp_server.par) is."
    )
    permissions: Literal["ask", "deny", "allow"] = Field(
        default="ask",
        description="How permission requests are answered for which there is no rule; "
        "questions are always put to a person.",
    )
    rules: Rules = Field(
        default=(),
        description="Permission rules, a list of objects: `do` (deny, ask or allow), and what it "
        "is about: `kind`, `tool`, `server`, `path`, `command`. "
        "Deny comes before ask before allow.",
    )
    auth: str | None = Field(
        default=None,
        description="The sign-in method to use when the agent requires one and several would do.",
    )
    mcp: Servers = Field(
        default_factory=dict,
        description="MCP servers that agents get, by name: `type` (stdio, http or sse), `command`, "
        "`args` and `env`, or `url` and `headers`.",
    )
    tape: UserPath | None = Field(
        default=None,
        description="A file that every frame of the wire is written to; it holds what you and the "
        "agent wrote.",
    )
    start_timeout: float = Field(
        default=120.0, gt=0, description="Seconds that an agent may take to answer `initialize`."
    )
    idle_timeout: float = Field(
        default=300.0,
        ge=0,
        description="Seconds without any frame of the agent after which a turn is said to be idle; "
        "0 for never.",
    )
    idle_ends: bool = Field(
        default=False, description="Whether an idle turn is stopped, instead of only being named."
    )
    turn_timeout: float | None = Field(
        default=None,
        ge=0,
        description="Seconds that a turn may take, questions not counted; 0 for as long as it "
        "likes, which is the default where a person is there; else it is 600.",
    )
    context: bool = Field(
        default=True, description="Whether what ran in the notebook goes along with a prompt."
    )
    instructions: bool = Field(
        default=True, description="Whether a session's first prompt brings `AGENTS.md` files along."
    )
    context_bytes: int = Field(
        default=24_000, ge=0, description="Bytes of text that go along with a prompt, at most."
    )
    output_bytes: int = Field(
        default=2_000, ge=0, description="Bytes of one output of a cell that go along, at most."
    )
    images: int = Field(default=4, ge=0, description="Pictures that go along, at most.")
    image_bytes: int = Field(
        default=1_000_000, ge=1_000, description="Bytes of one picture, at most."
    )
    images_bytes: int = Field(
        default=3_000_000, ge=0, description="Bytes of all pictures of a prompt, at most."
    )
    image_side: int = Field(
        default=1_568, ge=16, description="Pixels of a picture's longer side, at most."
    )
