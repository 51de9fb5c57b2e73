"""Models, modes and other options, out of the three places where agents put them.

Config options (the specification's way), ``models`` (dropped from the specification, still sent
by Antigravity and gemini-cli) and ``modes``; a config option is preferred where there is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..events import EFFORT, MODE, MODEL, Choice, Choices, SessionState
from .fields import Raw, as_mapping, mapping, mappings, text

CATEGORIES = {
    "model": MODEL,
    "mode": MODE,
    "thought_level": EFFORT,
    "thinking_level": EFFORT,
    "effort": EFFORT,
}
"""What a category or an id stands for; Antigravity's builds differ in that of the effort."""

SWITCH = (Choice("on", "On"), Choice("off", "Off"))


def session_state(session_id: str, result: Any) -> SessionState:
    """The session that ``session/new``, ``load`` or ``resume`` answered with.

    The specification lets ``session/load`` answer null; that is a session of which nothing more
    is known.
    """
    result = as_mapping(result)
    listed = {what: found for what in (MODEL, MODE) if (found := _listed(result, what))}
    return SessionState(session_id, listed | choices_of(mappings(result, "configOptions")))


def choices_of(options: Iterable[Raw]) -> dict[str, Choices]:
    """What config options offer, by ``model``, ``mode``, ``effort`` or the option's own id."""
    found: dict[str, Choices] = {}
    for option in options:
        option_id = text(option, "id") or text(option, "category")
        what = _kind(option)
        key = option_id if not what or what in found else what
        if key and (choices := _choices(option, option_id)) is not None:
            found[key] = choices
    return found


def _kind(option: Raw) -> str | None:
    category = CATEGORIES.get(text(option, "category"))
    return category or CATEGORIES.get(text(option, "id"))


def _choices(option: Raw, option_id: str) -> Choices | None:
    match option.get("type", "select"):
        case "select":
            available = tuple(_choice(value, "value") for value in _values(option))
            return Choices(text(option, "currentValue"), available, option_id, text(option, "name"))
        case "boolean":
            current = "on" if option.get("currentValue") is True else "off"
            return Choices(current, SWITCH, option_id, text(option, "name"), is_switch=True)
        case _:
            return None


def _values(option: Raw) -> Iterator[Raw]:
    """The values of a select, whether its list is flat or grouped."""
    for item in mappings(option, "options"):
        if "options" in item:
            yield from mappings(item, "options")
        else:
            yield item


def _listed(result: Raw, what: str) -> Choices | None:
    if not isinstance(result.get(f"{what}s"), Mapping):
        return None
    state = mapping(result, f"{what}s")
    key = "modelId" if what == MODEL else "id"
    available = mappings(state, f"available{what.capitalize()}s")
    return Choices(
        text(state, f"current{what.capitalize()}Id"),
        tuple(_choice(item, key) for item in available),
    )


def _choice(item: Raw, key: str) -> Choice:
    choice_id = text(item, key)
    return Choice(choice_id, text(item, "name") or choice_id, text(item, "description"))
