"""Processes: the kernels of ours that run, and the agents that they have started."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import psutil
from jupyter_core.paths import jupyter_runtime_dir

from ..acp.watchdog import MARK_VARIABLE
from ..files import Damaged, read_object
from ..kernelspecs import NAME
from .checks import Check, Section

GONE = (psutil.Error, OSError)


def kernels() -> Section:
    """Every kernel of this person that is ours or has an agent, and what was left behind."""
    mine = psutil.Process().username()
    processes = [p for p in psutil.process_iter(["pid", "username", "cmdline"]) if _is_of(p, mine)]
    files = {p.pid: file for p in processes if (file := _connection_file(p.info["cmdline"]))}
    agents = _agents(processes)
    by_pid = {p.pid: p for p in processes}
    ours = (files.keys() | agents.keys()) & by_pid.keys()
    checks = [_kernel(by_pid[pid], files.get(pid, "")) for pid in sorted(ours)]
    checks += [_orphan(agents[pid]) for pid in sorted(agents.keys() - by_pid.keys())]
    checks += _without_kernel(set(files.values()))
    return Section("Kernels that run", tuple(checks) or (Check("none", "info", "none runs"),))


def tree(pid: int) -> str:
    """A process and its descendants: their ids, and the memory of all of them."""
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except GONE:
        return f"{pid} is gone"
    ids = ", ".join(str(member.pid) for member in family)
    return f"pid {ids}; {_megabytes(sum(map(_memory, family)))}"


def memory(pid: int) -> int:
    """The bytes that a process and its descendants have in memory; 0 where it is gone."""
    try:
        process = psutil.Process(pid)
        return sum(map(_memory, [process, *process.children(recursive=True)]))
    except GONE:
        return 0


def _is_of(process: Any, user: str) -> bool:
    return process.info["username"] == user and bool(process.info["cmdline"])


def _connection_file(words: list[str]) -> str:
    """The connection file in the command line of a kernel of ours; empty where it is none."""
    is_kernel = "agy_kernel" in words and "-f" in words[:-1]
    return words[words.index("-f") + 1] if is_kernel else ""


def _agents(processes: list[Any]) -> dict[int, list[int]]:
    """The processes of agents, by the kernel that started them."""
    found: dict[int, list[int]] = {}
    for process in processes:
        try:
            kernel = process.environ().get(MARK_VARIABLE, "").partition("-")[0]
        except GONE:
            continue
        if kernel.isdecimal():
            found.setdefault(int(kernel), []).append(process.pid)
    return found


def _kernel(process: Any, file: str) -> Check:
    name = f"pid {process.pid}"
    try:
        age = _age(time.time() - process.create_time())
        family = [process, *process.children(recursive=True)]
    except GONE:
        return Check(name, "info", "has just ended")
    what = file or "a kernel of another kind, or a script, that asks an agent"
    memory = f"{_megabytes(_memory(process))}, {_megabytes(sum(map(_memory, family)))} with agents"
    return Check(name, "info", f"for {age}, {memory}: {what}")


def _orphan(pids: list[int]) -> Check:
    ids = " ".join(map(str, pids))
    said = f"an agent whose kernel is gone: pid {ids}"
    return Check("left behind", "warn", said, f"If nothing needs it: kill {ids}")


def _without_kernel(used: set[str]) -> list[Check]:
    """Connection files of our kernels that no kernel uses; they do no harm."""
    names = {Path(file).name for file in used}
    left = [f for f in Path(jupyter_runtime_dir()).glob("kernel-*.json") if f.name not in names]
    ours = [file for file in left if _is_our_connection(file)]
    if not ours:
        return []
    said = f"{len(ours)} connection files of kernels that have ended, in {ours[0].parent}"
    return [Check("left behind", "info", said)]


def _is_our_connection(file: Path) -> bool:
    try:
        return (read_object(file) or {}).get("kernel_name") == NAME
    except (Damaged, OSError):
        return False


def _memory(process: Any) -> int:
    try:
        return int(process.memory_info().rss)
    except GONE:
        return 0


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB"


def _age(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
