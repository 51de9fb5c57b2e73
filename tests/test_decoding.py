"""Any JSON becomes a value that can be walked, printed and sent on."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.acp import decoding
from agy_kernel.acp.decoding import MAX_DEPTH, remains
from agy_kernel.acp.framing import Torn

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def decode(line: bytes) -> Any:
    value, is_common = decoding.decode(line)
    if is_common:
        assert repr(json.loads(line.decode("utf-8", "replace"))) == repr(value)
    return value


def nested(depth: int, pair: str = "[]") -> str:
    return pair[0] * depth + pair[1] * depth


def depth_of(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        inner = [list(v.values()) if isinstance(v, dict) else v for v in level]
        level = [x for v in inner if isinstance(v, list) for x in v]
    return depth


@given(JSON, st.booleans())
def test_json_is_what_it_says(value: Any, ascii_only: bool) -> None:
    assert decode(json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "replace")) == (
        value if ascii_only else json.loads(json.dumps(value).encode("utf-8", "replace"))
    )


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 2 * MAX_DEPTH + 1, 995, 100_000])
def test_what_is_nested_too_deeply_costs_itself_and_not_the_frame(depth: int) -> None:
    told = {"[]{}": ['"', "]"], "deep": "HERE", "also": ["HERE", "HERE"], "id": 3}
    line = json.dumps(told).replace('"HERE"', nested(depth)).encode()
    value = decode(line)
    assert value["[]{}"] == ['"', "]"]
    assert value["id"] == 3
    assert len(value["also"]) == 2
    assert depth_of(value) <= 2 * MAX_DEPTH + 1
    json.dumps(value, indent=1)
    assert value == decode(line)


def test_many_shallow_brackets_are_nothing_odd() -> None:
    told = {"list": [[], {"a": "]]]\\"}] * 1_000, "code": "{[" * 5_000}
    assert decode(json.dumps(told).encode()) == told


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 5_000_000,
        b"[" * 101 + b"[]" * 200_000,
        b"[" * 200 + b'"\\""' * 100_000,
        b"[" * 200 + b'"' + b'\\"' * 1_000_000,
        b"[" * 200 + b'"\\',
        b"]" * 200 + b"[" * 200,
    ],
    ids=["endless", "in a row", "strings", "a string", "backslash", "backwards"],
)
def test_what_only_looks_nested_is_no_json(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"column|nobody"):
        decode(line)


def test_numbers_of_any_length_are_numbers() -> None:
    value = decode(b'{"id": 3, "n": ' + b"9" * 5_000 + b', "m": -12345678901234567890}')
    assert value == {"id": 3, "n": math.inf, "m": -12345678901234567890}


def test_what_python_takes_for_json_is_taken() -> None:
    assert decode(b'[Infinity, "\\ud800", {"a": 1, "a": 2}]') == [math.inf, "\ud800", {"a": 2}]
    assert math.isnan(decode(b"NaN"))


@pytest.mark.parametrize(
    ("head", "tail", "found"),
    [
        (
            b'{"jsonrpc": "2.0", "id": 3, "result": {"a": "xxx',
            b'xx"}}',
            {"jsonrpc": "2.0", "id": 3},
        ),
        (
            b'{"result":{"id":4,"a":"xx',
            b'xx"},"id":3,"jsonrpc":"2.0"}',
            {"id": 3, "jsonrpc": "2.0"},
        ),
        (b'{"params":["x', b'"], "method" : "m", "id" : "s" } \r', {"method": "m", "id": "s"}),
        (b'{"a":{"b":1},"id":null,"x":"', b'"}', {"a": {"b": 1}, "id": None}),
        (b'{"result":{"x":"', b'","id":3}}', {}),
        (b'{"result":[{"x":"', b'","id":3}]}', {}),
        (b'{"result": "', b'\\",\\"id\\":3}"}', {}),
        (b'{"n":12', b'34,"id":3}', {"id": 3}),
        (b'{"id":12', b"34}", {}),
        (b"xxxx", b"xxxx", {}),
        (b"[" * 4_096, b"]" * 4_096, {}),
        (b'{"a":' * 800, b"}" * 4_096, {}),
        (b"\xff{", b"\xff}", {}),
        (b'{"jsonrpc\x00": 1, "id": 3, "x": "', b'", "a\x00": 1}', {}),
        (b'{"a": 1, "n": ' + b"9" * 5_000, b', "id": ' + b"9" * 5_000 + b"}", {"a": 1}),
    ],
)
def test_what_can_be_read_at_the_ends_of_a_lost_line(
    head: bytes, tail: bytes, found: dict[str, Any]
) -> None:
    assert remains(Torn(head, tail)) == found
