"""Signing in: when an agent wants it, what needs no person, and what to tell one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..abilities import AuthMethod
from ..errors import RequestFailed

AUTHENTICATION_REQUIRED = -32000
ABOUT_SIGNING_IN = re.compile(
    r"auth|onboarding|credential|api[ _-]?key|(sign|log)[ -]?(ged )?in", re.IGNORECASE
)


def wants_sign_in(error: RequestFailed) -> bool:
    """Whether a request failed for want of a sign-in.

    The code alone does not tell: Antigravity RC01 sends it whenever the state of the server does
    not allow something, "Session not found" included (acp-v1.md, 1.4).
    """
    said = f"{error.message} {error.data}"
    return error.code == AUTHENTICATION_REQUIRED and ABOUT_SIGNING_IN.search(said) is not None


@dataclass(frozen=True, slots=True)
class SignIn:
    """The ways to sign in to one agent.

    Args:
        methods: as the agent offers them.
        needs: variables that a method needs, by its id, where the agent does not tell.
        chosen: id of the method that the user chose.
        hint: what else a person can do, where the agent does not tell.
    """

    methods: tuple[AuthMethod, ...]
    needs: Mapping[str, tuple[str, ...]]
    chosen: str | None = None
    hint: str = ""

    def method(self, env: Mapping[str, str]) -> str | None:
        """The id of the method to use: the chosen one, or one whose variables are all set."""
        if self.chosen:
            return self.chosen
        for method in self.methods:
            names = self.variables(method)
            if method.type != "terminal" and names and all(env.get(name) for name in names):
                return method.id
        return None

    def advice(self, agent: str, error: RequestFailed) -> str:
        """What the agent said, what it offers, and what to do (public report 52)."""
        lines = [f"{agent} wants you to sign in first. It says: {error}"]
        lines += ["It offers:", *self._offers()] if self.methods else []
        lines += [self.hint] if self.hint else []
        lines.append(
            "`%agy auth` shows what each needs, and `%agy auth METHOD` signs in; AGY_AUTH=METHOD "
            "chooses one for good. Then run the cell again."
        )
        return "\n".join(lines)

    def _offers(self) -> Iterable[str]:
        for method in self.methods:
            names = self.variables(method)
            needs = f" Needs {', '.join(names)} in the environment." if names else ""
            yield f"  {method.id}: {method.name}. {method.description}{needs}".rstrip()

    def variables(self, method: AuthMethod) -> tuple[str, ...]:
        """The variables that a method needs, as far as anybody tells."""
        return self.needs.get(method.id, method.variables)


def terminal_command(method: AuthMethod, argv: Sequence[str]) -> str:
    """What to type in a terminal for a ``terminal`` method.

    Args:
        argv: how the agent is started.
    """
    variables = [f"{name}={shlex.quote(value)}" for name, value in method.env]
    return " ".join([*variables, shlex.join([*argv, *method.args])])
