"""Models and modes, out of the three places where agents put them.

Config options (the specification's way), ``models`` (dropped from the specification, still sent
by Antigravity and gemini-cli) and ``modes``; a config option is preferred where there is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..events import Choice, Choices, Selector, SessionState
from .fields import Raw, as_mapping, mapping, mappings, text


def session_state(session_id: str, result: Any) -> SessionState:
    """The session that ``session/new``, ``load`` or ``resume`` answered with.

    The specification lets ``session/load`` answer null; that is a session of which nothing more
    is known.
    """
    result = as_mapping(result)
    options = list(mappings(result, "configOptions"))
    return SessionState(
        session_id,
        models=config_choices(options, "model") or _listed(result, "model"),
        modes=config_choices(options, "mode") or _listed(result, "mode"),
    )


def config_choices(options: Iterable[Raw], category: Selector) -> Choices | None:
    """What the config option of a category offers; None where there is no such option."""
    matching = [o for o in options if category in (o.get("category"), o.get("id"))]
    option = next((o for o in matching if o.get("type", "select") == "select"), None)
    if option is None:
        return None
    return Choices(
        text(option, "currentValue"),
        tuple(_choice(value, "value") for value in _values(option)),
        text(option, "id") or category,
    )


def _values(option: Raw) -> Iterable[Raw]:
    """The values of a select, whether its list is flat or grouped."""
    for item in mappings(option, "options"):
        if "options" in item:
            yield from mappings(item, "options")
        else:
            yield item


def _listed(result: Raw, what: Selector) -> Choices | None:
    if not isinstance(result.get(f"{what}s"), Mapping):
        return None
    state = mapping(result, f"{what}s")
    key = "modelId" if what == "model" else "id"
    available = mappings(state, f"available{what.capitalize()}s")
    return Choices(
        text(state, f"current{what.capitalize()}Id"),
        tuple(_choice(item, key) for item in available),
    )


def _choice(item: Raw, key: str) -> Choice:
    choice_id = text(item, key)
    return Choice(choice_id, text(item, "name") or choice_id, text(item, "description"))
