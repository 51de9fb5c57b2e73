"""Reading fields of frames, tolerant as the protocol asks: a bad value is as good as none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Raw = Mapping[str, Any]


def as_mapping(value: Any) -> Raw:
    """What should be an object; anything else is as good as an empty one."""
    return value if isinstance(value, dict) else {}


def mapping(raw: Raw, key: str) -> Raw:
    """A field that should be an object."""
    return as_mapping(raw.get(key))


def mappings(raw: Raw, key: str) -> Iterator[Raw]:
    """The objects in a field that should be a list of them."""
    value = raw.get(key)
    return (item for item in (value if isinstance(value, list) else ()) if isinstance(item, dict))


def text(raw: Raw, key: str) -> str:
    """A field that should be a string; what no wire can carry in it becomes ``?``."""
    return well_formed(piece(raw, key))


def piece(raw: Raw, key: str) -> str:
    """A field that should be a piece of a longer string: half of a surrogate pair may end it."""
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def well_formed(value: str) -> str:
    """A string without lone surrogates: JSON can name them, and no message could be sent on."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()
