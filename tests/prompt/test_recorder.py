"""What runs is recorded as a person sees it, in terminals and in kernels."""

import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from agy_kernel.prompt.cells import Cell
from agy_kernel.prompt.recorder import Recorder


def is_ours(source: str) -> bool:
    return source.startswith("%agy")


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """A terminal's shell, without files."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}), colors="nocolor")
    yield shell
    shell.atexit_operations()


@pytest.fixture
def recorder(shell: InteractiveShell) -> Iterator[Recorder]:
    """Records that shell."""
    recorder = Recorder(shell, is_ours)
    yield recorder
    recorder.close()


def run(shell: InteractiveShell, source: str, **how: Any) -> None:
    shell.run_cell(source, **{"store_history": True, **how})


def outputs(cell: Cell) -> list[tuple[str, str]]:
    return [(output.kind, output.text) for output in cell.outputs]
