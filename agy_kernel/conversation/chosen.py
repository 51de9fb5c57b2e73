"""Models, modes and other options: what is on offer, what is chosen, and what the user wants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches

from ..errors import CommandError
from ..events import MODE, MODEL, Choice, Choices


class Chosen:
    """Outlives a session, so that what the user wants can be chosen again in the next one.

    Args:
        wishes: what the user wanted in an earlier kernel: id of the choice by what it is of.
    """

    def __init__(self, wishes: Mapping[str, str] | None = None) -> None:
        self.known: dict[str, Choices] = {}
        self.wishes: dict[str, str] = dict(wishes or {})
        self._impossible: set[tuple[str, str]] = set()

    def begin(self) -> None:
        """A session is being opened: until it tells, what is chosen there is unknown."""
        self.known = {what: replace(choices, current="") for what, choices in self.known.items()}
        self._impossible.clear()

    def told(self, told: Mapping[str, Choices]) -> None:
        """The agent says what is chosen now.

        Where that was as wanted until now, the agent's new choice is wanted from now on: it was
        made in this session, by leaving plan mode for instance.
        """
        for what, choices in told.items():
            before = self.known.get(what)
            if before is not None and before.current == self.wishes.get(what):
                self.wishes[what] = choices.current
            self._know(what, choices)

    def told_mode(self, value: str) -> None:
        """The agent says what mode it is in, but not out of which."""
        self.told({MODE: replace(self.known.get(MODE, Choices()), current=value)})

    def want(self, what: str, choices: Choices) -> None:
        """The user has chosen, and the agent has agreed."""
        self._know(what, choices)
        self.wishes[what] = choices.current

    def cannot(self, what: str, wanted: str) -> None:
        """A wish cannot be fulfilled in this session; it stays one for the next."""
        self._impossible.add((what, wanted))

    def missing(self) -> Iterator[tuple[str, str]]:
        """What the user wants and is not chosen, as far as is known; the model comes first."""
        for what in sorted(self.wishes, key=lambda what: what != MODEL):
            wanted, choices = self.wishes[what], self.known.get(what)
            is_possible = (what, wanted) not in self._impossible
            if is_possible and choices is not None and choices.current != wanted:
                yield what, wanted

    def _know(self, what: str, choices: Choices) -> None:
        self.known = {**self.known, what: choices}  # another thread may be reading the old one


def match(what: str, value: str, choices: Choices) -> str:
    """The id of the choice that a person means by its id, its name, or a part that only it has.

    Raises:
        CommandError: there is none, or there are several; names them, or the nearest ones.
    """
    wanted = value.casefold()
    for choice in choices.available:
        if wanted in _names(choice):
            return choice.id
    partly = [c.id for c in choices.available if any(wanted in name for name in _names(c))]
    if len(partly) == 1:
        return partly[0]
    if partly:
        raise CommandError(f"{value!r} fits several: {', '.join(partly)}. Which {what}?")
    ids = [choice.id for choice in choices.available]
    near = get_close_matches(value, ids, n=3, cutoff=0.4) or ids
    raise CommandError(f"There is no {what} {value!r}. Nearest: {', '.join(near)}.")


def _names(choice: Choice) -> tuple[str, str]:
    return choice.id.casefold(), choice.name.casefold()
