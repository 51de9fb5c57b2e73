"""Which colours a picture has, by name."""

from __future__ import annotations

import io
import math
from base64 import b64decode

NAMES = {
    "Red": ((220, 20, 20),),
    "Green": ((0, 128, 0), (30, 220, 30)),
    "Blue": ((20, 20, 220), (30, 100, 220)),
    "Yellow": ((240, 220, 20),),
    "Orange": ((255, 140, 0),),
    "Purple": ((128, 0, 128), (200, 30, 200)),
    "Cyan": ((0, 210, 210),),
    "White": ((255, 255, 255),),
    "Grey": ((128, 128, 128),),
    "Black": ((0, 0, 0),),
}
"""The few that are told apart, each as it may look."""


def halves(data: str) -> tuple[str, str] | None:
    """The colours of a picture's upper and lower half; None where it is no picture.

    Args:
        data: the file in base64.
    """
    from PIL import Image

    try:
        with Image.open(io.BytesIO(b64decode(data, validate=True))) as picture:
            small = picture.convert("RGB").resize((1, 2), Image.Resampling.BOX)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    upper, lower = (small.getpixel((0, y)) for y in (0, 1))
    return _nearest(upper), _nearest(lower)


def colour(data: str) -> str | None:
    """The colour that fills a picture; None where it is no picture."""
    found = halves(data)
    return found[0] if found else None


def _nearest(pixel: object) -> str:
    assert isinstance(pixel, tuple)  # of an RGB picture

    def distance(name: str) -> float:
        return min(math.dist(pixel, looks) for looks in NAMES[name])

    return min(NAMES, key=distance)
