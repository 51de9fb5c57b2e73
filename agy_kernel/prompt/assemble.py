"""What of all that was gathered goes along: chosen, within the limits, for one agent and session.

Pure, and so it can run on the agent's thread, where session and capabilities are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..abilities import Capabilities
from ..secrets import Masker
from .blocks import Block, Parcel, build, described
from .cells import Cell
from .digest import Budget, Surroundings, digest
from .gather import Gathered
from .images import Limits, choose
from .tidy import cut

INSTRUCTIONS = 32_000  # bytes


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
        sent: what the session was told with it: add it to what it was told before.
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
    around = Surroundings(gathered.uri, gathered.mentioned, gathered.prose, gathered.variables)
    chosen = digest(gathered.cells, around, sent, ration.text, masker)
    told = [cell for cell in reversed(gathered.cells) if cell.id in chosen.sent]
    pictures, refused = choose(_candidates(gathered, told), ration.pictures)
    missing = [label for label, _ in refused]
    told_once = cut(masker.mask(instructions), INSTRUCTIONS)
    parcel = Parcel(gathered.text, told_once, chosen.resources, pictures, missing)
    blocks, unseen = build(parcel, capabilities)
    left = f"{chosen.left_out} more did not fit" if chosen.left_out else ""
    return Assembled(
        blocks,
        [
            *gathered.notices,
            *(f"{label} is not sent: {why}" for label, why in refused),
            *(f"{picture.label}: {note}" for picture in pictures for note in picture.notes),
            *unseen,
        ],
        ", ".join(part for part in (described(parcel, capabilities), left) if part),
        chosen.sent,
    )


def _candidates(gathered: Gathered, told: Iterable[Cell]) -> list[tuple[str, bytes]]:
    """Labels and bytes of the named pictures, then of the shown cells', newest first; each once."""
    labels = dict[bytes, str]()
    for label, data in gathered.pictures:
        labels.setdefault(data, label)
    for cell in told:
        for data in reversed(cell.pictures):
            labels.setdefault(data, f"the picture of cell {cell.count}")
    return [(label, data) for data, label in labels.items()]
