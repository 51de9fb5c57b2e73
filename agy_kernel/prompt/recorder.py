"""What runs in this kernel, recorded as it runs: sources, outputs, errors, pictures.

Streams, results and tracebacks are overheard where the shell writes them; what is displayed comes
through a hook of the display publisher. Threads of the user's print into the cell that runs
meanwhile; what they display is not seen.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from .bundles import from_bundle
from .cells import Cell, CellOutput, OutputKind
from .overheard import Overheard
from .running import Running, shows, updated
from .tidy import tidy

KEPT_CELLS = 5_000
STREAMS: tuple[OutputKind, ...] = ("stdout", "stderr")
LINE_OF_TRACEBACK = re.compile(r"(?P<number>[\s|]*(?:-*>\s*)?(?:\d+\s)?\s*)(?P<code>.*)")


class Recorder:
    """Records the cells of a shell; each is kept once, under its id, as it ran last.

    Args:
        shell: the IPython shell.
        is_ours: whether a cell's source only talks to the agent; such a cell is not recorded.
    """

    def __init__(self, shell: Any, is_ours: Callable[[str], bool]) -> None:
        self._shell, self._is_ours = shell, is_ours
        self._cells: dict[str, Cell] = {}
        self._private_lines: set[str] = set()
        self._running: Running | None = None
        self._streams: list[Overheard] = []
        self._paused = False
        shell.events.register("pre_run_cell", self._begin)
        shell.events.register("post_run_cell", self._end)
        self._overheard = [
            Overheard(shell, "_showtraceback", self._failed),
            Overheard(shell.displayhook, "write_format_data", self._result),
        ]
        self._publisher: Any = shell.display_pub
        self._is_kernel = hasattr(self._publisher, "register_hook")
        if self._is_kernel:
            self._publisher.register_hook(self._message)
        else:
            self._overheard.append(Overheard(self._publisher, "publish", self._published))

    def close(self) -> None:
        """Take every hook away."""
        self._stop_listening()
        for overheard in self._overheard:
            overheard.stop()
        self._shell.events.unregister("pre_run_cell", self._begin)
        self._shell.events.unregister("post_run_cell", self._end)
        if self._is_kernel:
            self._publisher.unregister_hook(self._message)

    @property
    def cells(self) -> list[Cell]:
        """What has run, oldest first; a cell that ran again stands where it ran last."""
        return list(self._cells.values())

    @property
    def last_error(self) -> Cell | None:
        """The cell that failed last."""
        return next((cell for cell in reversed(self._cells.values()) if cell.error), None)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While the agent's own outputs are shown: they are no news to it."""
        self._paused = True
        try:
            yield
        finally:
            self._paused = False

    # -- a cell

    def _begin(self, info: Any) -> None:
        # A cell that runs in a cell (%rerun, a macro) is a part of it.
        if self._running is not None or not info.store_history or self._is_ours(info.raw_cell):
            return
        cell_id = getattr(info, "cell_id", None) or ""
        self._running = Running(info.raw_cell, cell_id, self._tags())
        self._streams = [
            Overheard(getattr(sys, stream), "write", partial(self._written, stream))
            for stream in STREAMS
        ]

    def _end(self, result: Any) -> None:
        running = self._running
        if running is None or (result is not None and result.info.raw_cell != running.source):
            return
        self._stop_listening()
        if result is not None and result.success and running.traceback:
            running.write("stderr", running.traceback)
        count = getattr(result, "execution_count", None) or self._shell.execution_count - 1
        self._keep(running.ended(count, _error(running, result)))

    def _keep(self, cell: Cell) -> None:
        if cell.is_private:
            self._private_lines |= {line.strip() for line in cell.source.splitlines()}
        elif self._private_lines:
            cell = self._without_private(cell)
        self._cells.pop(cell.id, None)
        self._cells[cell.id] = cell
        if len(self._cells) > KEPT_CELLS:
            del self._cells[next(iter(self._cells))]

    def _without_private(self, cell: Cell) -> Cell:
        """The cell without what its tracebacks quote of private cells."""
        hide = partial(without, self._private_lines)
        outputs = (replace(o, text=hide(o.text)) if o.kind == "stderr" else o for o in cell.outputs)
        return replace(cell, error=hide(cell.error), outputs=tuple(outputs))

    def _stop_listening(self) -> None:
        self._running = None
        for stream in self._streams:
            stream.stop()
        self._streams = []

    def _tags(self) -> tuple[str, ...]:
        # The request's metadata is the cell's, in JupyterLab; a terminal has no requests.
        request = self._shell.get_parent() if hasattr(self._shell, "get_parent") else {}
        tags = request.get("metadata", {}).get("tags")
        return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()

    # -- what it shows

    def _written(self, stream: OutputKind, text: str) -> None:
        if self._running is None or self._paused or not text:
            return
        if self._is_kernel or stream == "stderr" or not self._is_displaying:
            self._running.write(stream, text)

    @property
    def _is_displaying(self) -> bool:
        """Whether a terminal's shell writes to stdout what is recorded by other means."""
        shell = self._shell
        by_display = shell.display_pub.is_publishing or shell.displayhook.is_active
        return bool(by_display or shell.showing_traceback)

    def _failed(self, _kind: Any, _error: Any, lines: list[str]) -> None:
        if self._running is not None and not self._paused:
            self._running.traceback = tidy("\n".join(lines))

    def _result(self, bundle: Mapping[str, Any], *_: Any) -> None:
        if self._running is not None and not self._paused:
            self._running.show(from_bundle("result", bundle))

    def _message(self, message: dict[str, Any]) -> dict[str, Any]:
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "clear_output" and self._running is not None and not self._paused:
            self._running.clear(bool(content.get("wait")))
        elif kind in ("display_data", "update_display_data"):
            is_update = kind == "update_display_data"
            self._published(content["data"], transient=content.get("transient"), update=is_update)
        return message

    def _published(
        self, data: Any, *_: Any, transient: Any = None, update: bool = False, **__: Any
    ) -> None:
        if self._paused or (self._running is None and not update):
            return
        output = from_bundle("display", data, (transient or {}).get("display_id") or "")
        if update:
            self._update(output)
        elif self._running is not None:
            self._running.show(output)

    def _update(self, output: CellOutput) -> None:
        """Change an output of the cell that runs, or else of one that ran before."""
        if self._running is not None and self._running.update(output):
            return
        for cell in reversed(self._cells.values()):
            if shows(cell, output):
                self._cells[cell.id] = updated(cell, output)
                return


def without(private: Set[str], quoting: str) -> str:
    """A traceback without the lines of private cells that it quotes."""
    hide = partial(_hidden, private)
    return "\n".join(LINE_OF_TRACEBACK.sub(hide, line) for line in quoting.split("\n"))


def _hidden(private: Set[str], match: re.Match[str]) -> str:
    is_private = len(match["code"]) > 2 and match["code"].strip() in private
    return f"{match['number']}(private)" if is_private else match[0]


def _error(running: Running, result: Any) -> str:
    if result is None:
        return running.traceback or "It did not end."
    error = result.error_before_exec or result.error_in_exec
    if error is None:
        return ""
    return running.traceback or "".join(traceback.format_exception_only(error)).strip()
