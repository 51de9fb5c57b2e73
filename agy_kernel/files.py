"""Small files that several kernels share: written whole or not at all, by one at a time."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MOST_BYTES = 4_000_000
LOCK_SECONDS = 5.0


class Damaged(ValueError):
    """A file does not hold what it should; says why, in words."""


def read_object(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file; None where there is no file.

    Raises:
        Damaged: it holds something else, or the same key twice.
        OSError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(data) > MOST_BYTES:
        raise Damaged(f"it has more than {MOST_BYTES:,} bytes")
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_without_doubles)
    except Damaged:
        raise
    except (ValueError, RecursionError) as error:
        raise Damaged(f"it is not JSON ({error})") from None
    if not isinstance(value, dict):
        raise Damaged("it does not hold a JSON object")
    return value


def write_object(path: Path, value: dict[str, Any], mode: int | None = None) -> None:
    """Put a JSON object in place of a file.

    Args:
        mode: who may read and write it; its owner only, where it is not told.

    Raises:
        OSError: it cannot be written; the file is as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Be the only one, of all processes, who changes a file; waits a few seconds for the others.

    Raises:
        OSError: the lock cannot be had.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f"{path.name}.lock").open("a") as file:
        _lock(file.fileno())
        try:
            yield
        finally:
            _unlock(file.fileno())


def set_aside(path: Path) -> Path:
    """Give a damaged file another name, so that it can be looked at; returns that."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.name}.damaged-{stamp}-{os.getpid()}")
    path.rename(aside)
    return aside


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value:
            raise Damaged(f"it has the key {key!r} twice")
        value[key] = item
    return value


if os.name == "posix":
    import fcntl

    def _lock(handle: int) -> None:
        end = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)
            else:
                return

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)

else:
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined,unused-ignore]

    def _unlock(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined,unused-ignore]
