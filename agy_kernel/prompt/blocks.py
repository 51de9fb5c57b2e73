"""The content blocks of a prompt: the only place that builds them.

Images first, then resources, then text (protocol: ``ContentBlock``). What the agent did not say it
can take is sent as text instead, never silently dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..events import Capabilities
from .digest import Resource, fenced
from .images import Picture
from .tidy import size

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parcel:
    """Everything that goes along with a prompt.

    Args:
        text: the prompt itself.
        instructions: the block for the first prompt of a session; empty later.
        resources: in order of worth.
        pictures: newest first.
    """

    text: str
    instructions: str = ""
    resources: Sequence[Resource] = ()
    pictures: Sequence[Picture] = ()


def build(parcel: Parcel, capabilities: Capabilities) -> tuple[list[Block], list[str]]:
    """The blocks, and a notice for each thing that could not go as what it is.

    Args:
        capabilities: what the agent says that it takes.
    """
    notices: list[str] = []
    blocks: list[Block] = []
    if capabilities.image:
        blocks += [picture.block() for picture in parcel.pictures]
    else:
        notices += [f"{p.label} is not sent: this agent takes no images" for p in parcel.pictures]
        blocks += [_stand_in(p) for p in parcel.pictures]
    if capabilities.embedded_context:
        blocks += [_resource(r) for r in parcel.resources]
    elif parcel.resources:
        blocks.append(_text("\n\n".join(_as_text(r) for r in parcel.resources)))
    blocks += [_text(t) for t in (parcel.instructions, parcel.text) if t]
    return blocks, notices


def described(parcel: Parcel) -> str:
    """What went along, in a few words for the footer; empty when nothing did."""
    cells = sum("#" in r.uri and r.uri.startswith("notebook:") for r in parcel.resources)
    others = len(parcel.resources) - cells
    counts = ((cells, "cell"), (others, "file"), (len(parcel.pictures), "image"))
    things = [f"{n} {what}{'s' if n != 1 else ''}" for n, what in counts if n]
    if not things:
        return ""
    volume = sum(size(r.text) for r in parcel.resources)
    volume += sum(len(p.data) for p in parcel.pictures)
    return f"sent {', '.join(things)}, {volume / 1000:.1f} kB"


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _resource(resource: Resource) -> Block:
    return {
        "type": "resource",
        "resource": {
            "uri": resource.uri,
            "mimeType": resource.mime_type,
            "text": resource.text,
        },
    }


def _as_text(resource: Resource) -> str:
    return f"{resource.uri}\n{fenced(resource.text)}"


def _stand_in(picture: Picture) -> Block:
    return _text(f"[An image was here that this agent takes none of: {picture.label}]")
