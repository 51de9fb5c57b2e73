"""What a turn returns to Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .conversation.toolcalls import ToolCall
from .conversation.transcript import Transcript
from .display.code import CodeBlock, code_blocks
from .display.footer import Circumstances
from .display.markdown import safe
from .events import Usage


@dataclass(frozen=True)
class Reply:
    """An agent's reply; shows itself as Markdown.

    Args:
        text: all that the agent said, as Markdown.
        tool_calls: what it did.
        stop_reason: why the turn ended.
        usage: tokens, where the agent reports them.
        seconds: how long it took.
        session_id: the session, to resume it.
    """

    text: str
    tool_calls: Sequence[ToolCall] = field(default=(), repr=False)
    stop_reason: str = "end_turn"
    usage: Usage | None = None
    seconds: float = 0.0
    session_id: str = ""

    @classmethod
    def of(cls, transcript: Transcript, how: Circumstances) -> Reply:
        """The reply of a turn that has ended."""
        return cls(
            transcript.text,
            transcript.tool_calls,
            transcript.stop_reason or "unknown",
            transcript.usage,
            how.seconds,
            how.session_id,
        )

    @property
    def code_blocks(self) -> list[CodeBlock]:
        """The reply's code blocks, without their fences."""
        return code_blocks(self.text)

    def __str__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return safe(self.text)
