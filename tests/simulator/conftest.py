"""Simulators that share a folder of sessions, and a project folder."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.simulator.wire import Wire, simulator

Start = Callable[..., Any]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Starts simulators that share a folder of sessions."""
    async with AsyncExitStack() as running:

        async def start(*flags: str, state: Path = tmp_path / "state", **env: str) -> Wire:
            """Start one; keywords are variables of its environment."""
            return await running.enter_async_context(simulator(*flags, state=state, env=env))

        yield start


@pytest.fixture
async def wire(start: Start) -> Wire:
    opened: Wire = await start()
    return opened


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder
