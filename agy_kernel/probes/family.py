"""What an agent has started: which commands of its run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psutil

from ..acp.watchdog import MARK_VARIABLE
from ..doctor.running import GONE


def runs(pid: int, command: str) -> bool:
    """Whether a process that an agent has started runs a command.

    Args:
        pid: the agent's; what it has started may have lost its parent, and keeps its mark.
        command: as it was given to a shell, or without one.
    """
    return any(" ".join(words).endswith(command) for words in _command_lines(pid))


def _command_lines(pid: int) -> Iterator[list[str]]:
    mark = _mark(psutil.Process(pid)) if psutil.pid_exists(pid) else ""
    family = {each.pid for each in _descendants(pid)}
    for process in psutil.process_iter():
        if process.pid in family or (mark and _mark(process) == mark):
            with contextlib.suppress(*GONE):
                yield process.cmdline()


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        return list(psutil.Process(pid).children(recursive=True))
    except GONE:
        return []


def _mark(process: psutil.Process) -> str:
    try:
        return str(process.environ().get(MARK_VARIABLE, ""))
    except GONE:
        return ""
