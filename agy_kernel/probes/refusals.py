"""How an agent refuses a request: by which code, and where it names what was wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..errors import RequestFailed
from .turns import Answer

METHOD_NOT_FOUND = -32601
NO_SESSION = "00000000-0000-4000-8000-000000000000"
"""The id of a session that there never was."""
LONGEST = 80


def is_unknown(error: RequestFailed | None) -> bool:
    """Whether an answer says that there is no such method."""
    return error is not None and error.code == METHOD_NOT_FOUND


def brief(answer: Answer) -> str:
    """What an answer was, for a sentence that has more to tell than an agent's long error."""
    error = answer.error
    return answer.words if error is None else f"error {error.code}, “{error.message[:LONGEST]}”"


def named_in(error: RequestFailed, *names: str) -> str:
    """Where an error names something: a path in ``data``, ``message``, or nowhere, empty.

    Args:
        error: the answer.
        names: of the same thing; a field's name, or other words for it.
    """
    found = (_in_data(error.data, name) for name in names)
    in_message = any(_has(error.message, name) for name in names)
    return next(filter(None, found), "message" if in_message else "")


def named_of(error: RequestFailed, names: Iterable[str]) -> list[str]:
    """Which of some names an error tells."""
    return [name for name in names if named_in(error, name)]


def _in_data(data: Any, name: str) -> str:
    waiting = [("data", data)]
    for place, value in waiting:  # it grows meanwhile, whatever the depth
        if isinstance(value, dict):
            if name in value:
                return f"{place}.{name}"
            waiting += [(f"{place}.{key}", each) for key, each in value.items()]
        elif isinstance(value, list):
            waiting += [(place if isinstance(e, str) else f"{place}[]", e) for e in value]
        elif isinstance(value, str) and _has(value, name):
            return place
    return ""


def _has(text: str, name: str) -> bool:
    """Whether a text has a name in it, and not only as a part of another."""
    return re.search(rf"(?<![\w/-]){re.escape(name)}(?![\w/-])", text, re.IGNORECASE) is not None
