"""Variables are described without running any code of their types."""

import sys
from collections import OrderedDict, UserDict, defaultdict, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from agy_kernel.prompt.secrets import MASK, Masker
from agy_kernel.prompt.variables import Describer, name_of

DESCRIBER = Describer(Masker({"MY_TOKEN": "hunter2hunter2"}))
summary = DESCRIBER.summary


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (None, "NoneType = None"),
        (True, "bool = True"),
        (42, "int = 42"),
        (1.5, "float = 1.5"),
        (2j, "complex = 2j"),
        (Decimal("0.1"), "decimal.Decimal = Decimal('0.1')"),
        ("it's", '''str, 4 long = "it's"'''),
        ("x\n" * 100, "str, 200 long = 'x" + "\\nx" * 19 + "\\…"),
        (b"\x00", "bytes, 1 long = b'\\x00'"),
        (bytearray(b"x"), "bytearray, 1 long = bytearray(b'x')"),
        ([], "list, 0 items []"),
        ([1, "a", None, [2], {}, 5], "list, 6 items [1, 'a', None, <list>, <dict>, …]"),
        ((1,), "tuple, 1 items [1]"),
        ({1}, "set, 1 items [1]"),
        (frozenset(), "frozenset, 0 items []"),
        ({"a": 1, "b": [2]}, "dict, 2 items {'a': 1, 'b': <list>}"),
        ([date(2024, 1, 2), timedelta(1)], "list, 2 items [2024-01-02, 1 day, 0:00:00]"),
        (range(10**30), "range"),
        (object(), "object"),
        (len, "builtin_function_or_method"),
        (OrderedDict(a=1), "collections.OrderedDict"),
    ],
)
def test_builtin_values(value: object, line: str) -> None:
    assert summary(value) == line


def test_a_line_begins_with_the_name() -> None:
    assert DESCRIBER.line("x", 1) == "x: int = 1"


@pytest.mark.parametrize("name", ["api_key", "token", "DB_PASSWORD"])
def test_of_a_variable_that_sounds_secret_there_is_no_value(name: str) -> None:
    assert DESCRIBER.line(name, "typed into getpass") == f"{name}: str"


@pytest.mark.parametrize("digits", [10, 4_000, 100_000])
def test_an_integer_of_any_size(digits: int) -> None:
    assert len(summary(10**digits)) < 100
    assert len(summary([10**digits])) < 100


@pytest.mark.parametrize("before", range(80))
def test_no_part_of_a_secret_is_left_where_a_value_is_cut(before: int) -> None:
    text = "-" * before + "hunter2hunter2" + "-" * 50
    for value in (text, [text], {text: 1}, {1: text}, text.encode(), pd.Series([text], name=text)):
        line = summary(value).replace(MASK, "")
        assert "hun" not in line
        assert "ter2" not in line


# -- nobody's code runs


def refuse(*_: object) -> NoReturn:
    raise AssertionError("code of the user's ran")


HOSTILE = {
    name: refuse
    for name in (
        "__bool__ __bytes__ __class_getitem__ __contains__ __dir__ __eq__ __float__ __format__ "
        "__getattr__ __getattribute__ __getitem__ __hash__ __index__ __int__ __iter__ __len__ "
        "__ne__ __repr__ __str__ __array__ __array_finalize__ shape dtype columns schema name iloc"
    ).split()
}


class HostileMeta(type):
    """Every question that is put to its classes is an error."""

    def __eq__(cls, other: object) -> bool:
        refuse()

    def __hash__(cls) -> int:
        refuse()

    def __getattribute__(cls, name: str) -> Any:
        refuse()

    def __instancecheck__(cls, instance: object) -> bool:
        refuse()

    def __subclasscheck__(cls, subclass: type) -> bool:
        refuse()

    def __repr__(cls) -> str:
        refuse()


BASES = [
    int, str, bytes, float, list, dict, tuple, set, frozenset, object,
    OrderedDict, defaultdict, UserDict, datetime, Decimal,
    np.ndarray, np.float64, pd.DataFrame, pd.Series, pd.Timestamp, pl.DataFrame, pl.Series,
]  # fmt: skip


def hostile(base: type) -> object:
    """An instance of a subclass that answers nothing, made without asking it."""
    kind = HostileMeta("Hostile", (base,), dict(HOSTILE))
    if base is np.ndarray:
        return as_strided(np.zeros(3)).view(kind) if False else np.ndarray.__new__(kind, (3,))
    if base is datetime:
        return datetime.__new__(kind, 2024, 1, 1)
    return base.__new__(kind)
