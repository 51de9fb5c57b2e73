"""Permission rules: what a person has decided beforehand about tool calls of a sort.

A rule names what it is about; all that it names must fit. ``deny`` comes before ``ask``, and
``ask`` before ``allow``, whatever their order. A command is compared as a whole: a prefix or a
pattern of a shell command says nothing about what follows ``;`` or ``$(``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar, Literal

Verdict = Literal["deny", "ask", "allow"]
ORDER: tuple[Verdict, ...] = ("deny", "ask", "allow")


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a tool call that leave is asked for.

    Args:
        kind: the protocol's tool kind, ``edit`` or ``execute`` for instance.
        tool: the tool's name, where the agent tells it; of an MCP tool, its name on the server.
        server: the MCP server whose tool it is; empty for the agent's own tools.
        paths: absolute paths of the files that it touches.
        command: the whole command that it would run.
    """

    kind: str = ""
    tool: str = ""
    server: str = ""
    paths: tuple[str, ...] = ()
    command: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule; what is empty is not looked at.

    Args:
        do: what to answer.
        kind: the tool kind.
        tool: the tool's name.
        server: the MCP server.
        path: a file, or a folder with all that is in it; symbolic links are followed.
        command: a whole command.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}  # a misspelt word must not widen a rule

    do: Verdict
    kind: str = ""
    tool: str = ""
    server: str = ""
    path: str = ""
    command: str = ""

    def fits(self, facts: Facts) -> bool:
        """Whether this rule is about such a call.

        A path must cover all files of a call to allow it, and one of them to deny it.
        """
        named = (
            (self.kind, facts.kind),
            (self.tool, facts.tool),
            (self.server, facts.server),
            (self.command, facts.command),
        )
        if any(wanted and wanted != told for wanted, told in named):
            return False
        if not self.path:
            return any(wanted for wanted, _ in named)  # a rule about nothing fits nothing
        inside = [_is_inside(path, self.path) for path in facts.paths]
        return bool(inside) and (all(inside) if self.do == "allow" else any(inside))

    def __str__(self) -> str:
        about = ((f.name, getattr(self, f.name)) for f in fields(self) if f.name != "do")
        return f"{self.do} ({', '.join(f'{name}: {value}' for name, value in about if value)})"


def find(rules: Iterable[Rule], facts: Facts) -> Rule | None:
    """The rule that decides about a call; None where there is none."""
    fitting = [rule for rule in rules if rule.fits(facts)]
    return min(fitting, key=lambda rule: ORDER.index(rule.do), default=None)


def same_again(do: Verdict, facts: Facts) -> Rule | None:
    """The narrowest rule about calls like this one; None where it could be about anything.

    Args:
        do: what such calls are to be answered with.
        facts: the call.
    """
    if facts.command:
        return Rule(do, command=facts.command)
    if facts.server and facts.tool:
        return Rule(do, tool=facts.tool, server=facts.server)
    if facts.kind and len(facts.paths) == 1:
        return Rule(do, kind=facts.kind, path=facts.paths[0])
    return None


def _is_inside(path: str, rule_path: str) -> bool:
    """Whether a path is another one or lies in it, wherever links lead to."""
    if "\0" in path:  # names no file, and no system would look at it
        return False
    outer = Path(os.path.realpath(Path(rule_path).expanduser()))
    inner = Path(os.path.realpath(path))
    return inner == outer or outer in inner.parents
