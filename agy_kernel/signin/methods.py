"""The methods of an agent, and what each still needs; of variables only the names are told."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..abilities import AuthMethod
from ..acp.process import Launch
from ..acp.signin import terminal_command
from ..errors import SettingsError
from . import antigravity

Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Methods:
    """The ways to sign in to one agent.

    Args:
        launch: how it is started.
        offered: as the agent offers them.
        env: the environment that it is started in.
        settings: Antigravity's own settings; empty of any other agent.
    """

    launch: Launch
    offered: tuple[AuthMethod, ...]
    env: Mapping[str, str]
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, launch: Launch, offered: tuple[AuthMethod, ...]) -> Methods:
        """The methods of an agent that was asked for them."""
        env = {**os.environ, **launch.env}
        settings: Mapping[str, Any] = {}
        if launch.name in antigravity.AGENTS:
            try:
                settings = antigravity.read(antigravity.settings_file(env))
            except SettingsError:
                settings = {}
        return cls(launch, offered, env, settings)

    @property
    def is_antigravity(self) -> bool:
        """Whether it is Google's server, whose settings file is known."""
        return self.launch.name in antigravity.AGENTS

    def find(self, method_id: str) -> AuthMethod | None:
        """The method with an id."""
        return next((method for method in self.offered if method.id == method_id), None)

    def missing(self, method: AuthMethod, has_project: bool = False) -> Groups:
        """The groups of variables of which one would have to be set; empty when nothing is missing.

        Args:
            has_project: whether a project and a location are given in another way.
        """
        groups = self._groups(method)
        if has_project or any(all(map(self.env.get, names)) for names in groups):
            return ()
        return groups

    def needs(self, method: AuthMethod) -> str:
        """What a method needs, and whether it is there, in words."""
        groups = [
            " and ".join(f"`{name}` ({self._state(name)})" for name in names)
            for names in self._groups(method)
        ]
        if self.is_antigravity and method.id in antigravity.WITH_PROJECT:
            groups.append(f"a project and a location of Google Cloud ({self._project()})")
        return ", or ".join(groups)

    def has_project(self) -> bool:
        """Whether the agent's settings name a project and a location."""
        gcp = self.settings.get("gcp", {})
        return bool(gcp.get("project") and gcp.get("location"))

    def way(self, method: AuthMethod) -> str:
        """How to go on with a method."""
        if method.type == "terminal":
            return f"in a terminal: `{terminal_command(method, self.launch.argv)}`"
        if self.is_antigravity and method.id in antigravity.WITH_PROJECT:
            return f"`%agy auth {method.id} [PROJECT LOCATION]`"
        return f"`%agy auth {method.id}`"

    def _groups(self, method: AuthMethod) -> Groups:
        if self.is_antigravity and method.id in antigravity.NEEDS:
            return antigravity.NEEDS[method.id]
        if method.type == "terminal":
            return ()
        names = self.launch.auth.get(method.id, method.variables)
        return (names,) if names else ()

    def _state(self, name: str) -> str:
        return "set" if self.env.get(name) else "missing"

    def _project(self) -> str:
        return "set in its settings" if self.has_project() else "not in its settings"
