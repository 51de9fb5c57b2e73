"""What a session offers to choose from, in each of the places where agents put it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..acp.fields import as_mapping, mappings
from ..acp.options import choices_of, session_state
from ..events import Choices
from .turns import Answer
from .wire import Wire

CHOOSE_SECONDS = 30.0
OPTION = "session/set_config_option"
CONFIG_OPTIONS = "configOptions"


@dataclass(frozen=True, slots=True)
class Offer:
    """What can be chosen, in one place.

    Args:
        what: ``model``, ``mode`` or ``effort``.
        place: ``configOptions``, ``models`` or ``modes``: the field of ``session/new``'s answer.
        choices: what is there, and what is chosen.
    """

    what: str
    place: str
    choices: Choices

    @property
    def values(self) -> list[str]:
        """The ids of what is offered."""
        return [choice.id for choice in self.choices.available]

    @property
    def current(self) -> str:
        """The id of what is chosen; empty where it is not told."""
        return self.choices.current

    @property
    def others(self) -> list[str]:
        """The ids of what is offered, and not chosen."""
        return [value for value in self.values if value != self.current]

    @property
    def method(self) -> str:
        """The request that chooses."""
        return OPTION if self.choices.option_id is not None else f"session/set_{self.what}"

    def legacy(self) -> Offer:
        """The same, to be chosen by ``session/set_model`` or ``set_mode``."""
        return replace(self, place=f"{self.what}s", choices=replace(self.choices, option_id=None))

    async def choose(self, wire: Wire, session_id: str, value: str) -> Answer:
        """Choose something, offered or not."""
        if self.choices.option_id is None:
            told: dict[str, Any] = {f"{self.what}Id": value}
        else:
            told = {"configId": self.choices.option_id, "value": value}
        return await wire.ask(self.method, {"sessionId": session_id, **told}, CHOOSE_SECONDS)

    async def put_back(self, wire: Wire, session_id: str) -> bool:
        """Choose again what was chosen at first, where that is known; whether it was taken."""
        if not self.current:
            return False
        return (await self.choose(wire, session_id, self.current)).is_result


def offers_of(opened: Mapping[str, Any], what: str) -> list[Offer]:
    """What ``session/new`` or ``load`` offers of something, the config option first."""
    places = (CONFIG_OPTIONS, f"{what}s")
    found = [(p, session_state("", {p: opened.get(p)}).choices.get(what)) for p in places]
    return [Offer(what, place, choices) for place, choices in found if choices is not None]


def reported(answer: Answer, what: str) -> str:
    """What an answer says is chosen now; empty where it does not tell.

    The protocol answers an object with ``configOptions``, Antigravity's RC01 the bare list.
    """
    is_list = isinstance(answer.result, list)
    told = {CONFIG_OPTIONS: answer.result} if is_list else as_mapping(answer.result)
    now = choices_of(mappings(told, CONFIG_OPTIONS)).get(what)
    return now.current if now else ""
