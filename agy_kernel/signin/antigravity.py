"""What is known of signing in to Google's server, and the two settings of it that we write.

Where its token lies is none of our business: this opens ``settings.json`` and nothing else.
(antigravity.md, "Auth, settings, paths"; seed, "authenticate")
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import SettingsError
from ..files import Damaged, read_object, write_object

AGENTS = ("antigravity", "agy")
SERVER = "antigravity-acp"
"""What the server calls itself."""
NEEDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "gemini-api-key": (("GEMINI_API_KEY",),),
    "agent-platform": (("GOOGLE_API_KEY",), ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION")),
}
"""Variables that a method needs; of several groups, one will do."""

WITH_PROJECT = ("oauth-business", "agent-platform")
"""The methods that take a project and a location of Google Cloud."""


def settings_file(env: Mapping[str, str]) -> Path:
    """The server's settings file."""
    home = env.get("GEMINI_HOME") or "~/.gemini"
    return Path(home).expanduser() / "antigravity-acp" / "settings.json"


def cli_folder(env: Mapping[str, str]) -> Path:
    """Where the ``agy`` CLI keeps what is its own; its login is another one (public report 53)."""
    return Path(env.get("GEMINI_HOME") or "~/.gemini").expanduser() / "antigravity-cli"


def read(file: Path) -> dict[str, Any]:
    """The server's settings; empty where there is no file.

    Raises:
        SettingsError: the file is damaged, or cannot be read.
    """
    try:
        settings = read_object(file) or {}
    except Damaged as damage:
        raise SettingsError(_left_alone(file, str(damage))) from None
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}.") from None
    for key in ("auth", "gcp"):
        if not isinstance(settings.get(key, {}), dict):
            raise SettingsError(_left_alone(file, f"its {key!r} is no object"))
    return settings


def with_method(settings: Mapping[str, Any], method: str, gcp: Mapping[str, str]) -> dict[str, Any]:
    """The settings with another sign-in method, and nothing else changed.

    Args:
        method: id of the method.
        gcp: ``project`` and ``location``, where they were given.
    """
    changed = {**settings, "auth": {**settings.get("auth", {}), "type": method}}
    return {**changed, "gcp": {**settings.get("gcp", {}), **gcp}} if gcp else changed


def write(file: Path, settings: dict[str, Any]) -> None:
    """Put other settings in place of the file; its mode stays, and a link to it, too.

    Raises:
        SettingsError: it cannot be written; it is as it was.
    """
    try:
        real = file.resolve()
        mode = stat.S_IMODE(real.stat().st_mode) if real.exists() else None
        write_object(real, settings, mode)
    except (OSError, RuntimeError) as error:
        raise SettingsError(f"{file} cannot be written: {error}.") from None


def _left_alone(file: Path, why: str) -> str:
    return f"{file} is left as it is, because {why}. Mend it or remove it first."
