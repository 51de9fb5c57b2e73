"""What of all that was gathered goes along: chosen, within the limits, for one agent and session.

Pure, and so it can run on the agent's thread, where session and capabilities are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..events import Capabilities
from .blocks import Block, Parcel, build, described
from .cells import Cell
from .digest import Budget, Surroundings, digest, unsent
from .gather import Gathered
from .images import Limits, NotAPicture, Picture, choose, prepare
from .secrets import Masker


@dataclass(frozen=True, slots=True)
class Ration:
    """How much of the notebook may go along with one prompt."""

    text: Budget = field(default_factory=Budget)
    pictures: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Assembled:
    """A prompt that is ready to be sent.

    Args:
        blocks: its content blocks.
        notices: what the user should know of what did not go along, or changed on the way.
        description: a few words for the footer.
        sent: cell id to fingerprint, of the cells among it.
    """

    blocks: Sequence[Block]
    notices: Sequence[str] = ()
    description: str = ""
    sent: Mapping[str, str] = field(default_factory=dict)


def assemble(
    gathered: Gathered,
    sent: Mapping[str, str],
    instructions: str,
    capabilities: Capabilities,
    ration: Ration,
    masker: Masker,
) -> Assembled:
    """Choose and build.

    Args:
        sent: what this session was told before.
        instructions: the block for a session's first prompt; empty later.
    """
    known = {} if gathered.forced else sent
    around = Surroundings(gathered.uri, gathered.mentioned, gathered.prose, gathered.variables)
    chosen = digest(gathered.cells, around, known, ration.text, masker)
    pictures, notices = _pictures(gathered, unsent(gathered.cells, known), ration.pictures)
    parcel = Parcel(gathered.text, instructions, chosen.resources, pictures)
    blocks, refused = build(parcel, capabilities)
    left = [f"{chosen.left_out} more did not fit"] if chosen.left_out else []
    return Assembled(
        blocks,
        [*gathered.notices, *notices, *refused],
        ", ".join(part for part in (described(parcel), *left) if part),
        chosen.sent,
    )


def _pictures(
    gathered: Gathered, new: Sequence[Cell], limits: Limits
) -> tuple[list[Picture], list[str]]:
    """Named pictures first, then the newest plots; each once."""
    candidates = list(gathered.pictures)
    for cell in reversed(new):
        candidates += [(f"the picture of cell {cell.count}", p) for p in reversed(cell.pictures)]
    ready: list[Picture] = []
    notices: list[str] = []
    for label, data in dict((data, (label, data)) for label, data in reversed(candidates)).values():
        try:
            ready.insert(0, prepare(data, label, limits))
        except NotAPicture as problem:
            notices.append(f"{label} is not sent as a picture: {problem}")
    chosen, dropped = choose(ready, limits)
    changed = [f"{p.label}: {note}" for p in chosen for note in p.notes]
    return chosen, [*notices, *dropped, *changed]
