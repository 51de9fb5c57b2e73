"""The Anthropic Messages API, as Claude Code and opencode use it.

Source: the Messages API's streaming events.
"""

import json
from collections.abc import Iterator

from tests.agents.dialects import (
    USAGE,
    Json,
    Message,
    Part,
    Reply,
    Tool,
    new_id,
    pieces,
    texts,
    tool,
    written,
)


class Messages:
    """The Messages API: content is a string or a list of blocks."""

    def messages(self, body: Json) -> list[Message]:
        return [self._message(item) for item in body["messages"]]

    def _message(self, item: Json) -> Message:
        content: str | list[Json] = item["content"]
        blocks: list[Json] = (
            [{"type": "text", "text": content}] if isinstance(content, str) else content
        )
        sources = [block["source"] for block in blocks if block["type"] == "image"]
        images = tuple(source["data"] for source in sources if source["type"] == "base64")
        results = [block.get("content") for block in blocks if block["type"] == "tool_result"]
        result = written(results) if results else None
        return Message(item["role"] == "assistant", texts(blocks), images, result)

    def tools(self, body: Json) -> list[Tool]:
        return [tool(t["name"], t.get("input_schema")) for t in body.get("tools", [])]

    def reply(self) -> Reply:
        return MessagesReply()

    def error(self, status: int, message: str) -> Json:
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


class MessagesReply:
    """Content blocks, each started, streamed and stopped, in a message started and stopped."""

    def __init__(self) -> None:
        self._blocks = 0
        self._stop_reason = "end_turn"

    def begin(self) -> Iterator[Json]:
        message: Json = {"id": new_id("msg"), "type": "message", "role": "assistant", "content": []}
        message |= {"model": "scripted", "stop_reason": None, "stop_sequence": None}
        usage = {"input_tokens": USAGE.input, "cache_read_input_tokens": USAGE.cached}
        message["usage"] = usage | {"cache_creation_input_tokens": 0, "output_tokens": 1}
        yield {"type": "message_start", "message": message}

    def part(self, part: Part) -> Iterator[Json]:
        if "think" in part:
            deltas = [{"type": "thinking_delta", "thinking": p} for p in pieces(part["think"])]
            signature = {"type": "signature_delta", "signature": "c2lnbmF0dXJl"}
            started = {"type": "thinking", "thinking": "", "signature": ""}
            yield from self._block(started, [*deltas, signature])
        if "text" in part:
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(part["text"])]
            yield from self._block({"type": "text", "text": ""}, deltas)
        if "tool" in part:
            self._stop_reason = "tool_use"
            call = {"type": "tool_use", "id": new_id("toolu"), "name": part["tool"]}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(part["args"])}
            yield from self._block(call | {"input": {}}, [delta])

    def end(self) -> Iterator[Json]:
        delta = {"stop_reason": self._stop_reason, "stop_sequence": None}
        usage = {"output_tokens": USAGE.output}
        yield {"type": "message_delta", "delta": delta, "usage": usage}
        yield {"type": "message_stop"}

    def _block(self, started: Json, deltas: list[Json]) -> Iterator[Json]:
        place = {"index": self._blocks}
        self._blocks += 1
        yield {"type": "content_block_start", "content_block": started} | place
        yield from ({"type": "content_block_delta", "delta": delta} | place for delta in deltas)
        yield {"type": "content_block_stop"} | place
