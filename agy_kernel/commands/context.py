"""``%agy context``: what of the notebook goes along with a prompt."""

from __future__ import annotations

import json

from ..abilities import Capabilities
from ..host import Host
from ..prompt.gather import Request
from ..tables import fenced

# Before an agent has said what it takes; the ones that are known take all of it.
EVERYTHING = Capabilities(image=True, embedded_context=True)


def context(host: Host, words: list[str]) -> str:
    """Show what the next prompt would send, or say how much it may."""
    choice = words[0] if words else "show"
    if choice in ("on", "off"):
        host.context.is_on = choice == "on"
        return f"What runs in the notebook {'goes' if host.context.is_on else 'does not go'} along."
    if choice == "limit":
        host.context.limit = int(words[1])
        return f"At most {host.context.limit:,} bytes of text go along with a prompt."
    return _preview(host)


def fits(words: list[str]) -> bool:
    """One of the words, or a limit."""
    is_limit = len(words) == 2 and words[0] == "limit" and words[1].isdecimal()
    return not words or words in (["show"], ["on"], ["off"]) or is_limit


def _preview(host: Host) -> str:
    conversation = host.conversation
    engine = conversation.engine
    capabilities = engine.capabilities if engine is not None else EVERYTHING
    pack = host.pack(Request("(your prompt)"), conversation)
    assembled = pack.assemble(conversation.session_id or "", capabilities)
    blocks = json.dumps(assembled.blocks, ensure_ascii=False, indent=1)
    said = "\n".join(f"- {notice}" for notice in assembled.notices)
    return f"{assembled.description or 'only the prompt'}\n\n{said}\n\n{fenced(blocks, 'json')}"
