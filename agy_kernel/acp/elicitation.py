"""``elicitation/create`` as received, to a typed question; and its answer, as it is sent.

Tolerant like the updates: an unknown type of a field is a text field, a bad bound is no bound.
(agentclientprotocol.com, "elicitation"; acp-v1.md 1.4 and part 4)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ..errors import RequestFailed, shortened
from ..forms import Field, Item, Kind, Value
from ..questions import Answer, Form, Link
from .fields import Raw, mapping, mappings, text

INVALID_PARAMS = -32602
MOST_FIELDS = 100
LONGEST_LABEL = 1_000  # characters
BEHIND_HOST = re.compile(r"[/\\?#]")
CAPABILITY: Mapping[str, Any] = {"form": {}, "url": {}}
KINDS: dict[str, Kind] = {"number": "number", "integer": "integer", "boolean": "yes_no"}


def elicitation(params: Raw) -> Form | Link:
    """The question that an ``elicitation/create`` asks.

    Raises:
        RequestFailed: it asks in a way that we did not advertise, or for nothing sensible.
    """
    mode, call_id = text(params, "mode"), text(params, "toolCallId")
    message = shortened(text(params, "message"))
    if mode == "url":
        return Link(message, _url(params), text(params, "elicitationId"), call_id)
    if mode != "form":
        raise RequestFailed(INVALID_PARAMS, f"elicitation mode {mode!r} is not supported")
    schema = mapping(params, "requestedSchema")
    return Form(
        message,
        _fields(schema),
        shortened(text(schema, "title")),
        shortened(text(schema, "description")),
        call_id,
    )


def outcome(answer: Answer) -> dict[str, Any]:
    """The result that an answer becomes."""
    if answer.values is None:
        return {"action": "decline" if answer.declined else "cancel"}
    return {"action": "accept", **({"content": dict(answer.values)} if answer.values else {})}


def _url(params: Raw) -> str:
    url = text(params, "url")
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_good = False
    if not is_good:
        raise RequestFailed(INVALID_PARAMS, "only http and https addresses can be visited")
    # Browsers take a backslash for a slash, and drop tabs and newlines: we would name another host.
    told = BEHIND_HOST.split(url.partition("://")[2], maxsplit=1)[0]
    if told != parts.netloc or not told.isprintable() or " " in told:
        raise RequestFailed(INVALID_PARAMS, "it is not plain which host the address leads to")
    return url


def _fields(schema: Raw) -> tuple[Field, ...]:
    properties = mapping(schema, "properties")
    if len(properties) > MOST_FIELDS:
        raise RequestFailed(INVALID_PARAMS, f"a form may have {MOST_FIELDS} fields at most")
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    return tuple(_field(name, mapping(properties, name), name in names) for name in properties)


def _field(name: str, raw: Raw, required: bool) -> Field:
    items = _items(raw)
    kind = _kind(text(raw, "type"), items)
    low, high = {"text": ("minLength", "maxLength"), "choices": ("minItems", "maxItems")}.get(
        kind, ("minimum", "maximum")
    )
    field = Field(
        name,
        kind,
        shortened(text(raw, "title"), LONGEST_LABEL),
        shortened(text(raw, "description")),
        required,
        None,
        items,
        _bound(raw.get(low)),
        _bound(raw.get(high)),
        text(raw, "pattern"),
        text(raw, "format"),
    )
    return field.with_default(_default(field, raw.get("default")))


def _kind(told: str, items: tuple[Item, ...]) -> Kind:
    if told == "array":
        return "choices"
    return "choice" if items else KINDS.get(told, "text")


def _items(raw: Raw) -> tuple[Item, ...]:
    """What can be chosen: bare values, or values with titles; of one, or of several."""
    inner = mapping(raw, "items") or raw
    titled = [*mappings(inner, "oneOf"), *mappings(inner, "anyOf")]
    values = inner.get("enum")
    if titled:
        return tuple(
            Item(
                value,
                shortened(text(item, "title") or value, LONGEST_LABEL),
                shortened(text(item, "description")),
            )
            for item in titled
            if (value := text(item, "const"))
        )
    return tuple(
        Item(v, shortened(v, LONGEST_LABEL))
        for v in (values if isinstance(values, list) else ())
        if isinstance(v, str)
    )


def _bound(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and abs(value) < 1e300 else None


def _default(field: Field, value: Any) -> Value | None:
    """The default, if it is one that the field can hold."""
    values = [item.value for item in field.items]
    if field.kind == "choices":
        return [v for v in value if v in values] if isinstance(value, list) else None
    if field.kind == "choice":
        return value if value in values else None
    wanted = {"yes_no": (bool,), "integer": (int,), "number": (int, float)}.get(field.kind, (str,))
    return value if type(value) in wanted else None
