"""Pictures for the tests."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

from PIL import Image


def encoded(image: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def opened(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def png(colour: str = "red", size: tuple[int, int] = (3, 2)) -> bytes:
    return encoded(Image.new("RGB", size, colour))


def png_that_claims(width: int, height: int) -> bytes:
    """A small file whose header says that it is a large picture."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"")), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
