"""Models and modes: what is on offer, what is chosen, and what the user wants to be chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches

from ..errors import CommandError
from ..events import Choices, Selector

SELECTORS: tuple[Selector, Selector] = ("model", "mode")


class Chosen:
    """Outlives a session, so that what the user wants can be chosen again in the next one."""

    def __init__(self) -> None:
        self.known: dict[Selector, Choices] = {}
        self._wanted: dict[Selector, str] = {}

    def begin(self) -> None:
        """A session is being opened: until it tells, what is chosen there is unknown."""
        self.known = {what: replace(choices, current="") for what, choices in self.known.items()}

    def told(self, what: Selector, choices: Choices | None) -> None:
        """The agent says what is chosen now, unless it is None.

        Where that was as wanted until now, the agent's new choice is wanted from now on: it was
        made in this session, by leaving plan mode for instance.
        """
        if choices is None:
            return
        before = self.known.get(what)
        if before is not None and before.current == self._wanted.get(what):
            self._wanted[what] = choices.current
        self._know(what, choices)

    def told_current(self, what: Selector, value: str) -> None:
        """The agent says what is chosen now, but not out of what."""
        self.told(what, replace(self.known.get(what, Choices()), current=value))

    def want(self, what: Selector, choices: Choices) -> None:
        """The user has chosen, and the agent has agreed."""
        self._know(what, choices)
        self._wanted[what] = choices.current

    def give_up(self, what: Selector) -> None:
        """What the user wants cannot be had."""
        self._wanted.pop(what, None)

    def missing(self) -> Iterator[tuple[Selector, str]]:
        """What the user wants and is not chosen, as far as is known."""
        for what in SELECTORS:
            wanted, choices = self._wanted.get(what), self.known.get(what)
            if wanted and choices is not None and choices.current != wanted:
                yield what, wanted

    def _know(self, what: Selector, choices: Choices) -> None:
        self.known = {**self.known, what: choices}  # another thread may be reading the old one


def match(what: Selector, value: str, choices: Choices) -> str:
    """The id of the choice that a person means by its id or its name.

    Raises:
        CommandError: there is none; names the nearest ones.
    """
    for choice in choices.available:
        if value.casefold() in (choice.id.casefold(), choice.name.casefold()):
            return choice.id
    ids = [choice.id for choice in choices.available]
    near = get_close_matches(value, ids, n=3, cutoff=0.4) or ids
    raise CommandError(f"There is no {what} {value!r}. Nearest: {', '.join(near)}.")
