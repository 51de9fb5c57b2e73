"""Models and modes, out of the three places where agents put them.

Config options (the specification's way), ``models`` (dropped from the specification, still sent
by Antigravity and gemini-cli) and ``modes``; a config option is preferred where there is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..events import Choice, Choices, Selector, SessionState

Raw = Mapping[str, Any]


def session_state(session_id: str, result: Any) -> SessionState:
    """The session that ``session/new``, ``load`` or ``resume`` answered with.

    The specification lets ``session/load`` answer null; that is a session of which nothing more
    is known.
    """
    result = result if isinstance(result, dict) else {}
    options = [o for o in result.get("configOptions") or () if isinstance(o, dict)]
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
        str(option.get("currentValue", "")),
        tuple(_choice(value, "value") for value in _values(option.get("options"))),
        str(option.get("id", category)),
    )


def _values(options: Any) -> Iterable[Raw]:
    """The values of a select, whether its list is flat or grouped."""
    for item in options if isinstance(options, list) else ():
        if isinstance(item, dict):
            yield from _values(item["options"]) if "options" in item else (item,)


def _listed(result: Raw, what: Selector) -> Choices | None:
    state = result.get(f"{what}s")
    if not isinstance(state, dict):
        return None
    key = "modelId" if what == "model" else "id"
    available = state.get(f"available{what.capitalize()}s")
    return Choices(
        str(state.get(f"current{what.capitalize()}Id", "")),
        tuple(_choice(item, key) for item in available or () if isinstance(item, dict)),
    )


def _choice(item: Raw, key: str) -> Choice:
    choice_id = str(item.get(key, ""))
    description = item.get("description")
    return Choice(
        choice_id,
        str(item.get("name") or choice_id),
        description if isinstance(description, str) else "",
    )
