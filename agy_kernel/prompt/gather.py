"""Everything that could go along with a prompt, read on the user's thread; nothing is chosen yet.

The user's objects are looked at here and nowhere else. What cannot be read becomes a notice, and the
prompt goes without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any
from urllib.parse import quote

from . import files, mentions
from .cells import Cell
from .digest import MentionedCell, Resource
from .mentions import Mention
from .objects import Unshowable, picture_of, text_of
from .variables import describe

WORD = re.compile(r"[^\W\d]\w*")
MOST_VARIABLES = 60
NOT_TOLD = (ModuleType, FunctionType, type)
PROBLEMS = (files.Unreadable, Unshowable)


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked to be sent.

    Args:
        text: the prompt.
        values: named expressions and their values (``--with``, arguments of ``ask``).
        images: paths of pictures.
        cells: numbers of the cells to send, and no others; None leaves it to what changed.
        context: whether the notebook goes along unasked.
    """

    text: str
    values: Sequence[tuple[str, Any]] = ()
    images: Sequence[str] = ()
    cells: range | None = None
    context: bool = True


@dataclass(frozen=True, slots=True)
class Surface:
    """What can be read.

    Args:
        cells: what ran, oldest first.
        names: the user's variables.
        folder: relative paths start here.
        notebook: the notebook's file, if known.
        cell_id: of the cell that asks.
    """

    cells: Sequence[Cell]
    names: Mapping[str, Any]
    folder: Path
    notebook: Path | None = None
    cell_id: str = ""

    @property
    def uri(self) -> str:
        """The notebook's address."""
        path = self.notebook.name if self.notebook else "notebook.ipynb"
        return f"notebook:///{quote(path)}"


@dataclass(slots=True)
class Gathered:
    """What was read.

    Args:
        cells: the cells that may be told of.
        forced: send those cells whether or not they were sent before.
        mentioned: texts that the prompt names.
        pictures: pictures that it names: label and bytes.
    """

    text: str
    uri: str
    cells: Sequence[Cell] = ()
    forced: bool = False
    mentioned: list[Resource | MentionedCell] = field(default_factory=list)
    pictures: list[tuple[str, bytes]] = field(default_factory=list)
    prose: str = ""
    variables: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def gather(request: Request, surface: Surface) -> Gathered:
    """Read what the request names, and the notebook around it."""
    found = Gathered(mentions.unescape(request.text), surface.uri)
    _gather_cells(request, surface, found)
    for name, value in request.values:
        _try(found, f"{name} is not sent", _add_value, found, name, value)
    for path in request.images:
        _try(
            found,
            f"{path} is not sent",
            _add_picture,
            found,
            surface.folder / Path(path).expanduser(),
        )
    for mention in mentions.find(request.text):
        _try(found, f"@{mention.name} is not sent", _add_mention, found, mention, surface)
    return found


def _gather_cells(request: Request, surface: Surface, found: Gathered) -> None:
    if request.cells is not None:
        wanted = request.cells
        found.cells = [c for c in surface.cells if c.count in wanted]
        found.forced = True
        if not found.cells:
            found.notices.append(f"no cell with a number from {wanted[0]} to {wanted[-1]} has run")
    elif request.context:
        found.cells = surface.cells
        if surface.notebook is not None:
            found.prose = files.markdown_near(surface.notebook, surface.cell_id)
    found.variables = variable_lines(found.cells, surface.names)


def variable_lines(cells: Iterable[Cell], names: Mapping[str, Any]) -> list[str]:
    """A line for each variable that the cells use, the last ones' first."""
    lines: dict[str, str] = {}
    for cell in reversed(list(cells)):
        if cell.is_private:
            continue
        for word in WORD.findall(cell.source):
            if len(lines) >= MOST_VARIABLES:
                return list(lines.values())
            if word in names and word not in lines and _is_told(word, names[word]):
                lines[word] = describe(word, names[word])
    return list(lines.values())


def _is_told(name: str, value: Any) -> bool:
    return (
        not name.startswith("_") and name not in ("In", "Out") and not isinstance(value, NOT_TOLD)
    )


def _try(found: Gathered, what: str, read: Any, *arguments: Any) -> None:
    try:
        read(*arguments)
    except PROBLEMS as problem:
        found.notices.append(f"{what}: {problem}")


# -- what a name can stand for


def _add_mention(found: Gathered, mention: Mention, surface: Surface) -> None:
    candidates = [mention] + ([mention.shorter] if mention.shorter else [])
    if not any(_add_known(found, candidate, surface) for candidate in candidates):
        found.notices.append(f"@{mention.name} names nothing here, so it stays text")


def _add_known(found: Gathered, mention: Mention, surface: Surface) -> bool:
    if mention.kind == "error":
        return _add_cells(found, [c for c in surface.cells if c.error][-1:])
    if mention.kind == "cell":
        ran = list(surface.cells)
        last = mention.cell == "last"
        return _add_cells(
            found, ran[-1:] if last else [c for c in ran if str(c.count) == mention.cell]
        )
    if mention.kind == "notebook":
        return _add_notebook(found, surface.folder / Path(mention.path).expanduser(), mention)
    if mention.name in surface.names:
        _add_value(found, mention.name, surface.names[mention.name])
        return True
    return _add_path(found, surface.folder / Path(mention.name).expanduser())


def _add_cells(found: Gathered, cells: Sequence[Cell]) -> bool:
    public = [cell for cell in cells if not cell.is_private]
    for cell in public:
        found.mentioned.append(MentionedCell(found.uri, cell))
        found.pictures += [(f"the picture of cell {cell.count}", p) for p in cell.pictures]
    if cells and not public:
        found.notices.append(f"cell {cells[0].count} is marked private and is not sent")
    return bool(cells)


def _add_notebook(found: Gathered, path: Path, mention: Mention) -> bool:
    if not path.exists():
        return False
    uri = f"notebook:///{quote(mention.path)}"
    for cell in files.read_notebook(path, mention.cell):
        if cell.is_private:
            continue
        found.mentioned.append(MentionedCell(uri, cell))
        found.pictures += [(f"a picture of {mention.path}", p) for p in cell.pictures]
    return True


def _add_value(found: Gathered, name: str, value: Any) -> None:
    picture = picture_of(value)
    if picture is not None:
        found.pictures.append((name, picture))
    else:
        text = text_of(name, value)
        found.mentioned.append(Resource(f"{found.uri}#variable-{quote(name)}", text, "text/plain"))


def _add_path(found: Gathered, path: Path) -> bool:
    if not path.exists():
        return False
    if path.is_dir():
        text = files.list_folder(path)
        found.mentioned.append(Resource(f"{path.resolve().as_uri()}/", text, "text/plain"))
    elif files.is_picture(path):
        _add_picture(found, path)
    else:
        text = files.read_text(path)
        found.mentioned.append(Resource(path.resolve().as_uri(), text, "text/plain"))
    return True


def _add_picture(found: Gathered, path: Path) -> None:
    found.pictures.append((path.name, files.read_bytes(path)))
