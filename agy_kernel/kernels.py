"""Kernels by name: which of them still run, so that two do not share one session."""

from __future__ import annotations

import os
import socket

CLOCK_MOVES = 60.0  # seconds; a process's start is reckoned back from a clock that may be set


def this_kernel() -> str:
    """The name of this process: its machine, its id, and when it was started.

    An id alone is used again by other processes.
    """
    import psutil

    process = psutil.Process(os.getpid())
    return f"{socket.gethostname()} {process.pid} {process.create_time():.0f}"


def runs_elsewhere(name: str) -> int | None:
    """The process id of a kernel of this machine that still runs and is not this one."""
    import psutil

    host, _, rest = name.partition(" ")
    pid, _, started = rest.partition(" ")
    if host != socket.gethostname() or not pid.isdecimal() or not started.isdecimal():
        return None
    if int(pid) == os.getpid():
        return None
    try:
        moved = abs(psutil.Process(int(pid)).create_time() - int(started))
    except psutil.Error:
        return None
    return int(pid) if moved <= CLOCK_MOVES else None
