"""What else runs notebooks in a browser: Notebook 7, and JupyterLab with more or less in it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from tests.support.lab import Lab

# Apart from the environment: where jupyter-collaboration is installed, every JupyterLab has it.
COLLABORATION = Path(__file__).parents[2] / "build" / "collaboration"


class Notebook7(Lab):
    """Notebook 7, one notebook a page."""

    module = "notebook"

    def address(self, name: str) -> str:
        """Where a notebook is opened."""
        return f"{self.url}/notebooks/{name}"


class CollaborativeLab(Lab):
    """JupyterLab with jupyter-collaboration: the server has the notebook, pages look at it."""

    def __init__(
        self, root: Path, scratch: Path, env: Mapping[str, str], theme: str = "light"
    ) -> None:
        path = [str(COLLABORATION), os.environ.get("PYTHONPATH", "")]
        added = {
            "PYTHONPATH": os.pathsep.join(filter(None, path)),
            "JUPYTER_PATH": str(COLLABORATION / "share" / "jupyter"),
            "JUPYTER_CONFIG_PATH": str(COLLABORATION / "etc" / "jupyter"),
        }
        super().__init__(root, scratch, added | dict(env), theme)


class LabWithoutWidgets(Lab):
    """JupyterLab that shows no widgets, as where ipywidgets is installed for the kernel only."""

    def __enter__(self) -> LabWithoutWidgets:
        config = Path(self._env["JUPYTER_CONFIG_DIR"]) / "labconfig"
        config.mkdir(parents=True)
        disabled = {"disabledExtensions": {"@jupyter-widgets/jupyterlab-manager": True}}
        (config / "page_config.json").write_text(json.dumps(disabled))
        super().__enter__()
        return self
