"""A variable in a line, without running any code of its type.

Only exact builtin, numpy, pandas and polars types are looked into: a subclass could do anything
when it is asked for its length, and its metaclass when it is compared. Of everything else the
type's name is said. No library is imported: what is not loaded has no values here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any

from ..secrets import Masker, looks_secret

NUMBERS = (bool, int, float, complex, Decimal, type(None))
TEXTS = (str, bytes, bytearray)
CONTAINERS = (list, tuple, set, frozenset, dict)
LIBRARIES = ("numpy", "pandas", "polars")
LIBRARY_TYPES = (
    ("numpy", "ndarray"),
    ("pandas", "DataFrame"),
    ("pandas", "Series"),
    ("polars", "DataFrame"),
    ("polars", "Series"),
)
FEW = 5
COLUMNS = 12
LONGEST = 60  # characters of one value
SEARCHED = 10_000  # characters of a text that are searched for secrets before it is cut
WIDEST = 4_096  # bits of an integer; Python refuses to write one that is much wider


class Describer:
    """Describes variables.

    Args:
        masker: masks secrets in values before they are cut.
    """

    def __init__(self, masker: Masker) -> None:
        self._mask = masker.mask
        self._of_libraries = {
            "numpy.ndarray": self._array,
            "pandas.DataFrame": self._pandas_frame,
            "pandas.Series": self._pandas_series,
            "polars.DataFrame": self._polars_frame,
            "polars.Series": self._polars_series,
        }

    def line(self, name: str, value: Any) -> str:
        """One line: name, type, and for known types shape and a few values, unless it is secret."""
        told = name_of(type(value)) if looks_secret(name) else self.summary(value)
        return f"{name}: {told}"

    def summary(self, value: Any) -> str:
        """The line without the name."""
        try:
            return self._summary(value)
        except Exception:  # another thread changed it meanwhile, or a column is of anybody's type
            return name_of(type(value))

    def _summary(self, value: Any) -> str:
        kind = type(value)
        if is_one_of(kind, NUMBERS):
            return f"{kind.__name__} = {self._value(value)}"
        if is_one_of(kind, TEXTS):
            return f"{kind.__name__}, {len(value)} long = {self._value(value)}"
        if is_one_of(kind, CONTAINERS):
            return f"{kind.__name__}, {len(value)} items {self._value(value)}"
        known = library_type(value)
        return self._of_libraries[known](value) if known else name_of(kind)

    # -- values

    def _value(self, value: Any, depth: int = 1) -> str:
        kind = type(value)
        if kind is int and value.bit_length() > WIDEST:
            return f"<int of {value.bit_length()} bits>"
        if is_one_of(kind, NUMBERS):
            return self._short(repr(value))
        if is_one_of(kind, TEXTS):
            return self._short(repr(value[:SEARCHED]))
        if is_one_of(kind, CONTAINERS) and depth:
            return self._container(value, depth - 1)
        return self._moment(value) or self._numpy_scalar(value) or f"<{name_of(kind)}>"

    def _container(self, value: Any, depth: int) -> str:
        if type(value) is dict:
            pairs = islice(value.items(), FEW)
            shown = (f"{self._value(k, depth)}: {self._value(v, depth)}" for k, v in pairs)
            return f"{{{_few(shown, len(value))}}}"
        return self._list(islice(value, FEW), len(value), depth)

    def _list(self, values: Iterable[Any], total: int, depth: int = 0) -> str:
        return f"[{_few((self._value(value, depth) for value in values), total)}]"

    def _moment(self, value: Any) -> str:
        if is_one_of(type(value), (datetime, time)):
            return str(value.replace(tzinfo=None))  # a time zone may be anybody's type
        if is_exactly(value, "pandas", "Timestamp"):
            return str(value.asm8)
        plain = is_one_of(type(value), (date, timedelta)) or is_exactly(
            value, "pandas", "Timedelta"
        )
        return str(value) if plain else ""

    def _numpy_scalar(self, value: Any) -> str:
        if not is_exactly(value, "numpy", name_of(type(value)).removeprefix("numpy.")):
            return ""
        kind = value.dtype.kind
        if kind in "SU":
            return self._value(value.item())
        return str(value) if kind in "biufcMm" else ""

    def _short(self, text: str) -> str:
        text = self._mask(text)
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"

    # -- values of libraries

    def _array(self, array: Any) -> str:
        shape = " × ".join(map(str, array.shape)) or "scalar"
        line = f"numpy array, {shape}, {self._dtype(array.dtype)}"
        if array.dtype.kind not in "biufcMmSU":
            return line
        # Not by reshape or ravel: of some views they copy everything.
        return f"{line} {self._list(array.flat[:FEW].tolist(), array.size)}"

    def _pandas_frame(self, frame: Any) -> str:
        columns = []
        for n, (label, dtype) in enumerate(islice(frame.dtypes.items(), COLUMNS)):
            first = [frame.iat[0, n]] if len(frame) and _is_known(dtype) else []
            columns.append(self._column(label, dtype, first))
        return f"pandas DataFrame, {_columns(columns, frame.shape)}"

    def _pandas_series(self, series: Any) -> str:
        few = series.iloc[:FEW].tolist() if _is_known(series.dtype) else []
        return f"pandas Series, {self._series(series, few)}"

    def _polars_frame(self, frame: Any) -> str:
        head = frame[:1, :COLUMNS]
        first = head.rows()[0] if len(head) else ()
        columns = [
            self._column(label, dtype, first[n : n + 1])
            for n, (label, dtype) in enumerate(head.schema.items())
        ]
        return f"polars DataFrame, {_columns(columns, frame.shape)}"

    def _polars_series(self, series: Any) -> str:
        return f"polars Series, {self._series(series, series.head(FEW).to_list())}"

    def _series(self, series: Any, few: list[Any]) -> str:
        name, dtype = self._value(series.name), self._dtype(series.dtype)
        return f"{len(series)} rows, {dtype}, name {name} {self._list(few, len(series))}"

    def _column(self, label: Any, dtype: Any, first: Iterable[Any]) -> str:
        values = "".join(f" = {self._value(value, depth=0)}" for value in first)
        return f"{self._value(label)} {self._dtype(dtype)}{values}"

    def _dtype(self, dtype: Any) -> str:
        return self._short(str(dtype)) if _is_known(dtype) else f"<{name_of(type(dtype))}>"


def library_type(value: Any) -> str:
    """Which known type of a library a value is of, as ``pandas.DataFrame``; empty if of none."""
    known = ((m, t) for m, t in LIBRARY_TYPES if is_exactly(value, m, t))
    return ".".join(next(known, ()))


def is_exactly(value: Any, module: str, type_name: str) -> bool:
    """Whether a value is of a type of a library that is loaded, and not of a subclass."""
    return type(value) is vars(sys.modules.get(module, object)).get(type_name)


def is_one_of(kind: type, types: Iterable[type]) -> bool:
    """Whether a type is one of some; ``in`` would ask its metaclass."""
    return any(kind is each for each in types)


def name_of(kind: type) -> str:
    """The name of a type, with its module, whatever its metaclass makes of them."""
    name: str = type.__dict__["__qualname__"].__get__(kind)
    module = type.__dict__["__module__"].__get__(kind)
    known = type(module) is str and module not in ("builtins", "__main__")
    return f"{module}.{name}" if known else name


def _is_known(dtype: Any) -> bool:
    return name_of(type(dtype)).partition(".")[0] in LIBRARIES


def _columns(columns: Iterable[str], shape: tuple[int, int]) -> str:
    rows, total = shape
    more = f", … and {total - COLUMNS} more" if total > COLUMNS else ""
    return f"{rows} rows × {total} columns: {', '.join(columns)}{more}"


def _few(shown: Iterable[str], total: int) -> str:
    return ", ".join(shown) + (", …" if total > FEW else "")
