"""What ran in the notebook, as values."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

OutputKind = Literal["stdout", "stderr", "display", "result"]
PRIVATE_LINE = re.compile(r"\s*#\s*agy:\s*private\b", re.IGNORECASE)
PRIVATE_TAG = "agy-private"


@dataclass(frozen=True, slots=True)
class CellOutput:
    """One output of a cell: its text, and the bytes of its picture if it has one."""

    kind: OutputKind
    text: str = ""
    picture: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that has run.

    Args:
        id: the front end's cell id, or ``in-<count>`` where it tells none.
        count: the number in brackets beside it.
        source: as it was typed.
        outputs: what it showed, in order.
        error: its traceback as text, empty if it did not fail.
        seconds: how long it ran.
        tags: the cell's tags.
        fingerprint: the same for the same source, outputs and error, whatever its number and time.
    """

    id: str
    count: int
    source: str
    outputs: tuple[CellOutput, ...] = ()
    error: str = ""
    seconds: float = 0.0
    tags: tuple[str, ...] = ()
    fingerprint: str = field(init=False, compare=False, default="")

    @property
    def is_private(self) -> bool:
        """Whether the user said that this cell and its outputs stay here."""
        return PRIVATE_TAG in self.tags or PRIVATE_LINE.match(self.source) is not None

    @property
    def pictures(self) -> tuple[bytes, ...]:
        """The bytes of its pictures, in order."""
        return tuple(o.picture for o in self.outputs if o.picture is not None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fingerprint", self._digest())

    def _digest(self) -> str:
        digest = blake2b(digest_size=12)
        for part in (self.source, self.error, *(f"{o.kind}:{o.text}" for o in self.outputs)):
            digest.update(part.encode("utf-8", "replace") + b"\0")
        for picture in self.pictures:
            digest.update(picture)
        return digest.hexdigest()
