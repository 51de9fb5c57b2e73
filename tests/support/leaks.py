"""Nothing is left after a test: no task, thread or process, and no complaint in the log.

A test file asks for it by importing the fixture ``nothing_is_left``, which is autouse.
"""

import asyncio
import gc
import logging
import os
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import agents_of, happens_within, watchdogs_of


@pytest.fixture(autouse=True)
async def nothing_is_left(caplog: pytest.LogCaptureFixture) -> AsyncIterator[None]:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, said: complaints.append(said))
    threads = set(threading.enumerate())
    gc.freeze()  # what was there before need not be looked through after each test
    yield
    gc.collect()  # tasks and futures complain of an exception that nobody took when they go
    await _a_few_steps()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert complaints == []
    assert [r for r in caplog.get_records("call") if r.levelno >= logging.ERROR] == []
    assert processes_left() == set()
    # asyncio has a thread for each child, which goes just after it has reported its end.
    assert happens_within(30, lambda: set(threading.enumerate()) <= threads)


def processes_left() -> set[int]:
    """Whatever this test process started and still runs; zombies do not count."""
    me = os.getpid()
    return agents_of(me) | watchdogs_of(me) | _descendants(me)


def _descendants(pid: int) -> set[int]:
    living = {child for task in _tasks(pid) for child in _children(task) if _runs(child)}
    return living.union(*(_descendants(child) for child in living))


def _tasks(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []  # it has just ended


def _children(task: Path) -> list[int]:
    try:
        return [int(child) for child in (task / "children").read_text().split()]
    except OSError:
        return []  # asyncio has a thread for each child, which may end meanwhile


def _runs(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


async def _a_few_steps() -> None:
    for _ in range(5):
        await asyncio.sleep(0)
