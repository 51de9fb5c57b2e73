"""What runs in this kernel, recorded as it runs: sources, outputs, errors, pictures.

Texts of streams and results are taken from IPython's own history, which keeps them anyway; what is
displayed comes through a hook of the display publisher, since history does not have it.
"""

from __future__ import annotations

import time
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .cells import Cell, CellOutput, OutputKind
from .tidy import html_as_text

KEPT_CELLS = 5_000
PICTURE_TYPES = ("image/png", "image/jpeg")
STREAMS: dict[str, OutputKind] = {"out_stream": "stdout", "err_stream": "stderr"}
DISPLAYS = ("display_data", "update_display_data")


class Recorder:
    """Records the cells of a shell; each is kept once, under its id, as it ran last.

    Args:
        shell: the IPython shell.
        is_ours: whether a cell's source only talks to the agent; such a cell is not recorded.
    """

    def __init__(self, shell: Any, is_ours: Callable[[str], bool]) -> None:
        self._shell, self._is_ours = shell, is_ours
        self._cells: dict[str, Cell] = {}
        self._displays: list[CellOutput] = []
        self._by_display_id: dict[str, int] = {}
        self._started = 0.0
        self._paused = False
        shell.events.register("pre_run_cell", self._begin)
        shell.events.register("post_run_cell", self._end)
        self._publisher: Any = shell.display_pub
        if hasattr(self._publisher, "register_hook"):
            self._publisher.register_hook(self._displayed)

    def close(self) -> None:
        """Take every hook away."""
        self._shell.events.unregister("pre_run_cell", self._begin)
        self._shell.events.unregister("post_run_cell", self._end)
        if hasattr(self._publisher, "unregister_hook"):
            self._publisher.unregister_hook(self._displayed)

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

    # -- hooks

    def _begin(self, _info: Any) -> None:
        self._displays, self._by_display_id = [], {}
        self._started = time.monotonic()

    def _end(self, result: Any) -> None:
        info = getattr(result, "info", None)
        count = getattr(result, "execution_count", None)
        if info is None or count is None or not info.store_history or self._is_ours(info.raw_cell):
            return
        cell = Cell(
            id=getattr(info, "cell_id", None) or f"in-{count}",
            count=count,
            source=info.raw_cell,
            outputs=tuple(self._outputs(count)),
            error=self._traceback(result),
            seconds=time.monotonic() - self._started,
            tags=_tags(info),
        )
        self._cells.pop(cell.id, None)
        self._cells[cell.id] = cell
        if len(self._cells) > KEPT_CELLS:
            del self._cells[next(iter(self._cells))]

    def _displayed(self, message: dict[str, Any]) -> dict[str, Any]:
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "clear_output":
            self._begin_outputs()
        elif kind in DISPLAYS and not self._paused:
            self._show(content.get("transient", {}).get("display_id"), content["data"])
        return message

    def _begin_outputs(self) -> None:
        self._displays, self._by_display_id = [], {}

    def _show(self, display_id: str | None, bundle: Mapping[str, Any]) -> None:
        output = from_bundle("display", bundle)
        known = self._by_display_id.get(display_id) if display_id else None
        if known is not None:
            self._displays[known] = output
            return
        if display_id:
            self._by_display_id[display_id] = len(self._displays)
        self._displays.append(output)

    # -- what a cell left behind

    def _outputs(self, count: int) -> Iterator[CellOutput]:
        history = getattr(self._shell.history_manager, "outputs", {})
        for output in history.get(count, ()):
            if kind := STREAMS.get(output.output_type):
                yield CellOutput(kind, "".join(output.bundle.get("stream", ())))
        yield from self._displays
        for output in history.get(count, ()):
            if output.output_type == "execute_result":
                yield from_bundle("result", output.bundle)

    def _traceback(self, result: Any) -> str:
        if result.success:
            return ""
        lines = getattr(self._shell, "_last_traceback", None)
        error = result.error_before_exec or result.error_in_exec
        return "\n".join(lines) if lines else f"{type(error).__name__}: {error}"


def from_bundle(kind: OutputKind, bundle: Mapping[str, Any]) -> CellOutput:
    """A cell output of a MIME bundle: its text, and its picture if it has one."""
    picture = next((p for t in PICTURE_TYPES if (p := _picture(bundle.get(t)))), None)
    for mime_type in ("text/markdown", "text/plain"):
        if isinstance(text := bundle.get(mime_type), str):
            return CellOutput(kind, text, picture)
    markup = bundle.get("text/html")
    return CellOutput(kind, html_as_text(markup) if isinstance(markup, str) else "", picture)


def _picture(data: Any) -> bytes | None:
    if isinstance(data, bytes):
        return data
    try:
        return b64decode(data) if isinstance(data, str) else None
    except ValueError:
        return None


def _tags(info: Any) -> tuple[str, ...]:
    meta = getattr(info, "cell_meta", None)
    tags = meta.get("tags") if isinstance(meta, Mapping) else None
    return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()
