"""An object that the user names: its picture if it is one, else its text. Naming it is consent."""

from __future__ import annotations

import contextlib
import io
import sys
from typing import Any

from .variables import is_exactly, summary

TEXT_LIMIT = 100_000
SIDES = range(2, 20_001)


class Unshowable(ValueError):
    """The object cannot be shown; says why."""


def picture_of(value: Any) -> bytes | None:
    """The bytes of the picture that an object is, or that it shows itself as; None if it is none.

    PIL images, matplotlib figures (and axes, by their figure), numpy arrays of 8-bit pixels, and
    whatever has a PNG or JPEG representation.
    """
    if is_exactly(value, "numpy", "ndarray"):
        return _array_picture(value)
    if (module := sys.modules.get("PIL.Image")) is not None and isinstance(value, module.Image):
        return _saved(lambda file: value.save(file, "PNG"))
    figure = _figure(value)
    if figure is not None:
        return _saved(lambda file: figure.savefig(file, format="png", bbox_inches="tight"))
    return _represented(value)


def text_of(name: str, value: Any) -> str:
    """A line on what an object is, and its ``repr``.

    Raises:
        Unshowable: its ``repr`` raises, or is no text.
    """
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            text = repr(value)
    except Exception as error:
        raise Unshowable(f"its repr raises {type(error).__name__}: {error}") from None
    kept = text if len(text) <= TEXT_LIMIT else f"{text[:TEXT_LIMIT]}… ({len(text)} characters)"
    return f"{name}: {summary(value)}\n\n{kept}"


def _array_picture(array: Any) -> bytes | None:
    is_grey = array.ndim == 2
    is_colour = array.ndim == 3 and array.shape[2] in (3, 4)
    if str(array.dtype) != "uint8" or not (is_grey or is_colour):
        return None
    if array.shape[0] not in SIDES or array.shape[1] not in SIDES:
        return None
    from PIL import Image

    return _saved(lambda file: Image.fromarray(array).save(file, "PNG"))


def _figure(value: Any) -> Any:
    module = sys.modules.get("matplotlib.figure")
    if module is None:
        return None
    if isinstance(value, module.Figure):
        return value
    owner = getattr(value, "figure", None)
    return owner if isinstance(owner, module.Figure) else None


def _represented(value: Any) -> bytes | None:
    for method in ("_repr_png_", "_repr_jpeg_"):
        show = getattr(type(value), method, None)
        if show is None:
            continue
        try:
            shown = show(value)
        except Exception as error:
            raise Unshowable(f"its picture raises {type(error).__name__}: {error}") from None
        data = shown[0] if isinstance(shown, tuple) else shown
        if isinstance(data, bytes):
            return data
    return None


def _saved(save: Any) -> bytes:
    out = io.BytesIO()
    try:
        save(out)
    except Exception as error:
        raise Unshowable(f"its picture raises {type(error).__name__}: {error}") from None
    return out.getvalue()
