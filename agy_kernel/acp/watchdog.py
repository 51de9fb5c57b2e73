"""Ends an agent whose kernel was killed; a script: ``watchdog.py AGENT_PID MARK KERNEL_PID``.

The script waits on its stdin. A line means that the kernel has ended the agent itself; the end of
the stream without one means that the kernel is gone, and then the agent's process group and all
that carry its mark are ended. Standard library only, and started without site-packages: it must
be up before anything can go wrong, and cost nothing.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from pathlib import Path

MARK_VARIABLE = "AGY_KERNEL_AGENT"
TERM = signal.SIGTERM
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


def signal_all(pid: int, mark: str, number: int) -> None:
    """Signal the group that ``pid`` leads, and every other process that carries the mark.

    Each once: many programs take a second signal for an order to end at once.
    """
    if os.name != "posix":
        os.kill(pid, number)
        return
    _signal(os.killpg, pid, number)
    for marked, group in _marked(mark):
        if group != pid:
            _signal(os.kill, marked, number)


def alive(pid: int, mark: str) -> bool:
    """Whether anything is left of the agent; zombies do not count."""
    if os.name != "posix":
        return False
    return (_signal(os.killpg, pid, 0) and _has_live_member(pid)) or bool(_marked(mark))


def _signal(send: object, pid: int, number: int) -> bool:
    assert callable(send)
    try:
        send(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _has_live_member(group: int) -> bool:
    if not Path("/proc/self/stat").exists():
        return True
    return any(g == group and state != "Z" for _, state, g in _processes())


def _marked(mark: str) -> list[tuple[int, int]]:
    """The id and the group of each process that carries the mark."""
    entry = f"{MARK_VARIABLE}={mark}".encode()
    living = ((pid, group) for pid, state, group in _processes() if state != "Z")
    return [(pid, group) for pid, group in living if entry in _environment(pid)]


def _processes() -> list[tuple[int, str, int]]:
    """Each process's id, state and group; empty where there is no /proc."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # The name in parentheses may hold anything, spaces and parentheses too.
            fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        found.append((int(folder.name), fields[0], int(fields[2])))
    return found


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def end_all(pid: int, mark: str, grace: float) -> None:
    """End the agent and all its descendants: TERM, and after ``grace`` seconds KILL."""
    signal_all(pid, mark, TERM)
    if _gone_within(pid, mark, grace):
        return
    # More than once: a process that was just being forked is missed by the first.
    for _ in range(20):
        signal_all(pid, mark, KILL)
        if _gone_within(pid, mark, 0.05):
            return


def _gone_within(pid: int, mark: str, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while alive(pid, mark):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def _is_bereft(kernel: int) -> bool:
    """Wait until the kernel says that all is well (False), or is gone (True).

    Its pipe alone cannot tell: a process that the kernel has forked may hold it open.
    """
    while os.getppid() == kernel:
        if select.select([sys.stdin], [], [], 1.0)[0]:
            return not sys.stdin.readline()
    return True


if __name__ == "__main__":
    pid, mark, kernel = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    if _is_bereft(kernel):
        end_all(pid, mark, 1.5)
