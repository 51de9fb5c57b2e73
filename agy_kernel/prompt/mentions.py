"""``@name`` in a prompt: found, and told apart from mail addresses and decorators."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

MentionKind = Literal["cell", "error", "notebook", "other"]

# At the start or after white space only; a backslash before it says that it is just text.
MENTION = re.compile(r"(?<!\S)@(?P<name>[^\s@]\S*)")
ESCAPED = re.compile(r"(?<!\S)\\@")
# A line that decorates what is defined below it.
DECORATOR = re.compile(
    r"^[ \t]*@[\w.]+(?:\(.*\))?[ \t]*\n(?=[ \t]*(?:@|(?:async|class|def)\b))", re.MULTILINE
)
TRAILING = re.compile(r"(?:['’]s)?[.,;:!?…)\]}'\"»”’]*\Z")
CELL = re.compile(r"cell:(?P<which>[0-9]{1,9}|last)\Z")
NOTEBOOK = re.compile(r"(?P<path>.+\.ipynb)(?:#(?P<cell>[0-9]{1,9}))?\Z")


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention.

    Args:
        name: what stands behind the ``@``.
        kind: what it can be; ``other`` is a variable, a file or a folder.
        cell: the number of a cell, or ``last``; empty where none is named.
        path: a notebook's path.
    """

    name: str
    kind: MentionKind
    cell: str = ""
    path: str = ""

    @property
    def shorter(self) -> Mention | None:
        """The same without the punctuation of ``what is @df?``; None if there is none."""
        name = TRAILING.sub("", self.name, count=1)
        return read(name) if name and name != self.name else None


def find(text: str) -> list[Mention]:
    """The mentions of a prompt, each once, in order."""
    found = (read(match["name"]) for match in MENTION.finditer(DECORATOR.sub("\n", text)))
    return list(dict.fromkeys(found))


def unescape(text: str) -> str:
    r"""The prompt as the agent gets it: ``\@`` is ``@``."""
    return ESCAPED.sub("@", text)


def read(name: str) -> Mention:
    """What a name can mean by its form alone."""
    if name == "error":
        return Mention(name, "error")
    if cell := CELL.match(name):
        return Mention(name, "cell", cell=cell["which"])
    if notebook := NOTEBOOK.match(name):
        return Mention(name, "notebook", cell=notebook["cell"] or "", path=notebook["path"])
    return Mention(name, "other")
