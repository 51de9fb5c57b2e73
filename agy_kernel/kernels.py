"""Kernels by name: which of them still run, so that two do not share one session."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil


def this_kernel() -> str:
    """The name of this process: its machine, its id, and when it was started.

    An id alone is used again by other processes.
    """
    import psutil

    return _name(psutil.Process(os.getpid()))


def runs_elsewhere(name: str) -> int | None:
    """The process id of a kernel of this machine that still runs and is not this one."""
    import psutil

    host, _, rest = name.partition(" ")
    pid = rest.partition(" ")[0]
    if host != socket.gethostname() or not pid.isdecimal() or int(pid) == os.getpid():
        return None
    try:
        return int(pid) if _name(psutil.Process(int(pid))) == name else None
    except psutil.Error:
        return None


def _name(process: psutil.Process) -> str:
    return f"{socket.gethostname()} {process.pid} {process.create_time():.0f}"
