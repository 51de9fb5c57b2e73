"""Pictures to be shown to an agent: the same bytes on every machine, for a tape holds them.

They are written by hand, not packed: what packs differs from version to version.
"""

from __future__ import annotations

import base64
import re
import struct
import zlib
from typing import Any

COLOURS = {"red": (255, 0, 0), "green": (0, 160, 0), "blue": (0, 0, 255)}
NAMES = (*COLOURS, *("yellow", "orange", "purple", "pink", "cyan", "brown", "white", "grey"))
NAMES += ("gray", "black")
"""What an agent may call a colour."""
SIGNATURE = b"\x89PNG\r\n\x1a\n"
DEPTH, PALETTE = 8, 3
ZLIB_HEADER, LAST_STORED = b"\x78\x01", b"\x01"


def picture(*colours: str, size: int = 64) -> dict[str, Any]:
    """An image block: a square of stripes, of these colours from top to bottom."""
    data = base64.b64encode(png(*colours, size=size)).decode()
    return {"type": "image", "mimeType": "image/png", "data": data}


def png(*colours: str, size: int = 64) -> bytes:
    """A PNG file with a square of stripes."""
    header = struct.pack(">IIBBBBB", size, size, DEPTH, PALETTE, 0, 0, 0)
    palette = b"".join(bytes(COLOURS[colour]) for colour in colours)
    rows = (bytes([row * len(colours) // size]) * size for row in range(size))
    pixels = b"".join(b"\0" + row for row in rows)  # each row begins with its filter: none
    chunks = {b"IHDR": header, b"PLTE": palette, b"IDAT": _stored(pixels), b"IEND": b""}
    return SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks.items())


def named_in(text: str) -> list[str]:
    """The colours that a text names, each once, in order."""
    words = re.findall(r"[a-z]+", text.lower())
    return list(dict.fromkeys(word for word in words if word in NAMES))


def _stored(data: bytes) -> bytes:
    """Data as a zlib stream that packs nothing; 65,535 bytes at most."""
    lengths = struct.pack("<HH", len(data), len(data) ^ 0xFFFF)
    check = struct.pack(">I", zlib.adler32(data))
    return ZLIB_HEADER + LAST_STORED + lengths + data + check


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + check
