"""Variables are described without running any code of their types."""

import subprocess
import sys
import tracemalloc
from collections import OrderedDict, UserDict, defaultdict
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.prompt.variables import Describer, name_of
from agy_kernel.secrets import MASK, Masker

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
        (Decimal("0.1"), "Decimal = Decimal('0.1')"),
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


class Ran(BaseException):
    """Code of the user's ran; nothing catches this."""


def run(*_: object) -> NoReturn:
    raise Ran


QUESTIONS = (
    "__bool__ __bytes__ __contains__ __dir__ __eq__ __float__ __format__ __getattr__ __getitem__ "
    "__getattribute__ __hash__ __index__ __int__ __iter__ __len__ __ne__ __repr__ __str__ __array__"
)
ANSWERS: dict[str, Any] = dict.fromkeys(QUESTIONS.split(), run) | {"__module__": "__main__"}


class AskedMeta(type):
    """Its classes answer as their instances do."""

    def __eq__(cls, other: object) -> bool:
        run()

    __hash__ = run

    def __getattribute__(cls, name: str) -> Any:
        run()

    def __instancecheck__(cls, instance: object) -> bool:
        run()

    def __subclasscheck__(cls, subclass: type) -> bool:
        run()

    def __repr__(cls) -> str:
        run()


BASES: dict[type, tuple[object, ...]] = {
    **dict.fromkeys((int, str, bytes, float, complex, bytearray, object, Decimal), ()),
    **dict.fromkeys((list, dict, tuple, set, frozenset, OrderedDict, defaultdict), ()),
    **dict.fromkeys((np.float64, pd.DataFrame, pd.Series, pl.DataFrame), ()),
    datetime: (2024, 1, 2),
    timedelta: (1,),
}
# Their own metaclass, or their constructor, would not let the other one be.
WITHOUT_META: dict[type, tuple[object, ...]] = {UserDict: (), pl.Series: (), np.ndarray: ((3,),)}


@pytest.mark.parametrize("base", BASES, ids=name_of)
def test_a_subclass_is_not_asked_for_anything(base: type) -> None:
    kind: Any = AskedMeta("Asked", (base,), ANSWERS)
    check_only_named(base.__new__(kind, *BASES[base]))


@pytest.mark.parametrize("base", WITHOUT_META, ids=name_of)
def test_nor_are_these(base: type) -> None:
    answers = ANSWERS | {"__array_finalize__": lambda *_: None, "shape": property(run)}
    kind: Any = type("Asked", (base,), answers)
    check_only_named(base.__new__(kind, *WITHOUT_META[base]))


def check_only_named(asked: object) -> None:
    values = np.empty(2, dtype=object)
    series = pd.Series(values, copy=False)
    values[1] = asked  # behind the back of pandas, which would ask
    # Described first: pytest would ask too, for the message of a failure.
    lines = [summary(each) for each in (asked, [asked], {1: asked}, series)]
    assert lines == [
        "Asked",
        "list, 1 items [<Asked>]",
        "dict, 1 items {1: <Asked>}",
        "pandas Series, 2 rows, object, name None [None, <Asked>]",
    ]


class Zone(tzinfo):
    """A time zone of the user's."""

    utcoffset = dst = tzname = run


def test_a_time_zone_is_not_asked() -> None:
    assert summary([datetime(2024, 1, 2, tzinfo=Zone())]) == "list, 1 items [2024-01-02 00:00:00]"


def test_a_module_that_a_class_claims_to_be_of_does_not_matter() -> None:
    claimed = type("DataFrame", (), {"__module__": "pandas", "shape": property(run)})
    assert summary(claimed()) == "pandas.DataFrame"
    unnamed = type("X", (), {"__module__": 5})
    assert name_of(unnamed) == "X"


# -- libraries


@pytest.mark.parametrize(
    ("array", "line"),
    [
        (np.arange(6).reshape(2, 3), "numpy array, 2 × 3, int64 [0, 1, 2, 3, 4, …]"),
        (np.array(1.5), "numpy array, scalar, float64 [1.5]"),
        (np.array([]), "numpy array, 0, float64 []"),
        (np.array(["a", "b"]), "numpy array, 2, <U1 ['a', 'b']"),
        (np.array([True]), "numpy array, 1, bool [True]"),
        (np.array([object()]), "numpy array, 1, object"),
        (np.zeros(1, [("a", "i4")]), "numpy array, 1, [('a', '<i4')]"),
        (np.array(["2024-01-02"], "M8[D]"), "numpy array, 1, datetime64[D] [2024-01-02]"),
        (np.arange(10)[::-2], "numpy array, 5, int64 [9, 7, 5, 3, 1]"),
    ],
)
def test_numpy_arrays(array: object, line: str) -> None:
    assert summary(array) == line


def test_numpy_scalars_in_containers() -> None:
    values = [np.int64(1), np.float32(0.5), np.str_("x"), np.datetime64("2024-01-02"), np.bool_(1)]
    assert summary(values) == "list, 5 items [1, 0.5, 'x', 2024-01-02, True]"


def test_a_pandas_frame() -> None:
    frame = pd.DataFrame(
        {
            "n": [1, 2],
            "x": [0.5, None],
            "when": pd.to_datetime(["2024-01-02", None]).astype("datetime64[ns]"),
            "kind": pd.Categorical(["a", "b"]),
            "what": pd.Series([object(), None], dtype=object),
            "many": pd.array([1, None], dtype="Int64"),
        }
    )
    assert summary(frame) == (
        "pandas DataFrame, 2 rows × 6 columns: 'n' int64 = 1, 'x' float64 = 0.5, 'when' "
        "datetime64[ns] = 2024-01-02T00:00:00.000000000, 'kind' category = 'a', "
        "'what' object = <object>, 'many' Int64 = 1"
    )


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        ([("a", 1)], "['a', 1] int64"),
        ([7], "7 int64"),
        ([None], "None int64"),
        (["new\nline"], "'new\\nline' int64"),
        (["é" * 500], f"'{'é' * 59}… int64"),
        ([""], "'' int64"),
        ([pd.Timestamp("2024-01-02")], "2024-01-02T00:00:00.000000 int64"),
    ],
)
def test_column_names_can_be_anything(labels: list[Any], shown: str) -> None:
    assert shown in summary(pd.DataFrame([[1]], columns=pd.Index(labels, tupleize_cols=False)))


def test_columns_of_one_name_and_many_columns() -> None:
    assert summary(pd.DataFrame([[1, 2]], columns=["a", "a"])).endswith(
        "'a' int64 = 1, 'a' int64 = 2"
    )
    wide = summary(pd.DataFrame([range(100)]))
    assert wide.startswith("pandas DataFrame, 1 rows × 100 columns: 0 int64 = 0, 1 int64 = 1")
    assert wide.endswith("11 int64 = 11, … and 88 more")


def test_empty_frames() -> None:
    assert summary(pd.DataFrame()) == "pandas DataFrame, 0 rows × 0 columns: "
    assert summary(pd.DataFrame({"a": []}, dtype=object)).endswith("0 rows × 1 columns: 'a' object")
    assert summary(pl.DataFrame()) == "polars DataFrame, 0 rows × 0 columns: "
    assert summary(pl.DataFrame({"a": []})) == "polars DataFrame, 0 rows × 1 columns: 'a' Null"


def test_series() -> None:
    assert summary(pd.Series([1.0, 2.0], name="x")) == (
        "pandas Series, 2 rows, float64, name 'x' [1.0, 2.0]"
    )
    assert summary(pl.Series("x", [[1], [2]])) == (
        "polars Series, 2 rows, List(Int64), name 'x' [<list>, <list>]"
    )


def test_a_polars_frame() -> None:
    frame = pl.DataFrame({"n": [1, 2], "s": ["a", None], "when": [date(2024, 1, 2), None]})
    assert summary(frame) == (
        "polars DataFrame, 2 rows × 3 columns: 'n' Int64 = 1, 's' String = 'a', "
        "'when' Date = 2024-01-02"
    )
    assert summary(frame.lazy()).startswith("polars.")


class Money(pd.api.extensions.ExtensionDtype):  # type: ignore[misc]
    """A type of columns that is the user's."""

    type = int
    name = property(run)


class Purse(pd.api.extensions.ExtensionArray):  # type: ignore[misc]
    """A column of it."""

    dtype = Money()
    __getitem__ = __repr__ = run

    def __len__(self) -> int:
        return 2

    @property
    def nbytes(self) -> int:
        return 0


def test_a_column_of_the_users_own_type_is_named() -> None:
    frame = pd.DataFrame({"n": [1, 2]})
    frame["purse"] = pd.Series(Purse(), copy=False)
    assert summary(frame).endswith("'n' int64 = 1, 'purse' <tests.prompt.test_variables.Money>")


GIGABYTES = 2_000_000_000


def test_what_is_huge_is_neither_copied_nor_scanned() -> None:
    bytes_ = np.broadcast_to(np.uint8(1), (GIGABYTES // 1_000, 1_000))
    floats = np.broadcast_to(np.float64(1), (GIGABYTES // 8 // 20, 20))
    frame = pd.DataFrame(floats, copy=False)
    tracemalloc.start()
    try:
        assert summary(bytes_) == "numpy array, 2000000 × 1000, uint8 [1, 1, 1, 1, 1, …]"
        assert "12500000 rows × 20 columns: 0 float64 = 1.0" in summary(frame)
        assert "12500000 rows, float64" in summary(frame[0])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000


def test_what_changes_while_it_is_described_is_named() -> None:
    changing: dict[int, str] = {1: "one", 2: "two"}

    class Meanwhile(Masker):
        """Does what another thread could do."""

        def mask(self, text: str) -> str:
            changing[len(changing) + 1] = "more"
            return text

    assert Describer(Meanwhile({})).line("x", changing) == "x: dict"


def test_no_library_is_imported() -> None:
    code = (
        "import sys; from agy_kernel.prompt.variables import Describer, Masker;"
        "print(Describer(Masker({})).summary([1]));"
        "print(sorted({'numpy', 'pandas', 'polars', 'PIL', 'matplotlib'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "list, 1 items [1]\n[]\n"


@given(st.recursive(st.none() | st.integers() | st.floats() | st.text() | st.binary(), st.lists))
def test_any_value_fits_a_line(value: object) -> None:
    line = DESCRIBER.line("x", value)
    assert "\n" not in line
    assert len(line) < 500
