"""One turn, as a reply sees it: what can be said, shown, asked and waited for."""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
from collections.abc import Iterator, Sequence
from typing import Any

from ...acp.jsonrpc import Peer, Writer
from ...errors import RequestFailed
from .behaviour import Behaviour
from .sessions import Session, Store

# A delta ends where it ends, in the middle of a word too, as RC01's do.
DELTA_LENGTHS = (9, 4, 13, 7, 17, 2, 11, 15, 5, 12)
LONG_TEXT = 3_500  # letters; with every so many the deltas grow, so that no text takes for ever
BATCH_BYTES = 48 * 1024
CONTEXT_WINDOW = 1_048_576
CHARACTERS_PER_TOKEN = 4

# RC01 offers once-only options.
ALLOW_OR_DENY = (
    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
    {"optionId": "deny", "name": "Deny", "kind": "reject_once"},
)


class Turn:
    """A turn that runs.

    Args:
        peer: the connection to the client.
        out: its raw end, for frames that a ``Peer`` would not send.
        session: the session that was prompted.
        store: where plans are put.
        prompt: the content blocks as received.
        behaviour: how to send.
    """

    def __init__(
        self,
        peer: Peer,
        out: Writer,
        session: Session,
        store: Store,
        prompt: Sequence[dict[str, Any]],
        behaviour: Behaviour,
    ) -> None:
        self.peer, self.out = peer, out
        self.session, self.store = session, store
        self.prompt, self.behaviour = prompt, behaviour
        # Texts before the last one are what a client sends along with the prompt.
        self.text = next((str(b.get("text", "")) for b in reversed(prompt) if _is_text(b)), "")
        self.exchange = session.begin(self.text)
        self.stop_reason = "end_turn"
        self.late: list[dict[str, Any]] = []
        self.wants_sign_out = False
        self._known: set[str] = set()

    # -- saying

    def update(self, kind: str, /, **fields: Any) -> None:
        """Send a ``session/update``."""
        update = {**fields, "sessionUpdate": kind}
        self.peer.notify("session/update", {"sessionId": self.session.id, "update": update})

    def chunk(self, text: str, kind: str = "agent_message_chunk") -> None:
        """Send one chunk of text."""
        self.update(kind, content={"text": text, "type": "text"})
        if kind == "agent_message_chunk":
            self.exchange.agent += text

    async def say(self, text: str, kind: str = "agent_message_chunk") -> None:
        """Send a text as the flags say: in deltas, or whole."""
        if self.behaviour.whole_text:
            self.chunk(text, kind)
            return
        for delta in deltas(text):
            self.chunk(delta, kind)
            await asyncio.sleep(self.behaviour.chunk_delay)

    async def think(self, text: str) -> None:
        """Send a thought."""
        await self.say(text, "agent_thought_chunk")

    async def flood(self, n: int, text: str) -> None:
        """Send the same chunk ``n`` times, as fast as the client reads."""
        content = {"text": text, "type": "text"}
        update = {"content": content, "sessionUpdate": "agent_message_chunk"}
        params = {"sessionId": self.session.id, "update": update}
        message = {"jsonrpc": "2.0", "method": "session/update", "params": params}
        frame = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        batch = max(1, BATCH_BYTES // len(frame))
        for start in range(0, n, batch):
            size = min(batch, n - start)
            self.out.write(frame * size)
            self.exchange.agent += text * size
            await asyncio.sleep(0)  # the loop must see a cancel

    # -- tool calls

    def tool_id(self, style: str = "hex") -> str:
        """A new tool call's id, in one of Antigravity's forms: hex, step, call, interaction."""
        match style:
            case "step":
                return f"{self.session.id}:{self.session.next_step()}"
            case "call":
                return f"call_{859_000 + self.session.next_step()}"
            case "interaction":
                return f"interaction_{secrets.token_hex(16)}"
        return secrets.token_hex(16)

    def tool(self, **fields: Any) -> None:
        """Announce a tool call, or update one that is known."""
        tool_id = str(fields.get("toolCallId"))
        self.update("tool_call_update" if tool_id in self._known else "tool_call", **fields)
        self._known.add(tool_id)

    async def ask(
        self, tool_call: dict[str, Any], options: Sequence[dict[str, str]] = ALLOW_OR_DENY
    ) -> str | None:
        """Ask for permission; returns the chosen option's id, None for none."""
        params = {"sessionId": self.session.id, "toolCall": tool_call, "options": list(options)}
        # Awaited bare, so that a cancelled turn leaves its id pending: the late answer is expected.
        _, answer = self.peer.call("session/request_permission", params)
        try:
            outcome = (await answer)["outcome"]
            return str(outcome["optionId"]) if outcome["outcome"] == "selected" else None
        except (RequestFailed, KeyError, TypeError):
            return None

    # -- the end

    def result(self) -> dict[str, Any]:
        """The prompt's answer."""
        if not self.behaviour.usage:
            return {"stopReason": self.stop_reason}
        usage = self._usage()
        self.update("usage_update", used=usage["totalTokens"], size=CONTEXT_WINDOW)
        return {"stopReason": self.stop_reason, "usage": usage}

    def _usage(self) -> dict[str, int]:
        received = sum(len(e.user) + len(e.agent) for e in self.session.record.exchanges)
        output = len(self.exchange.agent) // CHARACTERS_PER_TOKEN
        total = received // CHARACTERS_PER_TOKEN
        return {"inputTokens": total - output, "outputTokens": output, "totalTokens": total}


def deltas(text: str) -> Iterator[str]:
    """Cut a text into pieces, the same way every time; those of a long text are longer."""
    start, growth = 0, 1 + len(text) // LONG_TEXT
    for length in itertools.cycle(DELTA_LENGTHS):
        if start >= len(text):
            return
        yield text[start : start + length * growth]
        start += length * growth


def _is_text(block: dict[str, Any]) -> bool:
    return block.get("type") == "text" and isinstance(block.get("text"), str)
