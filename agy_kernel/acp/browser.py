"""A browser for the agent that opens nothing, but tells which page was to be opened.

``BROWSER`` names a program (Python's webbrowser, xdg-open). Ours is a line of shell that writes
the address into a pipe which only this user can open. (Antigravity RC01 tells the address of its
sign-in page nowhere else: seed, "oauth-personal flow".)
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from .framing import FrameSplitter

MOST_BYTES = 64 * 1024


class Browser:
    """The stand-in for a browser; use as ``async with``. Where there are no pipes, it does nothing.

    Args:
        on_page: called with each address that is to be opened, on this loop.
    """

    def __init__(self, on_page: Callable[[str], None]) -> None:
        self._on_page = on_page
        self._folder: Path | None = None
        self._pipe = -1
        self._lines = FrameSplitter(MOST_BYTES)

    async def __aenter__(self) -> Browser:
        if os.name == "posix":
            self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._folder is not None:
            asyncio.get_running_loop().remove_reader(self._pipe)
            os.close(self._pipe)
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    @property
    def env(self) -> Mapping[str, str]:
        """What the agent needs to use it."""
        return {"BROWSER": str(self._program)} if self._folder is not None else {}

    @property
    def _program(self) -> Path:
        assert self._folder is not None
        return self._folder / "open"

    def _open(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="agy-"))  # 0700
        pipe = self._folder / "pages"
        os.mkfifo(pipe, 0o600)
        # Both ends are ours: a pipe without a writer would count as at its end for ever.
        self._pipe = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        self._program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$1\" > {shlex.quote(str(pipe))}\n")
        self._program.chmod(0o700)
        asyncio.get_running_loop().add_reader(self._pipe, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._pipe, MOST_BYTES)
        except BlockingIOError:
            return
        for line in self._lines.feed(data):
            if isinstance(line, bytes) and line.strip():
                self._on_page(line.decode("utf-8", "replace").strip())
