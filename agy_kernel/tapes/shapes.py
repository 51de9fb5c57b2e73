"""What a tape says of an agent's build: facts that do not depend on ids, times and paths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .frames import Frame
from .meaning import settled

FREE = {"rawInput", "rawOutput", "arguments", "params", "data"}
"""Fields that hold whatever a tool or an error wants to say."""
WORDS = {
    *("sessionUpdate", "type", "kind", "status", "role", "stopReason", "outcome", "priority"),
    *("category", "mode", "audience"),
}
"""Fields whose values are words of the protocol."""
CHOSEN = {"currentModeId", "currentModelId", "protocolVersion"}
"""Fields whose values say what is chosen; of a config option, ``CATALOGUES`` has it."""
CATALOGUES = {
    "availableModes": ("id",),
    "availableModels": ("modelId",),
    "configOptions": ("id", "currentValue"),
    "options": ("value",),
    "authMethods": ("id",),
    "availableCommands": ("name",),
}
"""Lists of what there is to choose, and the fields that name each: all are facts."""
ODD_KEY = re.compile(r"[^\w.$-]|\d{3}|[0-9a-f]{8}")
"""A key that is a path, an id or a number, not a field's name."""
MOST = 50_000


class Facts:
    """The facts of one tape: frames, fields with the types of their values, and capabilities."""

    def __init__(self) -> None:
        self.all: dict[str, int] = {}
        self.agent: dict[str, Any] = {}

    def add(self, frame: Frame) -> None:
        """Take a frame's facts; each is kept with the line that says it first."""
        if frame.kind == "note":
            return
        if frame.kind == "line":
            if frame.entry.direction == "a2c":
                self._note("agent: a line that is no frame", frame)
            return
        who = "agent" if frame.entry.direction == "a2c" else "client"
        if frame.is_error:
            asked = frame.method or "no request of the tape"
            self._add_error(f"{who}: error {frame.error_code} to {asked}", frame)
            return
        what = " ".join(part for part in (frame.method, frame.update) if part)
        name = (
            f"{who}: {frame.kind} {what}" if frame.kind != "response" else f"{who}: answer {what}"
        )
        self._note(name, frame)
        if who == "agent":
            self._add_fields(name, frame)

    def _add_error(self, name: str, frame: Frame) -> None:
        """An error, and the shape of its data: a client may learn from it what it got wrong."""
        self._note(name, frame)
        body = frame.body
        if frame.entry.direction == "a2c" and isinstance(body, dict) and "data" in body:
            for fact in _facts(body["data"], ".data"):
                self._note(f"{name} {fact}", frame)

    def _add_fields(self, name: str, frame: Frame) -> None:
        body = frame.body
        if frame.method == "initialize" and isinstance(body, dict):
            found = body.get("agentInfo")
            self.agent = found if isinstance(found, dict) else {}
            body = {key: value for key, value in body.items() if key != "agentInfo"}
            name = "agent: capability"
        for fact in _facts(body, ""):
            self._note(f"{name} {fact}", frame)

    def _note(self, fact: str, frame: Frame) -> None:
        if len(self.all) < MOST:
            self.all.setdefault(fact, frame.entry.line)


def _facts(value: Any, place: str, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        yield f"{place or '.'} object"
        for name, each in value.items():
            field = f"{place}.{'*' if ODD_KEY.search(name) else name}"
            if name in FREE:
                yield f"{field} {_type(each)}"
            else:
                yield from _facts(each, field, name)
    elif isinstance(value, list):
        yield f"{place} list"
        for each in value:
            yield from _named(each, place, key)
            yield from _facts(each, f"{place}[]", key)
    elif isinstance(value, str) and key in WORDS | CHOSEN:
        yield f"{place} = {settled(value)}"
    elif isinstance(value, bool) or (isinstance(value, int) and key in CHOSEN):
        yield f"{place} = {value!r}"
    else:
        yield f"{place} {_type(value)}"


def _named(member: Any, place: str, key: str) -> Iterator[str]:
    fields = CATALOGUES.get(key, ())
    if isinstance(member, dict) and all(isinstance(member.get(f), str) for f in fields[:1]):
        for field in fields:
            if isinstance(name := member.get(field), str):
                who = "" if field == fields[0] else f"[{member[fields[0]]}]"
                yield f"{place}{who} {field} {name}"


def _type(value: Any) -> str:
    names = {str: "text", bool: "yes or no", int: "number", float: "number", type(None): "null"}
    return names.get(type(value), "list" if isinstance(value, list) else "object")
