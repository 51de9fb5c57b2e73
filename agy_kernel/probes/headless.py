"""Probe notebooks run without a person, and kept with their outputs."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..acp.privacy import Privacy
from ..errors import AgyError
from ..tapes.frames import with_strings
from .aim import shown

if TYPE_CHECKING:
    from nbformat import NotebookNode

KERNEL = "python3"
INJECTED = "injected-parameters"  # papermill's word for the cell that it puts behind "parameters"
PLACES = (
    Path(__file__).parent / "notebooks",  # of an installation
    Path(__file__).parents[2] / "notebooks" / "probes",  # of a checkout
)
OnProbe = Callable[[str], None]


def execute(suite: str, folder: Path, parameters: Mapping[str, Any], on_verdict: OnProbe) -> str:
    """Run a suite's notebook, and leave it in a folder with its outputs.

    Args:
        suite: its name.
        folder: where it runs, and is written to as ``SUITE.ipynb``.
        parameters: in place of those in its first cell.
        on_verdict: told each verdict as it comes.

    Returns:
        What broke it off; empty where it ran to its end.

    Raises:
        AgyError: nbclient is not installed.
    """
    nbformat, nbclient = _libraries()
    notebook = nbformat.read(notebook_of(suite), as_version=4)
    injected = _inject(notebook, parameters)
    client = nbclient.NotebookClient(
        notebook,
        kernel_name=KERNEL,
        timeout=None,  # a probe has an end of its own
        resources={"metadata": {"path": str(folder)}},
        # Or ipykernel warns of plain TCP on loopback, and tells of the interrupt that ends it.
        extra_arguments=["--log-level=CRITICAL"],
        on_cell_executed=lambda cell, **_: _tell(cell, on_verdict),
    )
    try:
        asyncio.run(_until_stopped(client))
    except (nbclient.exceptions.CellExecutionError, nbclient.exceptions.DeadKernelError) as error:
        return str(error).strip().rpartition("\n")[2]
    finally:
        injected.source = _source({**parameters, "agent": shown(parameters["agent"])})
        _clean(notebook, Privacy.of_this_machine())
        nbformat.write(notebook, folder / f"{suite}.ipynb")
    return ""


async def _until_stopped(client: Any) -> None:
    """Run a notebook; Ctrl-C ends it in order, with its kernel."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    stopped = asyncio.Event()
    assert task is not None

    def stop() -> None:
        stopped.set()
        client.shutdown_kernel = "immediate"  # it is in the middle of a cell
        task.cancel()

    def take_over(**_: Any) -> None:  # nbclient only kills the kernel, and then fails
        with contextlib.suppress(NotImplementedError):  # not on this platform
            loop.add_signal_handler(signal.SIGINT, stop)

    client.on_cell_start = take_over
    try:
        await client.async_execute()
    finally:
        if stopped.is_set():  # nbclient takes a cancelled task for a dead kernel
            raise KeyboardInterrupt


def _clean(notebook: NotebookNode, privacy: Privacy) -> None:
    """Leave out what is private, of a traceback too."""
    from nbformat import from_dict

    for cell in notebook.cells:
        cell.source = privacy.text(cell.source)
        if "outputs" in cell:
            cell.outputs = [from_dict(with_strings(o, privacy.text)) for o in cell.outputs]


def notebook_of(suite: str) -> Path:
    """Where a suite's notebook is."""
    return next(path for place in PLACES if (path := place / f"{suite}.ipynb").is_file())


def _libraries() -> tuple[Any, Any]:
    try:
        import nbclient
        import nbformat
    except ImportError:
        raise AgyError(
            "nbclient and nbformat are needed to run notebooks: pip install nbclient nbformat."
        ) from None
    return nbformat, nbclient


def _inject(notebook: NotebookNode, parameters: Mapping[str, Any]) -> NotebookNode:
    from nbformat.v4 import new_code_cell

    tagged = (n for n, c in enumerate(notebook.cells) if "parameters" in c.metadata.get("tags", []))
    cell: NotebookNode = new_code_cell(_source(parameters), metadata={"tags": [INJECTED]})
    notebook.cells.insert(next(tagged, -1) + 1, cell)
    return cell


def _source(parameters: Mapping[str, Any]) -> str:
    return "\n".join(f"{name} = {value!r}" for name, value in parameters.items())


def _tell(cell: NotebookNode, on_verdict: OnProbe) -> None:
    """A cell that puts a probe begins its output with the verdict."""
    if not cell.source.startswith("prober.ask("):
        return
    for output in cell.outputs:
        plain = output.get("data", {}).get("text/plain", "")
        if verdict := plain.partition(":")[0]:
            on_verdict(verdict)
