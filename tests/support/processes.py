"""Which processes an agent of a kernel left behind, if any; zombies do not count (Linux)."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from agy_kernel.acp.watchdog import MARK_VARIABLE
from tests.support.stopwatch import Stopwatch

POLL = 0.02  # seconds; there is no event for the end of a process that is not a child of ours


def agents_of(kernel: int) -> set[int]:
    """The agent that a kernel started, with its descendants.

    Args:
        kernel: process id of the kernel; its agents carry a mark that begins with it.
    """
    entry = f"{MARK_VARIABLE}={kernel}-".encode()
    return {pid for pid in _alive() if any(e.startswith(entry) for e in _read(pid, "environ"))}


def watchdogs_of(kernel: int) -> set[int]:
    """The watchdogs that a kernel started."""
    mark = f"{kernel}-".encode()
    return {pid for pid in _alive() if any(w.startswith(mark) for w in _watchdog_words(pid))}


def is_alive(pid: int) -> bool:
    """Whether a process runs."""
    return pid in _alive()


def happens_within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Whether a condition of processes becomes true in time."""
    watch = Stopwatch()
    while not (done := condition()) and watch.seconds < seconds:
        time.sleep(POLL)
    return done


def _alive() -> set[int]:
    folders = Path("/proc").glob("[0-9]*")
    return {int(folder.name) for folder in folders if _state(folder) not in ("", "Z")}


def _state(folder: Path) -> str:
    try:
        return (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return ""


def _watchdog_words(pid: int) -> list[bytes]:
    words = _read(pid, "cmdline")
    return words if any(word.endswith(b"watchdog.py") for word in words) else []


def _read(pid: int, name: str) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes().split(b"\0")
    except OSError:
        return []
