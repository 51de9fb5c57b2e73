"""What can be set, and where a value comes from.

Only the user's own environment can choose an agent or loosen a permission: no file of a project
is read here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from .errors import SettingsError


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError(str(error)) from None


UserPath = Annotated[Path, AfterValidator(_expanded)]
"""A path that may begin with ``~``: no shell reads the environment of a kernelspec."""


class Settings(BaseSettings):
    """The settings of one kernel; each can be set as ``AGY_<NAME>`` in the environment."""

    model_config = SettingsConfigDict(env_prefix="AGY_", env_ignore_empty=True)

    agent: str = Field(
        default="antigravity",
        description="Which agent to start: a name from the catalogue, or a command line.",
    )
    acp_bin: UserPath | None = Field(
        default=None, description="Where Google's ACP server (agy_acp_server.par) is."
    )
    permissions: Literal["ask", "deny", "allow"] = Field(
        default="ask",
        description="How permission requests are answered; questions are always put to a person.",
    )
    auth: str | None = Field(
        default=None,
        description="The sign-in method to use when the agent requires one and several would do.",
    )
    tape: UserPath | None = Field(
        default=None, description="A file that every frame of the wire is written to."
    )
    start_timeout: float = Field(
        default=120.0, gt=0, description="Seconds that an agent may take to answer `initialize`."
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


def load_settings() -> Settings:
    """Read the settings.

    Raises:
        SettingsError: naming each variable with a bad value, and what would be a good one.
    """
    try:
        return Settings()
    except ValidationError as error:
        raise SettingsError("\n".join(_explain(item) for item in error.errors())) from None


def _explain(item: object) -> str:
    assert isinstance(item, dict)
    name = "AGY_" + "_".join(str(part) for part in item["loc"]).upper()
    reason = str(item["msg"]).removeprefix("Value error, ").rstrip(".")
    return f"{name}={str(item['input'])!r} cannot be used: {reason}."
