"""The content blocks of a prompt: the only place that builds them."""

from __future__ import annotations

from typing import Any


def text_prompt(text: str) -> list[dict[str, Any]]:
    """The blocks of a prompt that is just text (protocol: ``ContentBlock``, type ``text``)."""
    return [{"type": "text", "text": text}]
