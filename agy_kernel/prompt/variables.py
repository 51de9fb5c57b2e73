"""A variable in a line, without running any code of its type.

Only exact builtin, numpy, pandas and polars types are looked into: a subclass could do anything
when it is asked for its length. Of everything else the type's name is said. No library is imported:
what is not loaded has no values here.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from .secrets import Masker

SCALARS = (bool, int, float, complex, type(None))
TEXTS = (str, bytes, bytearray)
SIZED = (list, tuple, set, frozenset, dict)
FEW = 5
COLUMNS = 12
LONGEST = 60  # characters of one value
LOOKED_AT = 10_000  # characters of a text that are searched for secrets before it is cut
WIDEST = 10_000  # bits; Python writes no number that has many more
LIBRARY_TYPES = {
    ("numpy", "ndarray"): "_array",
    ("pandas", "DataFrame"): "_pandas_frame",
    ("pandas", "Series"): "_pandas_series",
    ("polars", "DataFrame"): "_polars_frame",
    ("polars", "Series"): "_polars_series",
}


class Describer:
    """Describes variables.

    Args:
        masker: masks secrets in values before they are cut.
    """

    def __init__(self, masker: Masker) -> None:
        self._mask = masker.mask

    def line(self, name: str, value: Any) -> str:
        """One line: name, type, and for known types shape and a few values."""
        return f"{name}: {self.summary(value)}"

    def summary(self, value: Any) -> str:
        """The line without the name."""
        kind = type(value)
        if kind in SCALARS:
            return f"{kind.__name__} = {self._value(value)}"
        if kind in TEXTS:
            return f"{kind.__name__}, {len(value)} long = {self._value(value)}"
        if kind in SIZED:
            return f"{kind.__name__}, {len(value)} items {self._value(value)}"
        if (library_type := library_type_of(value)) is None:
            return name_of(kind)
        try:
            describe: Callable[[Any], str] = getattr(self, LIBRARY_TYPES[library_type])
            return describe(value)
        except Exception:  # what a column holds may be anybody's type
            return name_of(kind)

    def _value(self, value: Any, depth: int = 1) -> str:
        kind = type(value)
        if kind is int and value.bit_length() > WIDEST:
            return f"<int of {value.bit_length()} bits>"
        if kind in SCALARS:
            return self._short(repr(value))
        if kind in TEXTS:
            return self._short(repr(value[:LOOKED_AT]))
        if is_of_library(kind) and hasattr(value, "isoformat"):
            return str(value)
        if is_of_library(kind) and kind.__module__ == "numpy" and kind.__name__ != "ndarray":
            return self._value(value.item(), depth=0)
        return self._container(value, depth) if kind in SIZED and depth else f"<{name_of(kind)}>"

    def _container(self, value: Any, depth: int) -> str:
        if type(value) is dict:
            pairs = islice(value.items(), FEW)
            shown = (f"{self._value(k, depth - 1)}: {self._value(v, depth - 1)}" for k, v in pairs)
            return f"{{{_few(shown, len(value))}}}"
        return f"[{self._values(islice(value, FEW), len(value), depth - 1)}]"

    def _values(self, values: Iterable[Any], total: int, depth: int = 0) -> str:
        return _few((self._value(value, depth) for value in values), total)
