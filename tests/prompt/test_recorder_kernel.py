"""What runs in a Python kernel is recorded as its front end shows it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.kernels import Kernel

BEGIN = """
import json
from agy_kernel.prompt.recorder import Recorder
shell = get_ipython()
hooks = lambda: (
    len(shell.display_pub._hooks), shell.events.callbacks["post_run_cell"][:],
    "_showtraceback" in vars(shell), "write_format_data" in vars(shell.displayhook),
)
before = hooks()
recorder = Recorder(shell, lambda source: source.startswith("%agy"))
"""
TELL = """
print(json.dumps([
    {
        "id": cell.id, "count": cell.count, "error": cell.error, "private": cell.is_private,
        "outputs": [[o.kind, o.text, (o.picture or b"").hex()] for o in cell.outputs],
    }
    for cell in recorder.cells
]))
"""
PNG = b"\x89PNG".hex()
DISPLAY_PNG = "display({'image/png': b'\\x89PNG', 'text/plain': 'a plot'}, raw=True)"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A Python kernel."""
    with Kernel(tmp_path_factory.mktemp("recorder"), name="python3") as kernel:
        yield kernel


@pytest.fixture
def kernel(python: Kernel) -> Iterator[Kernel]:
    """The same, with a recorder of its own."""
    assert python.run(BEGIN, store_history=False).status == "ok"
    yield python
    python.run("recorder.close()", store_history=False)
    assert python.run("print(hooks() == before)", store_history=False).text == "True\n"


def recorded(kernel: Kernel) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(kernel.run(TELL, store_history=False).text)
    return cells


def shown_by(kernel: Kernel, source: str) -> list[list[str]]:
    """What is recorded of a cell that runs alone."""
    kernel.run(source, cell_id="it")
    (cell,) = recorded(kernel)
    assert cell["id"] == "it"
    outputs: list[list[str]] = cell["outputs"]
    return outputs


CLEAR = "from IPython.display import clear_output\n"
DRAWN = "class P:\n    _repr_png_ = lambda self: b'\\x89PNG'\n    __repr__ = lambda self: 'P'\n"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("print('a')\n42", [["stdout", "a\n", ""], ["result", "42", ""]]),
        (DISPLAY_PNG, [["display", "a plot", PNG]]),
        (
            f"print('a'); {DISPLAY_PNG}; print('b')",
            [["stdout", "a\n", ""], ["display", "a plot", PNG], ["stdout", "b\n", ""]],
        ),
        (f"{DRAWN}P()", [["result", "P", PNG]]),
        (
            "h = display('one', display_id=True)\nprint('x')\nh.update('two')",
            [["display", "'two'", ""], ["stdout", "x\n", ""]],
        ),
        (
            "for n in '12': display(n, display_id='same', update=n == '2')",
            [["display", "'2'", ""]],
        ),
        (
            f"{CLEAR}print('a'); display('x'); clear_output(); print('b')",
            [["stdout", "b\n", ""]],
        ),
        (
            f"{CLEAR}for n in range(3):\n    clear_output(wait=True)\n    print(n)",
            [["stdout", "2\n", ""]],
        ),
        (f"{CLEAR}print('stays')\nclear_output(wait=True)", [["stdout", "stays\n", ""]]),
        (
            "import asyncio\nprint('a')\nawait asyncio.sleep(0.01)\nprint('b')\n3",
            [["stdout", "a\nb\n", ""], ["result", "3", ""]],
        ),
        (
            f"{CLEAR}display('mine')\nwith recorder.paused(): display(1); print(1); clear_output()",
            [["display", "'mine'", ""]],
        ),
        (
            "from IPython.display import HTML\ndisplay(HTML('<td>1</td><td>2</td>'))",
            [["display", "1 | 2", ""]],
        ),
        ("!echo from the system", [["stdout", "from the system\r\n", ""]]),
        ("%%capture\nprint('kept'); display('kept')", []),
    ],
    ids=range(14),
)
def test_what_a_cell_shows(kernel: Kernel, source: str, shown: list[list[str]]) -> None:
    assert shown_by(kernel, source) == shown


def test_a_figure_that_matplotlib_shows_at_the_end(kernel: Kernel) -> None:
    source = "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);"
    ((kind, text, picture),) = shown_by(kernel, source)
    assert (kind, text[:12]) == ("display", "<Figure size")
    assert bytes.fromhex(picture).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("print('a')\n1 / 0", "ZeroDivisionError: division by zero"),
        ("x = )", "SyntaxError"),
        ("%nonsense", "UsageError"),
        ("import asyncio\nawait asyncio.sleep(0)\n1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_errors(kernel: Kernel, source: str, error: str) -> None:
    assert kernel.run(source).status == "error"
    kernel.run("fine = 1")
    failed, fine = recorded(kernel)
    assert error in failed["error"]
    assert "\x1b" not in failed["error"]
    assert fine["error"] == ""


def test_a_cell_that_is_stopped(kernel: Kernel) -> None:
    cell = kernel.send("import time\nprint('on')\nwhile True: time.sleep(0.01)")
    kernel.shows(cell, "on")
    kernel.interrupt()
    kernel.finish(cell)
    kernel.run("after = 1")
    stopped, after = recorded(kernel)
    assert stopped["error"].endswith("KeyboardInterrupt: ")
    assert (stopped["outputs"], after["error"]) == ([["stdout", "on\n", ""]], "")


def test_a_display_of_an_earlier_cell_can_change(kernel: Kernel) -> None:
    kernel.run("h = display('one', display_id=True)", cell_id="a")
    kernel.run("h.update('two')\nprint('x')", cell_id="b")
    first, second = recorded(kernel)
    assert (first["id"], first["outputs"]) == ("a", [["display", "'two'", ""]])
    assert second["outputs"] == [["stdout", "x\n", ""]]


def test_a_cell_that_runs_again_stands_once(kernel: Kernel) -> None:
    kernel.run("'a1'", cell_id="a")
    kernel.run("'b1'", cell_id="b")
    kernel.run("'a2'", cell_id="a")
    cells = recorded(kernel)
    assert [(c["id"], c["outputs"][0][1]) for c in cells] == [("b", "'b1'"), ("a", "'a2'")]
    assert cells[1]["count"] == cells[0]["count"] + 1


def test_requests_that_are_no_cells(kernel: Kernel) -> None:
    kernel.run("print('silent')", silent=True)
    kernel.run("print('unstored')", store_history=False)
    kernel.run("%agy hello")
    kernel.run("")
    assert recorded(kernel) == []


def test_the_front_end_tells_a_cells_tags(kernel: Kernel) -> None:
    # As JupyterLab does: the cell's metadata are the request's.
    channels = kernel._channels
    content = {"code": "x = 1", "silent": False, "store_history": True, "allow_stdin": False}
    for tags in (["agy-private", "other"], ["other"], "agy-private", None):
        metadata = {"cellId": f"{tags}", "tags": tags}
        request = channels.session.msg("execute_request", content, metadata=metadata)
        cell = kernel.notebook.add(request)
        channels.shell_channel.send(request)
        kernel.finish(cell)
    assert [cell["private"] for cell in recorded(kernel)] == [True, False, False, False]


def test_threads_print_into_the_cell_that_runs(kernel: Kernel) -> None:
    source = (
        "import threading\nt = threading.Thread(target=print, args=('in',)); t.start(); t.join()"
    )
    assert shown_by(kernel, source) == [["stdout", "in\n", ""]]


def test_much_output_is_kept_whole(kernel: Kernel) -> None:
    kernel.run("for n in range(20_000): print(n, 'x' * 50)")
    told = "print(len(recorder.cells[0].outputs), len(recorder.cells[0].outputs[0].text))"
    assert kernel.run(told, store_history=False).text == "1 1128890\n"
