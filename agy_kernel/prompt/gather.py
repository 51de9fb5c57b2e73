"""Everything that could go along with a prompt, read on the user's thread; nothing is chosen yet.

The user's objects are looked at here and nowhere else. What cannot be read becomes a notice, and
the prompt goes without it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any
from urllib.parse import quote

from ..secrets import Masker
from . import files, mentions
from .cells import Cell, words
from .digest import MentionedCell, Resource
from .files import Unreadable
from .mentions import Mention
from .notebooks import markdown_near, read
from .objects import Unshowable, is_large, picture_of, text_of
from .variables import Describer

MOST_VARIABLES = 60
MOST_CELLS = 200  # whose variables are described
NOT_TOLD = (ModuleType, FunctionType, BuiltinFunctionType, type)
IPYTHONS_OWN = {"In", "Out", "exit", "quit"}


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked to be sent.

    Args:
        text: the prompt.
        values: named expressions and their values (``--with``, arguments of ``ask``).
        images: paths of pictures.
        cells: numbers of the cells to send, and no others; None leaves it to what changed.
        context: whether the notebook goes along unasked.
        notices: what could not even be asked for, to be said with the rest.
    """

    text: str
    values: Sequence[tuple[str, Any]] = ()
    images: Sequence[str] = ()
    cells: range | None = None
    context: bool = True
    notices: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Surface:
    """What can be read.

    Args:
        cells: what ran, oldest first.
        names: the user's variables.
        folder: relative paths start here.
        notebook: the notebook's file, if known.
        cell_id: of the cell that asks.
        masker: masks secrets in values before they are cut.
    """

    cells: Sequence[Cell]
    names: Mapping[str, Any]
    folder: Path
    notebook: Path | None = None
    cell_id: str = ""
    masker: Masker = field(default_factory=lambda: Masker(os.environ))

    @property
    def uri(self) -> str:
        """The notebook's address."""
        path = self.notebook.name if self.notebook else "notebook.ipynb"
        return f"notebook:///{quote(path)}"


@dataclass(slots=True)
class Gathered:
    """What was read.

    Args:
        text: the prompt.
        uri: the notebook's address.
        cells: the cells that may be told of, unasked.
        mentioned: texts and cells that the prompt names.
        pictures: pictures that it names: label and bytes.
        prose: the saved notebook's Markdown near the prompt.
        variables: a line for each variable that those cells use.
        notices: what the user should know.
    """

    text: str
    uri: str
    cells: Sequence[Cell] = ()
    mentioned: list[Resource | MentionedCell] = field(default_factory=list)
    pictures: list[tuple[str, bytes]] = field(default_factory=list)
    prose: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


def gather(request: Request, surface: Surface) -> Gathered:
    """Read what the request names, and the notebook around it."""
    gathering = _Gathering(surface, mentions.unescape(request.text))
    gathering.found.notices += request.notices
    if request.cells is not None:
        gathering.add_numbered(request.cells)
    elif request.context:
        gathering.add_notebook_around()
    for name, value in request.values:
        gathering.attempt(name, gathering.add_value, name, value)
    for path in request.images:
        gathering.attempt(path, gathering.add_image, path)
    for mention in mentions.find(request.text):
        gathering.attempt(f"@{mention.name}", gathering.add_mention, mention)
    gathering.add_variables()
    return gathering.found


class _Gathering:
    def __init__(self, surface: Surface, text: str) -> None:
        self._surface = surface
        self._describer = Describer(surface.masker)
        self.found = Gathered(text, surface.uri)

    def attempt(self, what: str, add: Callable[..., object], *arguments: Any) -> None:
        """Add something; if that cannot be, say so."""
        try:
            add(*arguments)
        except (Unreadable, Unshowable) as problem:
            self._say(f"{what} is not sent: {problem}")

    # -- the notebook

    def add_numbered(self, wanted: range) -> None:
        cells = [cell for cell in self._surface.cells if cell.count in wanted]
        if not self._add_cells(cells[::-1]):
            self._say(f"no cell with a number from {wanted[0]} to {wanted[-1]} has run")

    def add_notebook_around(self) -> None:
        self.found.cells = self._surface.cells
        if self._surface.notebook is not None:
            self.found.prose = markdown_near(self._surface.notebook, self._surface.cell_id)

    def add_variables(self) -> None:
        """A line for each variable that the cells use, the last ones' first."""
        ours = (m for m in self.found.mentioned if isinstance(m, MentionedCell))
        cells = [m.cell for m in ours if m.notebook == self.found.uri]
        cells += reversed(self.found.cells[-MOST_CELLS:])
        names = {word: None for cell in cells if not cell.is_private for word in words(cell.source)}
        told = (name for name in names if self._is_told(name))
        self.found.variables = {
            name: self._describer.line(name, self._surface.names[name])
            for name in islice(told, MOST_VARIABLES)
        }

    def _is_told(self, name: str) -> bool:
        if name not in self._surface.names or name.startswith("_") or name in IPYTHONS_OWN:
            return False
        # Not isinstance: it would ask the value for its class.
        is_code = issubclass(type(self._surface.names[name]), NOT_TOLD)
        return not is_code and name not in self._private_words

    @cached_property
    def _private_words(self) -> set[str]:
        private = (cell for cell in self._surface.cells if cell.is_private)
        return {word for cell in private for word in words(cell.source)}

    # -- what is named

    def add_value(self, name: str, value: Any) -> None:
        picture = picture_of(value)
        if picture is not None:
            self.found.pictures.append((name, picture))
            return
        text = text_of(name, value, self._describer)
        if is_large(value):
            self._say(f"{name} is large: its type, its size and its first values are sent")
        uri = f"{self.found.uri}#variable-{quote(name)}"
        self.found.mentioned.append(Resource(uri, text, "text/plain", "variable"))

    def add_image(self, name: str) -> None:
        path = files.find(self._surface.folder, name)
        if path is None:
            raise Unreadable("there is no such file")
        self.found.pictures.append((path.name, files.read_bytes(path)))

    def add_mention(self, mention: Mention) -> None:
        candidates = [mention, mention.shorter]
        if not any(self._add_known(candidate) for candidate in candidates if candidate):
            name = (mention.shorter or mention).name
            self._say(f"@{name} names nothing here, so it stays text")

    def _add_known(self, mention: Mention) -> bool:
        """Add what a mention names; false if it names nothing."""
        cells = self._surface.cells
        if mention.kind == "error":
            return self._add_cells([cell for cell in cells if cell.error][-1:])
        if mention.kind == "cell" and mention.cell == "last":
            return self._add_cells(cells[-1:])
        if mention.kind == "cell":
            return self._add_cells([cell for cell in cells if str(cell.count) == mention.cell])
        if mention.name in self._surface.names:
            self.add_value(mention.name, self._surface.names[mention.name])
            return True
        path = files.find(self._surface.folder, mention.path or mention.name)
        if path is None:
            return False
        if mention.kind == "notebook":
            self._add_notebook(path, mention)
        else:
            self._add_path(path)
        return True

    def _add_cells(self, cells: Sequence[Cell]) -> bool:
        for cell in cells:
            if cell.is_private:
                self._say(f"cell {cell.count} is marked private and is not sent")
            else:
                self._add_cell(self.found.uri, cell, f"cell {cell.count}")
        return bool(cells)

    def _add_cell(self, notebook: str, cell: Cell, label: str) -> None:
        self.found.mentioned.append(MentionedCell(notebook, cell))
        self.found.pictures += [(f"the picture of {label}", picture) for picture in cell.pictures]

    def _add_notebook(self, path: Path, mention: Mention) -> None:
        cells = read(path, int(mention.cell) if mention.cell else None)
        public = [cell for cell in cells if not cell.is_private]
        for cell in public:
            label = f"cell {cell.count} of {mention.path}"
            self._add_cell(f"notebook:///{quote(mention.path)}", cell, label)
        if len(public) < len(cells):
            self._say(f"{mention.path} has private cells, which are not sent")

    def _add_path(self, path: Path) -> None:
        uri = path.resolve().as_uri()
        if path.is_dir():
            text = files.list_folder(path)
            self.found.mentioned.append(Resource(f"{uri}/", text, "text/plain", "file"))
            return
        data = files.read_bytes(path)
        if files.is_picture(data):
            self.found.pictures.append((path.name, data))
        else:
            text = files.as_text(data)
            self.found.mentioned.append(Resource(uri, text, "text/plain", "file"))

    def _say(self, notice: str) -> None:
        if notice not in self.found.notices:
            self.found.notices.append(notice)
