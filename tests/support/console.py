"""``jupyter console`` at a pseudo-terminal, with a person who types."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pexpect

from tests.support.kernels import isolated
from tests.support.starts import one_start_at_a_time

PATIENCE = 30  # seconds for anything that is waited for
ESCAPE = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-_=>])"
STOP, END = "\x03", "\x04"


class Console:
    """A console and its kernel; use as a context manager.

    Args:
        folder: an empty folder, for everything that is written.
        kernel: the name of the kernel.
    """

    def __init__(self, folder: Path, kernel: str) -> None:
        self.cwd = folder / "notebook"
        self._env = isolated(folder) | {"AGY_AGENT": "simulator", "TERM": "xterm"}
        # Nobody answers here when prompt_toolkit asks the terminal where its cursor is.
        self._env["PROMPT_TOOLKIT_NO_CPR"] = "1"
        self._command = ["-m", "jupyter_console", "--kernel", kernel]
        self._cells = 0
        self._child: Any

    def __enter__(self) -> Console:
        self.cwd.mkdir()
        (self.cwd.parent / "home").mkdir()
        with one_start_at_a_time():
            self._child = pexpect.spawn(
                sys.executable,
                self._command,
                cwd=str(self.cwd),
                env=self._env,
                dimensions=(50, 160),
                encoding="utf-8",
                timeout=PATIENCE,
            )
            self.prompt()
            # What a kernel publishes before the console has subscribed is lost.
            while "subscribed" not in self.run('!echo sub""scribed'):
                pass
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.press(END)
            self.sees("Do you really want to exit")
            self.press("y\r")
            self._child.expect(pexpect.EOF)
        finally:
            self._child.close(force=True)

    def sees(self, text: str) -> str:
        """Wait for a text; returns all that came since the last wait, without colours."""
        self._child.expect(f"(?:{ESCAPE})*".join(map(re.escape, text)))
        return re.sub(ESCAPE, "", self._child.before + self._child.after)

    def prompt(self) -> str:
        """Wait for the next prompt; returns what came before it."""
        self._cells += 1
        return self.sees(f"In [{self._cells}]: ")

    def press(self, keys: str) -> None:
        """Press keys."""
        self._child.send(keys)

    def type(self, line: str) -> None:
        """Type a line, and Enter."""
        self.press(f"{line}\r")

    def run(self, cell: str) -> str:
        """Type a cell; returns all that comes until the next prompt."""
        self.type(cell)
        return self.prompt()
