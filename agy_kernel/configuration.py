"""Where the value of each setting comes from: ``%agy set``, the environment, the user's file.

Only the user's own sources are read: no file of a project and nothing in a notebook can choose an
agent, loosen a permission or widen what is sent. What is wrong is named with its file or variable,
and takes the default, never a value from a source behind it; the rest loads all the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_settings import EnvSettingsSource

from .errors import SettingsError
from .files import Damaged, locked, read_object, write_object
from .mcp import McpServer
from .settings import Settings

PREFIX = "AGY_"
SESSION = "set in this session"
OLD_PERMISSIONS, OLD_VALUES = "AGY_ACP_PERMISSIONS", {"auto": "allow"}
GOOGLES = "AGY_ACP_"
"""Variables of Antigravity itself begin alike, so one of ours has to be nearer to be meant."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A value, and where it comes from."""

    value: Any
    source: str


class Configuration:
    """The settings of one kernel, and where each comes from.

    Args:
        file: the user's file, in Jupyter's config folder; need not exist.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._session: dict[str, Any] = {}
        self.problems: tuple[str, ...] = ()
        self.origins: Mapping[str, str] = {}
        self.settings = Settings.model_construct()
        self.load()

    def load(self) -> None:
        """Read all sources anew."""
        problems: list[str] = []
        values: dict[str, Any] = {}
        origins: dict[str, str] = {}
        for name, told in self._told(problems).items():
            try:
                values[name] = _checked(name, told.value)
            except ValueError as error:
                problems.append(f"{told.source}: {_unusable(name, told.value)}: {error}.")
            else:
                origins[name] = told.source
        self.settings = Settings.model_construct(**values)
        self.origins, self.problems = origins, tuple(problems)

    def set(self, name: str, value: Any) -> None:
        """Set a value for this session.

        Raises:
            SettingsError: there is no such setting, or the value is bad.
        """
        _check(name, value)
        self._session[name] = value
        self.load()

    def save(self, name: str, value: Any) -> None:
        """Set a value in the user's file; None takes it out of it.

        Raises:
            SettingsError: there is no such setting, the value is bad, or the file is.
        """
        if value is not None:
            value = _as_json(name, value, _check(name, value))
        elif name not in Settings.model_fields:
            raise SettingsError(_unknown(name))
        self._session.pop(name, None)
        try:
            with locked(self.file):
                saved = read_object(self.file) or {}
                saved = {k: v for k, v in saved.items() if k != name}
                write_object(self.file, saved if value is None else {**saved, name: value})
        except Damaged as damage:
            raise SettingsError(
                f"{self.file} is left as it is, because {damage}. Mend it or remove it first."
            ) from None
        except OSError as error:
            raise SettingsError(f"{self.file} cannot be written: {error.strerror}.") from None
        self.load()

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Name, value and source of each setting, for people; secrets are masked."""
        for name in Settings.model_fields:
            yield name, _shown(getattr(self.settings, name)), self.origins.get(name, "default")

    # -- the sources, the first one that speaks of a setting decides

    def _told(self, problems: list[str]) -> dict[str, Origin]:
        told: dict[str, Origin] = {}
        for source in (self._of_session(), self._of_environment(problems), self._of_file(problems)):
            for name, origin in source:
                told.setdefault(name, origin)
        return told

    def _of_session(self) -> Iterator[tuple[str, Origin]]:
        for name, value in self._session.items():
            yield name, Origin(value, SESSION)

    def _of_environment(self, problems: list[str]) -> Iterator[tuple[str, Origin]]:
        for name, value in EnvSettingsSource(Settings)().items():
            yield name, Origin(value, f"{PREFIX}{name.upper()}")
        if old := os.environ.get(OLD_PERMISSIONS):
            yield "permissions", Origin(OLD_VALUES.get(old, old), OLD_PERMISSIONS)
        known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
        for variable in sorted(os.environ):
            if variable.startswith(PREFIX) and variable not in {*known, OLD_PERMISSIONS}:
                cutoff = 0.8 if variable.startswith(GOOGLES) else 0.75
                near = get_close_matches(variable, known, n=1, cutoff=cutoff)
                problems += [f"{variable} is not known: did you mean {near[0]}?"] if near else []

    def _of_file(self, problems: list[str]) -> Iterator[tuple[str, Origin]]:
        try:
            saved = read_object(self.file) or {}
        except Damaged as damage:
            problems.append(f"{self.file} is not used: {damage}.")
            return
        except OSError as error:
            problems.append(f"{self.file} cannot be read: {error.strerror}.")
            return
        for name, value in saved.items():
            if name in Settings.model_fields:
                yield name, Origin(value, str(self.file))
            else:
                problems.append(f"{self.file}: {_unknown(name)}")


def _check(name: str, value: Any) -> Any:
    if name not in Settings.model_fields:
        raise SettingsError(_unknown(name))
    try:
        return _checked(name, value)
    except ValueError as error:
        raise SettingsError(f"{_unusable(name, value)}: {error}.") from None


def _unusable(name: str, value: Any) -> str:
    """A bad value, in words; of servers the name only, whose variables and headers are secrets."""
    return f"{name} cannot be used" if name == "mcp" else f"{name} = {value!r} cannot be used"


def _checked(name: str, value: Any) -> Any:
    """The value as the setting's type has it.

    Raises:
        ValueError: says in words what would be a good one.
    """
    try:
        return getattr(
            Settings.__pydantic_validator__.validate_assignment(
                Settings.model_construct(), name, value
            ),
            name,
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        reason = first["msg"].removeprefix("Value error, ").rstrip(".")
        raise ValueError(f"{where}: {reason}" if where else reason) from None


def _unknown(name: str) -> str:
    near = get_close_matches(name, Settings.model_fields, n=1, cutoff=0.6)
    return f"there is no setting {name!r}" + (f"; did you mean {near[0]!r}?" if near else ".")


def _as_json(name: str, told: Any, value: Any) -> Any:
    """The value for the file; a path stays as it was written, with its ``~``."""
    if isinstance(value, Path):
        return str(told)
    kind: Any = Settings.model_fields[name].annotation
    return TypeAdapter(kind).dump_python(value, mode="json", exclude_defaults=True)


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return "; ".join(str(item) for item in value) or "none"
    if isinstance(value, dict):
        return "; ".join(f"{k}: {_shown(v)}" for k, v in value.items()) or "none"
    if isinstance(value, McpServer):
        return value.described
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
