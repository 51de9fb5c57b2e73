"""What a front end makes of a kernel's messages: cells, their outputs, and widgets."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Json = dict[str, Any]

VIEW = "application/vnd.jupyter.widget-view+json"
OUTPUTS = ("stream", "display_data", "update_display_data", "execute_result", "error")
RECORD = "application/vnd.agy-kernel.turn+json"


@dataclass(frozen=True)
class Message:
    """A message on IOPub: when it came (``time.monotonic``), and when the kernel made it."""

    at: float
    type: str
    content: Json
    made: datetime


@dataclass(frozen=True)
class Question:
    """A question on the screen.

    Args:
        html: what is asked.
        buttons: the model id of each button, by what it says, from left to right.
    """

    html: str
    buttons: dict[str, str]


@dataclass
class Cell:
    """A cell that was sent, and what has come of it.

    Args:
        id: the request's message id.
        sent: when it was sent (``time.monotonic``).
        outputs: as in a saved notebook: display ids applied, cleared where cleared.
        messages: all that came on IOPub with this cell as parent.
        reply: the content of the ``execute_reply``.
        replied: when that came.
        reply_made: when the kernel made it.
    """

    id: str
    sent: float
    outputs: list[Json] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    reply: Json = field(default_factory=dict)
    replied: float = 0.0
    reply_made: datetime | None = None
    idle: bool = False
    asked: list[str] = field(default_factory=list)
    """The prompts of its ``input_request`` messages."""

    @property
    def status(self) -> str:
        return str(self.reply.get("status", "running"))

    @property
    def seconds(self) -> float:
        """From the request to its reply."""
        return self.replied - self.sent

    @property
    def text(self) -> str:
        """All that a person reads, as Markdown where there is Markdown."""
        return "\n\n".join(_read(output) for output in self.outputs)

    @property
    def error(self) -> Json:
        """The error that the cell shows; empty where it shows none."""
        return next((o for o in self.outputs if o["output_type"] == "error"), {})

    @property
    def record(self) -> Json:
        """What the turn's footer holds for programs."""
        (record,) = self.records
        return record

    @property
    def records(self) -> list[Json]:
        return [o["data"][RECORD] for o in self.outputs if RECORD in o.get("data", {})]

    def times(self, text: str) -> list[float]:
        """When messages came that show ``text``."""
        return [message.at for message in self.messages if text in str(message.content)]


class Notebook:
    """The front end's side of one kernel: everything that was shown, and the widgets."""

    def __init__(self) -> None:
        self.cells: dict[str, Cell] = {}
        self.models: dict[str, Json] = {}
        self.idle: set[str] = set()
        """The requests that the kernel has finished with."""
        self.unclaimed: list[Json] = []
        """Outputs whose parent is not a cell of this notebook."""
        self._displays: dict[str, list[Json]] = {}
        self._clear_next: set[str] = set()

    def add(self, request: Json) -> Cell:
        """A request was sent."""
        cell = self.cells[request["header"]["msg_id"]] = Cell(
            request["header"]["msg_id"], time.monotonic()
        )
        return cell

    def hear(self, message: Json) -> None:
        """Take a message from IOPub."""
        kind, content = message["msg_type"], message["content"]
        parent = message["parent_header"].get("msg_id")
        if kind.startswith("comm_"):
            self._widget(kind, content)
        cell = self.cells.get(parent)
        if cell is not None:
            made = message["header"]["date"]
            cell.messages.append(Message(time.monotonic(), kind, content, made))
            self._show(cell, kind, content)
        elif kind in OUTPUTS:
            self.unclaimed.append(message)
        if kind == "status" and content["execution_state"] == "idle":
            self.idle.add(parent)
            if cell is not None:
                cell.idle = True

    def questions(self, cell: Cell) -> list[Question]:
        """The questions that a cell shows now, from top to bottom."""
        roots = [o["data"][VIEW]["model_id"] for o in cell.outputs if VIEW in o.get("data", {})]
        return [question for root in roots for question in self._questions(root)]

    def views(self, cell: Cell) -> list[str]:
        """The widgets that a cell shows now: these and those inside them."""
        roots = [o["data"][VIEW]["model_id"] for o in cell.outputs if VIEW in o.get("data", {})]
        return [model for root in roots for model in self._tree(root)]

    # -- outputs

    def _show(self, cell: Cell, kind: str, content: Json) -> None:
        if kind == "clear_output":
            self._clear(cell, content["wait"])
        elif kind == "update_display_data":
            for shown in self._displays.get(content["transient"]["display_id"], []):
                shown |= {"data": content["data"], "metadata": content["metadata"]}
        elif kind in OUTPUTS:
            if cell.id in self._clear_next:
                self._clear(cell, wait=False)
            self._add(cell, kind, content)

    def _add(self, cell: Cell, kind: str, content: Json) -> None:
        last = cell.outputs[-1] if cell.outputs else {}
        if kind == "stream" and last.get("name") == content["name"]:
            last["text"] += content["text"]
            return
        output = {"output_type": kind, **content}
        cell.outputs.append(output)
        if display_id := content.get("transient", {}).get("display_id"):
            self._displays.setdefault(display_id, []).append(output)

    def _clear(self, cell: Cell, wait: bool) -> None:
        if wait:
            self._clear_next.add(cell.id)
        else:
            self._clear_next.discard(cell.id)
            cell.outputs.clear()

    # -- widgets

    def _widget(self, kind: str, content: Json) -> None:
        comm = content["comm_id"]
        if kind == "comm_open":
            self.models[comm] = dict(content["data"].get("state", {}))
        elif kind == "comm_close":
            self.models.pop(comm, None)
        elif content["data"].get("method") in ("update", "echo_update") and comm in self.models:
            self.models[comm] |= content["data"]["state"]

    def _tree(self, model_id: str) -> Iterator[str]:
        if model_id in self.models:
            yield model_id
            for child in self._children(model_id):
                yield from self._tree(child)

    def _children(self, model_id: str) -> list[str]:
        references = self.models.get(model_id, {}).get("children", [])
        return [reference.removeprefix("IPY_MODEL_") for reference in references]

    def _questions(self, model_id: str) -> Iterator[Question]:
        children = self._children(model_id)
        names = {child: self.models.get(child, {}).get("_model_name") for child in children}
        row = next((child for child, name in names.items() if name == "HBoxModel"), None)
        if row is None:
            for child in children:
                yield from self._questions(child)
            return
        texts = [child for child in children if names[child] == "HTMLModel"]
        html = "".join(self.models[child].get("value", "") for child in texts)
        buttons = {self.models[b]["description"]: b for b in self._children(row)}
        yield Question(html, buttons)


def _read(output: Json) -> str:
    match output["output_type"]:
        case "stream":
            return str(output["text"])
        case "error":
            return "\n".join(output["traceback"])
    data = output["data"]
    return str(data.get("text/markdown", data.get("text/plain", "")))
