"""What an agent shows, through a whole kernel: pictures from files, an open notebook, all of it."""

from __future__ import annotations

import json
from typing import Any

from PIL import Image

from tests.support.kernels import Kernel, StartKernel, sim
from tests.support.renderers import text_of

DONE = {"kind": "execute", "status": "completed"}


def test_a_picture_that_the_agent_made_is_shown_from_its_file(shared_kernel: Kernel) -> None:
    Image.new("RGB", (2, 2)).save(shared_kernel.cwd / "made.png")
    for uri in (str(shared_kernel.cwd / "made.png"), "/etc/passwd"):
        block = {"type": "image", "mimeType": "image/png", "data": "", "uri": uri}
        update = {"sessionUpdate": "agent_message_chunk", "content": block}
        cell = shared_kernel.run(sim({"update": update}))
        assert cell.status == "ok"
        shown = cell.outputs[0]["data"]["text/markdown"]
        assert ("<img" in shown) == uri.endswith("made.png")
        assert ("outside the session's folder" in text_of(shown)) == (uri == "/etc/passwd")
        assert "without any text" not in cell.text


def test_all_of_an_output_is_one_command_away(shared_kernel: Kernel) -> None:
    call = {"toolCallId": "call_859008", "title": "make", **DONE}
    text = "".join(f"line {i}\n" for i in range(100_000))
    step: dict[str, Any] = {"tool": {**call, "rawOutput": {"stdout": text}}}
    cell = shared_kernel.run(sim(step))
    assert "%agy output call_859008" in cell.outputs[0]["data"]["text/markdown"]
    pieces = shared_kernel.run("%agy output 9008").outputs
    assert all(list(piece["data"]) == ["text/plain"] for piece in pieces)
    whole = "\n".join(piece["data"]["text/plain"] for piece in pieces)
    assert whole == f"[run · make · ran without asking]\n{text.rstrip()}"


def test_an_edit_of_the_open_notebook_is_warned_of(start_kernel: StartKernel) -> None:
    kernel = start_kernel()
    path = str(kernel.cwd / "open.ipynb")
    kernel.run(f"%%py\nimport os; os.environ['JPY_SESSION_NAME'] = {path!r}")
    notebook = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    diff = {"type": "diff", "path": path, "newText": json.dumps(notebook)}
    call = {"toolCallId": "e", "kind": "edit", "status": "completed", "content": [diff]}
    shown = kernel.run(sim({"tool": call})).outputs[0]["data"]["text/markdown"]
    assert "The agent changed the notebook that is open here" in shown
