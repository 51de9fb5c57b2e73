"""Files and folders that a prompt names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

LARGEST_FILE = 50_000_000  # bytes
LARGEST_TEXT = 2_000_000
SHOWN_NAMES = 200
MOST_NAMES = 10_000
SKIPPED = {".git", "__pycache__", "node_modules", ".venv", ".ipynb_checkpoints"}
PICTURE_STARTS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8")


class Unreadable(ValueError):
    """A file cannot go along; says why."""


def find(folder: Path, name: str) -> Path | None:
    """The path that a name stands for, relative to a folder; None if there is nothing."""
    try:
        path = folder / Path(name).expanduser()
        return path if path.exists() else None
    except (OSError, RuntimeError, ValueError):  # too long, nobody's home, not for us to see
        return None


def read_bytes(path: Path, limit: int = LARGEST_FILE) -> bytes:
    """A file's bytes.

    Raises:
        Unreadable: it is not a plain file, cannot be read, or is larger than ``limit`` bytes.
    """
    try:
        if not path.is_file():
            raise Unreadable("it is not a file" if path.exists() else "there is no such file")
        if path.stat().st_size > limit:
            raise Unreadable(f"it has {path.stat().st_size:,} bytes, more than {limit:,}")
        with open(path, "rb", opener=_without_waiting) as file:
            # Some files of the system have no size, and others have nothing to read yet.
            data = file.read(limit + 1) or b""
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from None
    if len(data) > limit:
        raise Unreadable(f"it has more than {limit:,} bytes")
    return data


def as_text(data: bytes) -> str:
    """The text of a file, whatever its encoding.

    Raises:
        Unreadable: it is large, or is not text.
    """
    if len(data) > LARGEST_TEXT:
        raise Unreadable(f"it has {len(data):,} bytes, more than {LARGEST_TEXT:,}")
    if b"\0" in data:
        raise Unreadable("it is neither text nor a picture")
    return data.decode("utf-8-sig", "replace")


def is_picture(data: bytes) -> bool:
    """Whether bytes begin as pictures do; a file's name says nothing."""
    return data.startswith(PICTURE_STARTS) or (data[:4] == b"RIFF" and data[8:12] == b"WEBP")


def list_folder(path: Path) -> str:
    """The names in a folder and below, folders with a slash; at most 200, and how many there are.

    Raises:
        Unreadable: it cannot be listed, or is very large.
    """
    names = []
    for name in _walk(path):
        names.append(name)
        if len(names) > MOST_NAMES:
            raise Unreadable(f"it holds more than {MOST_NAMES:,} files")
    more = len(names) - SHOWN_NAMES
    return "\n".join([*names[:SHOWN_NAMES], *([f"… {more:,} more"] if more > 0 else [])])


def _walk(root: Path) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        if error.filename == str(root):
            raise Unreadable(error.strerror or str(error)) from None

    for folder, subfolders, files in os.walk(root, onerror=refuse):
        subfolders[:] = sorted(s for s in subfolders if s not in SKIPPED)
        here = Path(folder).relative_to(root)
        yield from (f"{here / s}/" for s in subfolders)
        yield from (str(here / f) for f in sorted(files))


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
