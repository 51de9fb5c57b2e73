"""What a frame is: a request, a notification, or the response to a request on the same tape."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from ..acp.tape import NOTE
from .reading import Entry, Header

Kind = Literal["request", "notification", "response", "line", "note"]


class Frame(NamedTuple):
    """A frame with what it means.

    Args:
        entry: where it stands; a batch gives several frames.
        kind: ``line`` is what is no frame of JSON-RPC, ``note`` what did not pass on the wire.
        method: a response's is that of its request; empty where the request is not on the tape.
        id: the request's, as JSON, for ids may be of any type; empty where there is none.
        message: the frame itself.
    """

    entry: Entry
    kind: Kind
    method: str
    id: str
    message: Any

    @property
    def body(self) -> Any:
        """What it carries: params, result, or error."""
        if not isinstance(self.message, dict) or self.kind == "note":
            return self.message
        keys = ("result", "error") if self.kind == "response" else ("params",)
        return next((self.message[key] for key in keys if key in self.message), None)

    @property
    def is_error(self) -> bool:
        """Whether it is a response that says what went wrong."""
        return self.kind == "response" and self.message.get("error") is not None

    @property
    def error_code(self) -> Any:
        """The code of an error, of whatever type it came; None where there is none."""
        error = self.message.get("error") if self.kind == "response" else None
        return error.get("code") if isinstance(error, dict) else None

    @property
    def update(self) -> str:
        """The kind of a ``session/update``; empty for all else."""
        body = self.body
        found = body.get("update") if isinstance(body, dict) else None
        return str(found.get("sessionUpdate", "")) if isinstance(found, dict) else ""


class Frames:
    """Tells the frames of a tape, one entry after the other."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str, str], str] = {}

    def of(self, line: Header | Entry) -> Iterator[Frame]:
        """The frames of a line; a header begins a connection with ids of its own."""
        if isinstance(line, Header):
            self._asked.clear()
            return
        is_batch = isinstance(line.message, list) and line.direction != "stderr"
        for message in line.message if is_batch else [line.message]:
            yield self._frame(line, message)

    def _frame(self, entry: Entry, message: Any) -> Frame:
        if entry.direction == NOTE:
            return Frame(entry, "note", "", "", message)
        if entry.direction == "stderr" or not isinstance(message, dict):
            return Frame(entry, "line", "", "", message)
        method, request_id = message.get("method"), json.dumps(message.get("id"))
        if isinstance(method, str) and "id" in message:
            self._asked[entry.direction, request_id] = method
            return Frame(entry, "request", method, request_id, message)
        if isinstance(method, str):
            return Frame(entry, "notification", method, "", message)
        if "result" in message or "error" in message:
            other = "a2c" if entry.direction == "c2a" else "c2a"
            asked = self._asked.pop((other, request_id), "")
            return Frame(entry, "response", asked, request_id, message)
        return Frame(entry, "line", "", "", message)


def with_strings(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with every string in it changed; keys too, for codex names files by them."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [with_strings(each, change) for each in value]
    if isinstance(value, dict):
        return {change(key): with_strings(each, change) for key, each in value.items()}
    return value
