"""The content blocks of a prompt: the only place that builds them.

Images first, then resources, then text (protocol: ``ContentBlock``). What the agent did not say it
can take is sent as text instead, never silently dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..abilities import Capabilities
from .digest import Resource
from .images import Picture
from .render import fenced
from .tidy import encodable, size

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parcel:
    """Everything that goes along with a prompt.

    Args:
        text: the prompt itself.
        instructions: the block for the first prompt of a session; empty later.
        resources: in order of worth.
        pictures: named ones first, then newest first.
        missing: labels of pictures that cannot be sent.
    """

    text: str
    instructions: str = ""
    resources: Sequence[Resource] = ()
    pictures: Sequence[Picture] = ()
    missing: Sequence[str] = ()


def build(parcel: Parcel, capabilities: Capabilities) -> tuple[list[Block], list[str]]:
    """The blocks, and a notice for each thing that could not go as what it is.

    Args:
        capabilities: what the agent says that it takes.
    """
    unseen = [] if capabilities.image else [picture.label for picture in parcel.pictures]
    texts = [*_stand_ins([*parcel.missing, *unseen]), parcel.instructions, parcel.text]
    blocks = [picture.block() for picture in parcel.pictures] if capabilities.image else []
    if capabilities.embedded_context:
        blocks += [_resource(resource) for resource in parcel.resources]
    elif parcel.resources:
        texts.insert(0, "\n\n".join(f"{r.uri}\n{fenced(r.text)}" for r in parcel.resources))
    blocks += [{"type": "text", "text": encodable(text)} for text in texts if text]
    return blocks, [f"{label} is not sent: this agent takes no images" for label in unseen]


def described(parcel: Parcel, capabilities: Capabilities) -> str:
    """What went along, in a few words for the footer; empty when nothing did."""
    pictures = parcel.pictures if capabilities.image else ()
    kinds = [resource.kind for resource in parcel.resources]
    counts = [(kinds.count(kind), kind) for kind in ("cell", "variable", "file")]
    things = [
        f"{n} {what}{'s' if n != 1 else ''}" for n, what in [*counts, (len(pictures), "image")] if n
    ]
    volume = sum(size(r.text) for r in parcel.resources) + sum(len(p.data) for p in pictures)
    return f"sent {', '.join([*things, f'{volume / 1000:.1f} kB'])}" if volume else ""


def _stand_ins(labels: Sequence[str]) -> list[str]:
    return [f"[A picture that you cannot see: {label}]" for label in labels]


def _resource(resource: Resource) -> Block:
    return {
        "type": "resource",
        "resource": {
            "uri": resource.uri,
            "mimeType": resource.mime_type,
            "text": resource.text,
        },
    }
