"""Whether two frames mean the same, though they were sent at other times, by other names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

PASSING = {
    *("sessionId", "requestId", "toolCallId", "messageId", "terminalId", "elicitationId"),
    *("cwd", "uri", "path", "_meta", "clientInfo", "cursor"),
}
"""Keys whose values differ from run to run."""
HANDSHAKE = ("protocolVersion",)
"""What of ``initialize`` has to be the same: a newer client may offer more."""
VARIABLE = re.compile(
    r"(?P<port>(?:(?<=\b127\.0\.0\.1:)|(?<=\blocalhost:)|(?<=\[::1\]:))\d{1,5}\b)"
    r"|(?P<time>\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\b\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?\b"
    r"|\b\d+(?:\.\d+)? ?(?:ms|s|sec|seconds|min|minutes)\b)"
    r"|(?P<id>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b|\b[0-9a-f]{16,}\b)"
    r"|(?P<path>(?:file://)?(?:<home>|[A-Za-z]:)?(?:[/\\][\w.@<>~-]+){2,}[/\\]?)"
)
LONGEST = 60


def departure(method: str, expected: Any, got: Any) -> str:
    """Where the params of a request depart from what is expected, and how; empty where not."""
    if method == "initialize":
        expected, got = (_only(HANDSHAKE, params) for params in (expected, got))
    return difference(expected, got, "params")


def difference(expected: Any, got: Any, place: str) -> str:
    """The first difference in meaning: "place is X, not Y"; empty where there is none.

    Times, ids, paths and the ports of this machine are none, and neither is anything in ``_meta``.
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        return _first_of_objects(expected, got, place)
    if isinstance(expected, list) and isinstance(got, list):
        return _first_of_lists(expected, got, place)
    if isinstance(expected, str) and isinstance(got, str):
        is_same = expected == got or settled(expected) == settled(got)
    else:
        is_same = expected == got
    return "" if is_same else _says(place, expected, got)


def settled(text: str) -> str:
    """A text with every time, id, path and port of this machine replaced by the word for it."""
    return VARIABLE.sub(lambda found: f"<{found.lastgroup}>", text)


def _first_of_objects(expected: Mapping[str, Any], got: Mapping[str, Any], place: str) -> str:
    missing = object()
    for key in dict.fromkeys([*expected, *got]):
        one, other = expected.get(key, missing), got.get(key, missing)
        if key in PASSING:
            continue
        if one is missing:
            return f"{place}.{key} is there, and should not be"
        if other is missing:
            return f"{place}.{key} is missing"
        if found := difference(one, other, f"{place}.{key}"):
            return found
    return ""


def _first_of_lists(expected: list[Any], got: list[Any], place: str) -> str:
    for at, (one, other) in enumerate(zip(expected, got, strict=False)):
        if found := difference(one, other, f"{place}[{at}]"):
            return found
    if len(expected) != len(got):
        return f"{place} has {len(got)} members, not {len(expected)}"
    return ""


def _says(place: str, expected: Any, got: Any) -> str:
    if isinstance(expected, str) and isinstance(got, str):  # long ones are alike at first
        at = next((n for n, (a, b) in enumerate(zip(expected, got, strict=False)) if a != b), 0)
        start = max(0, at - 20)
        expected, got = expected[start:], got[start:]
    return f"{place} is {_short(got)}, not {_short(expected)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _only(keys: tuple[str, ...], params: Any) -> Any:
    return {k: params.get(k) for k in keys} if isinstance(params, dict) else params
