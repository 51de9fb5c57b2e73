"""What of the notebook goes along with a prompt, and what each session was told already."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_core.paths import jupyter_config_dir

from .abilities import Capabilities
from .conversation.store import Told
from .prompt.assemble import Assembled, Ration, assemble
from .prompt.digest import Budget
from .prompt.gather import Gathered, Request, Surface, gather
from .prompt.images import Limits
from .prompt.instructions import NAME, instructions
from .prompt.recorder import Recorder
from .secrets import Masker

if TYPE_CHECKING:
    from .settings import Settings

KEPT_SESSIONS = 50


NOTHING = Told()


class Context:
    """The notebook, as far as the agent may see it.

    Args:
        shell: the IPython shell, whose cells are recorded from now on; None in a plain script.
        is_prompt_notebook: whether a cell is a prompt, or one asks from Python.
        is_ours: whether a cell's source only talks to the agent.
    """

    def __init__(
        self, shell: Any, is_prompt_notebook: bool, is_ours: Callable[[str], bool]
    ) -> None:
        self._shell, self._is_prompt_notebook = shell, is_prompt_notebook
        self.recorder = Recorder(shell, is_ours) if shell is not None else None
        self.is_on: bool | None = None
        self.limit: int | None = None
        self._told: dict[tuple[str, str], Told] = {}

    def pack(self, request: Request, folder: str, settings: Settings, agent: str) -> Pack:
        """Read all that could go along with a prompt; runs on the user's thread.

        Args:
            agent: whose prompt it is; session ids are its own.
        """
        is_on = settings.context if self.is_on is None else self.is_on
        is_on = is_on and not _is_command(request.text)
        request = replace(request, context=request.context and is_on)
        gathered = gather(request, self._surface(Path(folder)))
        ration = self._ration(settings)
        return Pack(self, agent, gathered, Path(folder), ration, settings.instructions)

    def told(self, agent: str, session_id: str) -> Told:
        """What a session was told; another agent's may have the same id."""
        return self._told.get((agent, session_id), NOTHING)

    def was_told(self, agent: str, session_id: str, told: Told) -> None:
        """A session has received this: what is unchanged is not sent to it again."""
        before = self._told.pop((agent, session_id), NOTHING)
        instructions = before.instructions or told.instructions
        self._told[agent, session_id] = Told(instructions, {**before.cells, **told.cells})
        while len(self._told) > KEPT_SESSIONS:
            del self._told[next(iter(self._told))]

    def instructions(self, folder: Path, with_files: bool) -> str:
        """The block for a session's first prompt."""
        files = (own_folder() / NAME, folder / NAME)
        return instructions(self._is_prompt_notebook, files if with_files else ())

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """While the agent's own outputs are shown."""
        with self.recorder.paused() if self.recorder is not None else nullcontext():
            yield

    def close(self) -> None:
        """Record nothing any more."""
        if self.recorder is not None:
            self.recorder.close()

    def _surface(self, folder: Path) -> Surface:
        if self._shell is None or self.recorder is None:
            return Surface((), {}, folder)
        kernel = getattr(self._shell, "kernel", None)
        metadata = kernel.get_parent().get("metadata", {}) if kernel is not None else {}
        cells, names = self.recorder.cells, self._shell.user_ns
        cell_id = str(metadata.get("cellId", ""))
        return Surface(cells, names, folder, notebook_path(names), cell_id)

    def _ration(self, settings: Settings) -> Ration:
        total = settings.context_bytes if self.limit is None else self.limit
        pictures = Limits(
            settings.image_bytes, settings.images_bytes, settings.images, settings.image_side
        )
        return Ration(Budget(total, settings.output_bytes), pictures)


class Pack:
    """What could go along with one prompt, and, once the session is known, what does."""

    def __init__(
        self,
        context: Context,
        agent: str,
        gathered: Gathered,
        folder: Path,
        ration: Ration,
        with_files: bool,
    ) -> None:
        self._context, self._agent = context, agent
        self._gathered, self._folder = gathered, folder
        self._ration, self._with_files = ration, with_files
        self._session_id, self._brings_instructions = "", False
        self._assembled = Assembled(())

    @property
    def description(self) -> str:
        """What went along, in a few words."""
        return self._assembled.description

    def assemble(self, session_id: str, capabilities: Capabilities) -> Assembled:
        """Choose what goes along to a session; may run on the agent's thread."""
        told = self._context.told(self._agent, session_id)
        is_first = not told.instructions and not _is_command(self._gathered.text)
        first = self._instructions() if is_first else ""
        self._session_id, self._brings_instructions = session_id, is_first
        self._assembled = assemble(
            self._gathered, told.cells, first, capabilities, self._ration, Masker(os.environ)
        )
        return self._assembled

    def was_told(self) -> None:
        """The agent has received it."""
        if self._session_id:
            told = Told(self._brings_instructions, self._assembled.sent)
            self._context.was_told(self._agent, self._session_id, told)

    def _instructions(self) -> str:
        return self._context.instructions(self._folder, self._with_files)


def own_folder() -> Path:
    """The folder of the user's own settings and instructions, in Jupyter's config folder."""
    return Path(jupyter_config_dir()) / "agy_kernel"


def notebook_folder() -> str:
    """The folder of the notebook where Jupyter tells it, else the kernel's own."""
    notebook = os.environ.get("JPY_SESSION_NAME", "")
    folder = Path(notebook).parent
    return str(folder) if folder.is_absolute() and folder.is_dir() else str(Path.cwd())


def notebook_path(names: Mapping[str, Any]) -> Path | None:
    """The notebook's file: as VS Code tells it, or as Jupyter Server did at the start."""
    told = names.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", "")
    path = Path(str(told))
    return path if path.is_absolute() and path.suffix == ".ipynb" else None


def _is_command(text: str) -> bool:
    """Whether a prompt is one of the agent's own commands, which must stand first to be seen."""
    return text.lstrip().startswith("/")
