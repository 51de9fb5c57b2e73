"""Where a turn is shown: the folder, the notebook, and how much of pictures it may still hold."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from .album import Album


@dataclass(frozen=True, slots=True)
class Place:
    """Where a turn is shown.

    Args:
        folder: the session's folder, absolute; paths inside it are shown relative to it.
        notebook: the file of the notebook that the cell is in; None where nobody tells.
        album: the pictures and sounds of the turn.
    """

    folder: str
    notebook: Path | None = None
    album: Album = field(default_factory=Album, compare=False)

    @property
    def prefix(self) -> str:
        """What paths inside begin with; what is inside the whole disk stays absolute."""
        inside = self.folder.rstrip(os.sep)
        return inside + os.sep if inside else ""

    def relative(self, path: str) -> str:
        """A path as seen from the folder, if it lies inside."""
        return path.removeprefix(self.prefix)

    def is_open(self, path: str) -> bool:
        """Whether this is the notebook that the cell is in, under whatever name."""
        if self.notebook is None:
            return False
        return os.path.realpath(Path(self.folder, path)) == os.path.realpath(self.notebook)

    def inside(self, path: str) -> Path | None:
        """The file behind a path if it lies in the folder; links are followed first."""
        try:
            file = Path(os.path.realpath(Path(self.folder, path)))
            return file if file.is_relative_to(os.path.realpath(self.folder)) else None
        except (OSError, ValueError):  # no path at all: a NUL byte, a loop of links
            return None
