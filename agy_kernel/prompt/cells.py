"""What ran in the notebook, as values."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

OutputKind = Literal["stdout", "stderr", "display", "result"]
# At the beginning, or below a cell magic, which must stand there itself.
PRIVATE_LINE = re.compile(r"\s*(?:%%[^\n]*\s*)?#\s*agy:\s*private\b", re.IGNORECASE)
PRIVATE_TAG = "agy-private"
WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class CellOutput:
    """One output of a cell: its text, and the bytes of its picture if it has one."""

    kind: OutputKind
    text: str = ""
    picture: bytes | None = field(default=None, repr=False)
    display_id: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that has run, or one of a saved notebook.

    Args:
        id: the front end's cell id, or ``in-<count>`` where it tells none.
        count: the number in brackets beside it.
        source: as it was typed.
        outputs: what it showed, in order.
        error: its traceback as text, empty if it did not fail.
        seconds: how long it ran; None where that is not known.
        tags: the cell's tags.
        language: of the source.
        fingerprint: the same for the same source, outputs and error, whatever its number and time.
    """

    id: str
    count: int
    source: str
    outputs: tuple[CellOutput, ...] = ()
    error: str = ""
    seconds: float | None = None
    tags: tuple[str, ...] = ()
    language: str = "python"
    fingerprint: str = field(init=False, compare=False, default="")

    def __post_init__(self) -> None:
        texts = [self.source, self.error, *(f"{o.kind}:{o.text}" for o in self.outputs)]
        object.__setattr__(self, "fingerprint", fingerprint(*texts, *self.pictures))

    @property
    def is_private(self) -> bool:
        """Whether the user said that this cell and its outputs stay here."""
        return PRIVATE_TAG in self.tags or PRIVATE_LINE.match(self.source) is not None

    @property
    def pictures(self) -> tuple[bytes, ...]:
        """The bytes of its pictures, in order."""
        return tuple(o.picture for o in self.outputs if o.picture is not None)


def fingerprint(*parts: str | bytes) -> str:
    """The same for the same parts, in any process."""
    digest = blake2b(digest_size=12)
    for part in parts:
        data = part.encode("utf-8", "replace") if isinstance(part, str) else part
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def words(source: str) -> list[str]:
    """What could be names of variables in a source, each once, in order."""
    return list(dict.fromkeys(WORD.findall(source)))
