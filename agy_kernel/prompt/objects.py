"""An object that the user names: its picture if it is one, else its text. Naming it is consent."""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from threading import get_ident
from typing import Any, TextIO

from .bundles import decoded, picture_in
from .images import MOST_PIXELS
from .variables import CONTAINERS, TEXTS, Describer, is_exactly, is_one_of, library_type

SIDES = range(16, 20_001)  # pixels; a smaller array is numbers
MANY_ITEMS = 1_000_000  # of a list or a text; its repr says them all
MANY_VALUES = 100_000_000  # of an array or a frame
PNG_MODES = ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")


class Unshowable(ValueError):
    """The object cannot be shown; says why."""


def picture_of(value: Any) -> bytes | None:
    """The bytes of the picture that an object is, or that it shows itself as; None if it is none.

    PIL images, matplotlib figures (and what has one, such as axes), numpy arrays of 8-bit pixels,
    and whatever has a PNG or JPEG representation.

    Raises:
        Unshowable: it is one, but cannot be drawn.
    """
    with _asking("picture"):
        if is_exactly(value, "numpy", "ndarray"):
            return _array_picture(value)
        if _is_instance(value, "PIL.Image", "Image"):
            return _image_picture(value)
        figure = _figure(value)
        return _represented(value) if figure is None else _figure_picture(figure)


def text_of(name: str, value: Any, describer: Describer) -> str:
    """A line on what an object is, and its ``repr``, unless that would be very long.

    Raises:
        Unshowable: its ``repr`` raises, prints, or is no text.
    """
    line = describer.line(name, value)
    if is_large(value):
        return line
    with _asking("repr") as ear:
        text = repr(value)
    if ear.heard:
        raise Unshowable("its repr prints")
    return f"{line}\n\n{text}"


def is_large(value: Any) -> bool:
    """Whether an object of a known type holds so much that only a line is said of it."""
    if is_one_of(type(value), (*TEXTS, *CONTAINERS)):
        return len(value) > MANY_ITEMS
    return bool(library_type(value)) and math.prod(value.shape) > MANY_VALUES


# -- pictures


def _array_picture(array: Any) -> bytes | None:
    is_grey = array.ndim == 2
    is_colour = array.ndim == 3 and array.shape[2] in (3, 4)
    if str(array.dtype) != "uint8" or not (is_grey or is_colour):
        return None
    height, width = array.shape[:2]
    if height not in SIDES or width not in SIDES or height * width > MOST_PIXELS:
        return None
    from PIL import Image

    return _image_picture(Image.fromarray(array))


def _image_picture(image: Any) -> bytes:
    if image.width * image.height > MOST_PIXELS:
        raise Unshowable(f"it has {image.width} × {image.height} pixels")
    out = io.BytesIO()
    plain = image if image.mode in PNG_MODES else image.convert("RGB")
    plain.save(out, "PNG", compress_level=1)
    return out.getvalue()


def _figure(value: Any) -> Any:
    """A matplotlib figure, or that of axes and other things that have one."""
    if _is_instance(value, "matplotlib.figure", "Figure"):
        return value
    owner = None
    with suppress(Exception):
        owner = getattr(value, "figure", None)
    return owner if _is_instance(owner, "matplotlib.figure", "Figure") else None


def _figure_picture(figure: Any) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", bbox_inches="tight")
    return out.getvalue()


def _represented(value: Any) -> bytes | None:
    for method in ("_repr_png_", "_repr_jpeg_"):
        if (data := decoded(_shown(value, method))) is not None:
            return data
    bundle = _shown(value, "_repr_mimebundle_")
    return picture_in(bundle) if isinstance(bundle, dict) else None


def _shown(value: Any, method: str) -> Any:
    show = getattr(type(value), method, None)
    shown = show(value) if callable(show) else None
    return shown[0] if isinstance(shown, tuple) and shown else shown  # data and metadata


def _is_instance(value: Any, module: str, type_name: str) -> bool:
    kind = getattr(sys.modules.get(module), type_name, None)
    return isinstance(kind, type) and issubclass(type(value), kind)


# -- asking


class _Ear(io.TextIOBase):
    """Stands in for stdout, and notes whether this thread prints; others' prints pass through."""

    def __init__(self, stdout: TextIO) -> None:
        self._stdout, self._thread = stdout, get_ident()
        self.heard = False

    def write(self, text: str) -> int:
        if get_ident() != self._thread:
            return self._stdout.write(text)
        self.heard = True
        return len(text)

    def flush(self) -> None:
        self._stdout.flush()


@contextmanager
def _asking(what: str) -> Iterator[_Ear]:
    """While code of the user's runs that may raise and print."""
    ear = _Ear(sys.stdout)
    try:
        with redirect_stdout(ear):
            yield ear
    except Unshowable:
        raise
    except Exception as error:
        raise Unshowable(f"its {what} raises {_one_line(error)}") from None


def _one_line(error: Exception) -> str:
    said = ""
    with suppress(Exception):
        said = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
