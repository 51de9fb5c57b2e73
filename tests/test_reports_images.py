"""Public reports about images, both ways.

Each test stands for a row of the table in docs/reliability.md.
"""

from __future__ import annotations

import base64
import shlex
from typing import Any

import pytest

from tests.agents.scripted import HELLO, command, hello, new_session, turn
from tests.support.kernels import Kernel, StartKernel, sim
from tests.support.notebook import Json

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/q842iQAAAABJRU5Er"
    "kJggg=="
)
IMAGE = {"type": "image", "mimeType": "image/png", "data": PNG}
SHOWN = f'src="data:image/png;base64,{PNG}"'
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.show()"


def sent_with_a_plot(start_kernel: StartKernel, takes_images: bool) -> tuple[str, list[Json]]:
    """What a Python notebook shows, and which blocks it sends, when a plot goes along."""
    capabilities: dict[str, Any] = {"promptCapabilities": {"image": takes_images}}
    abilities = {**HELLO["agentCapabilities"], **capabilities}
    script = [*hello(agentCapabilities=abilities), *new_session(), *turn("A line.")]
    kernel = start_kernel(shlex.join(command(*script)), name="python3")
    kernel.run("%load_ext agy_kernel")
    kernel.run(PLOT)
    cell = kernel.run("%agy describe the plot")
    assert cell.status == "ok"
    (prompt,) = kernel.sent("session/prompt")
    return cell.text, prompt["params"]["prompt"]


@pytest.mark.report(60)
def test_plot_goes_as_an_image_where_the_agent_takes_images(start_kernel: StartKernel) -> None:
    shown, blocks = sent_with_a_plot(start_kernel, takes_images=True)
    (image,) = (block for block in blocks if block["type"] == "image")
    assert set(image) >= {"type", "data", "mimeType"}
    assert image["mimeType"] == "image/png"
    assert base64.b64decode(image["data"]).startswith(b"\x89PNG")
    assert "1 image" in shown


@pytest.mark.report(60)
def test_plot_that_the_agent_cannot_take_is_named_to_both_sides(start_kernel: StartKernel) -> None:
    shown, blocks = sent_with_a_plot(start_kernel, takes_images=False)
    assert {block["type"] for block in blocks} <= {"text", "resource"}
    assert "takes no images" in shown
    texts = [block.get("text", "") for block in blocks]
    assert "[A picture that you cannot see: the picture of cell 2]" in texts


@pytest.mark.report(63)
def test_image_in_the_message_and_of_a_tool_is_shown_in_place(shared_kernel: Kernel) -> None:
    said = {"update": {"sessionUpdate": "agent_message_chunk", "content": IMAGE}}
    content = [{"type": "content", "content": IMAGE}]
    made = {"toolCallId": "draw", "title": "Draw", "status": "completed", "content": content}
    cell = shared_kernel.run(
        sim({"text": "Look: "}, said, {"tool": made}, {"text": "That is all."})
    )
    assert cell.text.count(SHOWN) == 2
    assert cell.text.index("Look:") < cell.text.index(SHOWN) < cell.text.index("That is all.")


@pytest.mark.report(63)
def test_picture_file_is_shown_from_inside_the_folder_only(shared_kernel: Kernel) -> None:
    inside, outside = shared_kernel.cwd / "in.png", shared_kernel.folder / "out.png"
    for path in (inside, outside):
        path.write_bytes(base64.b64decode(PNG))
    links = [
        {"type": "resource_link", "name": path.name, "uri": path.as_uri(), "mimeType": "image/png"}
        for path in (inside, outside)
    ]
    steps = [{"update": {"sessionUpdate": "agent_message_chunk", "content": c}} for c in links]
    cell = shared_kernel.run(sim(*steps))
    assert cell.text.count(SHOWN) == 1
    assert "in.png" in cell.text
    assert "out.png" in cell.text
