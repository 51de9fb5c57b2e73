"""What a MIME bundle says, in text and picture."""

from base64 import b64encode
from typing import Any

import pytest

from agy_kernel.prompt.bundles import from_bundle, picture_in

PNG = b"\x89PNG bytes"


@pytest.mark.parametrize(
    ("bundle", "text"),
    [
        ({"text/plain": "plain", "text/html": "<b>html</b>"}, "plain"),
        ({"text/plain": "plain", "text/markdown": "**md**"}, "**md**"),
        ({"text/plain": "<IPython.core.display.HTML object>", "text/html": "<b>h</b>"}, "h"),
        ({"text/plain": "<pandas.io.Styler at 0x7f00>", "text/html": "<td>1</td>"}, "1"),
        (
            {"text/plain": "<Figure size 640x480 with 1 Axes>", "text/html": "x"},
            "<Figure size 640x480 with 1 Axes>",
        ),
        ({"text/html": "<p>only</p>"}, "only"),
        ({"text/plain": "<X object>", "text/html": "<p>" * 500_000}, "<X object>"),
        ({"text/plain": 5, "text/html": None}, ""),
        ({}, ""),
    ],
)
def test_the_text_that_says_most(bundle: dict[str, Any], text: str) -> None:
    assert from_bundle("display", bundle).text == text


@pytest.mark.parametrize("data", [PNG, b64encode(PNG).decode(), b64encode(PNG).decode() + "\n"])
@pytest.mark.parametrize("mime_type", ["image/png", "image/jpeg"])
def test_a_picture_is_bytes_or_base64(mime_type: str, data: str | bytes) -> None:
    assert picture_in({mime_type: data, "text/plain": "x"}) == PNG


@pytest.mark.parametrize("data", ["a", "é", "", None, 5, ["x"]])
def test_and_nothing_else(data: object) -> None:
    assert picture_in({"image/png": data}) is None
