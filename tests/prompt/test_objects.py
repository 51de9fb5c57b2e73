"""What the user names is shown: as a picture if it is one, else by its repr."""

import io
import math
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from PIL import Image

from agy_kernel.prompt.objects import Unshowable, is_large, picture_of, text_of
from agy_kernel.prompt.variables import Describer
from agy_kernel.secrets import Masker
from tests.prompt.pictures import encoded, opened, png

DESCRIBER = Describer(Masker({}))
PNG = png()


def text(value: object) -> str:
    return text_of("x", value, DESCRIBER)


def size_of_picture(value: object) -> tuple[int, int] | None:
    data = picture_of(value)
    return opened(data).size if data is not None else None


# -- pictures


@pytest.mark.parametrize(
    "mode",
    ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr", "HSV", "I", "F", "I;16"],
)
def test_pil_images_of_every_mode(mode: str) -> None:
    assert size_of_picture(Image.new(mode, (4, 3))) == (4, 3)


def test_a_pil_image_that_is_still_a_file() -> None:
    jpeg = encoded(Image.new("RGB", (4, 3)), "JPEG")
    assert size_of_picture(Image.open(io.BytesIO(jpeg))) == (4, 3)
    with pytest.raises(Unshowable, match="its picture raises"):
        picture_of(Image.open(io.BytesIO(encoded(Image.effect_noise((99, 99), 9), "JPEG")[:-900])))


def test_a_pil_image_that_is_too_large() -> None:
    with pytest.raises(Unshowable, match="8000 × 7000 pixels"):
        picture_of(Image.new("1", (8_000, 7_000)))


def test_figures_and_what_has_one() -> None:
    figure = Figure(figsize=(2, 1), dpi=50)
    axes = figure.subplots()
    (line,) = axes.plot([1, 2])
    for value in (figure, axes, line):
        assert opened(picture_of(value) or b"").format == "PNG"


def test_a_figure_that_cannot_be_drawn() -> None:
    figure = Figure()
    figure.suptitle("$\\frac{$")
    with pytest.raises(Unshowable, match="its picture raises ValueError"):
        picture_of(figure)


@pytest.mark.parametrize("shape", [(28, 28), (20, 30, 3), (20, 30, 4)])
def test_arrays_that_are_pictures(shape: tuple[int, ...]) -> None:
    assert size_of_picture(np.zeros(shape, dtype=np.uint8)) == (shape[1], shape[0])


def test_arrays_that_are_views() -> None:
    noise = np.random.default_rng(1).integers(0, 255, (40, 60, 3), dtype=np.uint8)
    for view in (noise[::-1], noise[:, ::2], noise.transpose(1, 0, 2), noise[..., ::-1]):
        assert np.asarray(opened(picture_of(view) or b"")).tolist() == view.tolist()


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 2), np.uint8),
        np.zeros((500, 10), np.uint8),
        np.zeros(100, np.uint8),
        np.zeros((20, 20, 2), np.uint8),
        np.zeros((20, 20, 3), np.float64),
        np.zeros((20, 20), np.int64),
        np.zeros((20, 20), bool),
        np.broadcast_to(np.uint8(0), (20_000, 20_000)),
        np.zeros((0, 20), np.uint8),
        np.zeros((20, 20), object),
        np.ma.zeros((20, 20), np.uint8),
    ],
    ids=range(11),
)
def test_arrays_that_are_not(array: object) -> None:
    assert picture_of(array) is None


class Shows:
    """Shows itself as it is told to."""

    def __init__(self, **shown: Any) -> None:
        self.shown = shown

    def _repr_png_(self) -> Any:
        return self.shown.get("png")

    def _repr_jpeg_(self) -> Any:
        return self.shown.get("jpeg")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return self.shown.get("bundle")


@pytest.mark.parametrize(
    "shown",
    [
        {"png": PNG},
        {"png": (PNG, {"width": 3})},
        {"png": b64encode(PNG).decode()},
        {"png": (b64encode(PNG).decode(), {})},
        {"jpeg": PNG},
        {"bundle": {"image/png": PNG}},
        {"bundle": ({"text/plain": "x", "image/jpeg": b64encode(PNG).decode()}, {})},
    ],
)
def test_what_shows_itself_as_a_picture(shown: dict[str, Any]) -> None:
    assert picture_of(Shows(**shown)) == PNG


@pytest.mark.parametrize(
    "shown",
    [
        {},
        {"png": ()},
        {"png": 5},
        {"png": "a"},
        {"bundle": {"text/html": "x"}},
        {"bundle": 5},
    ],
)
def test_what_does_not(shown: dict[str, Any]) -> None:
    assert picture_of(Shows(**shown)) is None


@pytest.mark.parametrize("value", [5, "x", None, [PNG], Shows, pd.DataFrame({"figure": [1]}), math])
def test_what_never_could(value: object) -> None:
    assert picture_of(value) is None


class Unanswering:
    """Raises whatever it is asked for."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_what_raises_when_it_is_asked_for_a_figure_has_none() -> None:
    assert picture_of(Unanswering()) is None


class Unspeakable(Exception):
    """Cannot even say what is wrong."""

    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no\nway"), "ValueError: no way"),
        (ValueError(), "ValueError"),
        (ValueError("x" * 5_000), "ValueError: " + "x" * 200),
        (Unspeakable(), "Unspeakable"),
        (RecursionError("deep"), "RecursionError: deep"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_what_raises_is_said_in_a_line(error: Exception, said: str) -> None:
    class Raises:
        """Raises, whatever it should show."""

        def __repr__(self) -> str:
            raise error

        _repr_png_ = __repr__

    with pytest.raises(Unshowable) as problem:
        text(Raises())
    assert str(problem.value) == f"its repr raises {said}"
    with pytest.raises(Unshowable) as problem:
        picture_of(Raises())
    assert str(problem.value) == f"its picture raises {said}"


# -- texts


def test_a_text_is_a_line_and_the_repr() -> None:
    assert text([1, "a"]) == "x: list, 2 items [1, 'a']\n\n[1, 'a']"


class Says:
    """Its repr is what a function returns."""

    def __init__(self, say: Any) -> None:
        self.say = say

    def __repr__(self) -> str:
        result: str = self.say()
        return result


def test_a_repr_that_is_no_text() -> None:
    with pytest.raises(Unshowable, match="its repr raises TypeError: __repr__ returned non-string"):
        text(Says(lambda: 5))


def test_a_repr_that_prints(capsys: pytest.CaptureFixture[str]) -> None:
    def say() -> str:
        print("hello")
        return "x"

    with pytest.raises(Unshowable, match="its repr prints"):
        text(Says(say))
    assert capsys.readouterr().out == ""


def test_what_others_print_meanwhile_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    def say() -> str:
        other = threading.Thread(
            target=print, args=("from another thread",), kwargs={"flush": True}
        )
        other.start()
        other.join()
        return "fine"

    assert text(Says(say)).endswith("fine")
    assert capsys.readouterr().out == "from another thread\n"


def test_stop_interrupts_a_repr_that_takes_for_ever() -> None:
    stdout = sys.stdout

    def interrupted() -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        text(Says(interrupted))
    assert sys.stdout is stdout


# -- what is large


@pytest.mark.parametrize(
    "value",
    [
        [0] * 1_000_001,
        "x" * 1_000_001,
        np.broadcast_to(np.float64(0), (250_000_000,)),
        pd.DataFrame(np.broadcast_to(np.float64(0), (12_500_000, 20)), copy=False),
        pd.Series(np.broadcast_to(np.float64(0), (250_000_000,)), copy=False),
    ],
    ids=["list", "text", "array", "frame", "series"],
)
def test_of_what_is_large_there_is_a_line(value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_large(value)
    assert len(text(value)) < 500
    assert "\n" not in text(value)


@pytest.mark.parametrize(
    "value", [[0], "x", np.zeros(9), pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}), object()]
)
def test_other_things_are_shown_whole(value: object) -> None:
    assert not is_large(value)
    assert text(value).endswith(f"\n\n{value!r}")


@pytest.fixture(autouse=True)
def _without_windows() -> Iterator[None]:
    with mpl.rc_context({"backend": "agg"}):
        yield
