"""A line to a JSON value, so that nothing that uses the value need be afraid of it.

Valid JSON can be nested deeper than Python can walk, and hold numbers longer than Python reads;
neither may cost the frame.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .framing import Torn

MAX_DEPTH = 100
MAX_BRACKETS = 1_000_000
MAX_DIGITS = 300
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# A string without an end takes the whole rest: looking for another one would take for ever.
STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
BRACKETS = re.compile(rb"[\[{]+|[\]}]+")
DECODER = json.JSONDecoder()
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
MEMBER = re.compile(r'\s*[{,]\s*("(?:[^"\\]|\\.)*")\s*:\s*')
LAST_MEMBERS = re.compile(
    r',(\s*"[^"\\]*"\s*:\s*(?:-?\d+|null|"[^"\\]*")\s*'
    r'(?:,\s*"[^"\\]*"\s*:\s*(?:-?\d+|null|"[^"\\]*")\s*)*\})\s*\Z'
)


def decode(line: bytes) -> tuple[Any, bool]:
    """The JSON value of a line, and whether every parser could read it.

    Broken UTF-8 costs a letter, what is nested deeper than ``MAX_DEPTH`` becomes null, and a whole
    number of more digits than Python reads becomes a float.

    Raises:
        ValueError: it is not JSON.
    """
    is_deep = line.count(b"[") + line.count(b"{") > MAX_DEPTH and _is_deep(line)
    if is_deep:
        line = b"".join(_shallow(line))
    text = line.decode("utf-8", "replace")
    try:
        return DECODER.decode(text), not is_deep
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(text, parse_int=_number), False


def remains(torn: Torn) -> Mapping[str, Any]:
    """The members of an object that can be read at the ends of its line.

    At the head these are all members before the one that is cut, at the tail plain ones: enough
    to tell what a lost frame was, whichever order its members have.
    """
    head, tail = (end.decode("utf-8", "replace") for end in torn)
    return dict(_readable(_last_members(tail))) | dict(_readable(_first_members(head)))


def _is_deep(line: bytes) -> bool:
    brackets = STRINGS.sub(b"", line).translate(None, NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    if len(brackets) > MAX_BRACKETS:
        raise ValueError("nobody nests like this")
    return bool(brackets)


def _shallow(line: bytes) -> Iterator[bytes]:
    depth = start = 0
    masked = STRINGS.sub(lambda string: b'"' * len(string[0]), line)
    for found in BRACKETS.finditer(masked):
        before, count = depth, len(found[0])
        depth += count if found[0][:1] in b"[{" else -count
        if before <= MAX_DEPTH < depth:
            yield line[start : found.start() + MAX_DEPTH - before] + b"null"
        elif depth <= MAX_DEPTH < before:
            start = found.start() + before - MAX_DEPTH
    if depth <= MAX_DEPTH:
        yield line[start:]


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) <= MAX_DIGITS else float(digits)


def _readable(members: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    with contextlib.suppress(ValueError, RecursionError):
        yield from members


def _first_members(text: str) -> Iterator[tuple[str, Any]]:
    at = 0
    while member := MEMBER.match(text, at):
        value, at = DECODER.raw_decode(text, member.end())
        if at < len(text):  # or a number may have been cut
            yield json.loads(member[1]), value


def _last_members(text: str) -> Iterator[tuple[str, Any]]:
    if found := LAST_MEMBERS.search(text):
        yield from json.loads("{" + found[1]).items()
