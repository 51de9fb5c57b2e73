"""What of the notebook goes along with a prompt, and what each session was told already."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_config_dir

from .events import Capabilities
from .prompt.assemble import Assembled, Ration, assemble
from .prompt.digest import Budget
from .prompt.gather import Gathered, Request, Surface, gather
from .prompt.images import Limits
from .prompt.instructions import NAME, instructions
from .prompt.recorder import Recorder
from .prompt.secrets import Masker
from .settings import Settings

KEPT_SESSIONS = 50


@dataclass(frozen=True, slots=True)
class Told:
    """What a session was told: whether it had the instructions, and cell id to fingerprint."""

    instructions: bool
    cells: Mapping[str, str]


NOTHING = Told(False, {})


class Context:
    """The notebook, as far as the agent may see it.

    Args:
        shell: the IPython shell; its cells are recorded from now on.
        settings: limits, and what is on.
        is_prompt_notebook: whether a cell is a prompt, or one asks from Python.
        is_ours: whether a cell's source only talks to the agent.
    """

    def __init__(
        self,
        shell: Any,
        settings: Settings,
        is_prompt_notebook: bool,
        is_ours: Callable[[str], bool],
    ) -> None:
        self._shell, self._settings = shell, settings
        self._is_prompt_notebook = is_prompt_notebook
        self.recorder = Recorder(shell, is_ours)
        self.enabled = settings.context
        self.ration = _ration(settings)
        self._told: dict[str, Told] = {}

    def gather(self, request: Request, folder: Path) -> Gathered:
        """Read all that could go along; runs on the user's thread."""
        if not self.enabled:
            request = replace(request, context=False)
        return gather(request, self._surface(folder))

    def assemble(
        self, gathered: Gathered, session_id: str, folder: Path, capabilities: Capabilities
    ) -> Assembled:
        """Choose what goes along to a session; may run on the agent's thread."""
        told = self._told.get(session_id, NOTHING)
        return assemble(
            gathered,
            told.cells,
            "" if told.instructions else self._instructions(folder),
            capabilities,
            self.ration,
            Masker(os.environ),
        )

    def was_told(self, session_id: str, assembled: Assembled) -> None:
        """The agent has received this; what is unchanged is not sent again."""
        before = self._told.pop(session_id, NOTHING)
        self._told[session_id] = Told(True, {**before.cells, **assembled.sent})
        while len(self._told) > KEPT_SESSIONS:
            del self._told[next(iter(self._told))]

    def close(self) -> None:
        """Record nothing any more."""
        self.recorder.close()

    def _surface(self, folder: Path) -> Surface:
        notebook = notebook_path(self._shell)
        parent = self._shell.kernel.get_parent() if hasattr(self._shell, "kernel") else {}
        return Surface(
            self.recorder.cells,
            self._shell.user_ns,
            folder,
            notebook,
            str(parent.get("metadata", {}).get("cellId", "")),
        )

    def _instructions(self, folder: Path) -> str:
        files = (Path(jupyter_config_dir()) / "agy_kernel" / NAME, folder / NAME)
        return instructions(self._is_prompt_notebook, files if self._settings.instructions else ())


def notebook_path(shell: Any) -> Path | None:
    """The notebook's file: as VS Code tells it, or as Jupyter Server did at the start."""
    told = shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", "")
    path = Path(str(told))
    return path if path.is_absolute() and path.suffix == ".ipynb" else None


def _ration(settings: Settings) -> Ration:
    return Ration(
        Budget(settings.context_bytes, settings.output_bytes),
        Limits(
            settings.image_bytes, settings.images_bytes, settings.images, settings.image_side
        ),
    )

