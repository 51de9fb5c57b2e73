"""How soon a kernel is ready, and what an import costs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

from .kernels import kernel
from .table import RUNS, Figure, medians

IPYKERNEL = "ipykernel.kernelapp, ipykernel.ipkernel"


def figures() -> Iterator[Figure]:
    """The figures of the start."""
    start_time("antigravity"), start_time("python3")  # compile what is not
    ours, bare = medians(lambda: start_time("antigravity"), lambda: start_time("python3"), RUNS * 2)
    floor = f"{bare:.2f} s, a bare ipykernel"
    yield Figure("kernel ready", f"{ours:.2f} s", "floor + 0.3 s", floor)
    ours, bare = medians(
        lambda: import_time(f"import {IPYKERNEL}, agy_kernel"),
        lambda: import_time(f"import {IPYKERNEL}"),
        RUNS * 2,
    )
    yield Figure(
        "`import agy_kernel` beside ipykernel",
        f"+ {max(0.0, ours - bare):.2f} s",
        "+ 0.06 s",
        f"{bare:.2f} s, ipykernel",
    )


def start_time(name: str) -> float:
    """Seconds until a kernel is ready."""
    with kernel(name) as started:
        return started.seconds


def import_time(code: str) -> float:
    """Seconds of a fresh Python that runs ``code``."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=env)
    return time.perf_counter() - begin
