"""Run the tour without a browser or an account, and leave the notebook and its HTML in build/."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"


def main() -> int:
    """Execute the tour in a folder of its own, whose files the agent may change."""
    folder = BUILD / "tour"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ |= {"AGY_AGENT": "simulator", "AGY_PERMISSIONS": "allow"}
    print("The tour, answered by the built-in simulator: no real agent takes part.")
    print("Nobody can click here, so AGY_PERMISSIONS=allow lets it change files in build/tour.\n")
    notebook = nbformat.read(ROOT / "notebooks" / "tour.ipynb", as_version=4)
    try:
        _client(notebook, folder).execute()
    except CellExecutionError as error:
        print(f"\nThe tour stopped: {error}", file=sys.stderr)
        return 1
    _report(_save(notebook))
    return 0


def _client(notebook: Any, folder: Path) -> NotebookClient:
    prompts = [cell for cell in notebook.cells if cell.cell_type == "code"]

    def say(cell: Any, **_: Any) -> None:
        if cell in prompts:
            first = cell.source.partition("\n")[0]
            print(f"[{prompts.index(cell) + 1}/{len(prompts)}] {first}", flush=True)

    return NotebookClient(
        notebook,
        kernel_name="antigravity",
        timeout=120,
        extra_arguments=["--log-level=ERROR"],  # or ipykernel warns of plain TCP on loopback
        resources={"metadata": {"path": str(folder)}},
        on_cell_execute=say,
    )


def _save(notebook: Any) -> list[Path]:
    paths = [BUILD / "tour.ipynb", BUILD / "tour.html"]
    nbformat.write(notebook, paths[0])
    html, _ = HTMLExporter().from_notebook_node(notebook)
    paths[1].write_text(html, encoding="utf-8")
    return paths


def _report(paths: list[Path]) -> None:
    print("\nDone, with simulated answers. The executed notebook and its HTML:")
    for path in paths:
        print(f"  {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")
    print("Next: `make lab` opens the tour in JupyterLab.")


if __name__ == "__main__":
    sys.exit(main())
