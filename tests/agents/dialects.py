"""The wire dialects of the agents' models: what a request holds, and how it is answered.

Sources: the Gemini API's `streamGenerateContent`, and the OpenAI Responses API's streaming events;
`anthropic.py` has the third.
"""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

Json = dict[str, Any]
Part = dict[str, Any]

CHUNK = 12
"""Characters in one streamed piece of text."""
LONG_TEXT = 4_000
"""Of each so many characters more, the pieces grow by as much again."""


@dataclass(frozen=True)
class Usage:
    """Token counts, the same for every model call."""

    input: int = 1200
    cached: int = 200
    output: int = 34
    thought: int = 12


USAGE = Usage()


@dataclass(frozen=True)
class Message:
    """A message of the conversation so far; tool calls and results are messages without text.

    Args:
        by_model: whether the model said it.
        text: the texts in it.
        images: those in it, in base64.
        result: what a tool has returned, where it is a tool's result.
    """

    by_model: bool
    text: str
    images: tuple[str, ...] = ()
    result: str | None = None


@dataclass(frozen=True)
class Tool:
    """A tool on offer.

    Args:
        name: by which it is called.
        takes: the names of its arguments; none where it takes a text (codex's custom tools).
        namespace: what else codex wants to be told in the call; empty for none.
    """

    name: str
    takes: tuple[str, ...]
    namespace: str = ""


class Reply(Protocol):
    """The answer to one model call, as the payloads of server-sent events."""

    def begin(self) -> Iterator[Json]: ...
    def part(self, part: Part) -> Iterator[Json]: ...
    def end(self) -> Iterator[Json]: ...


class Dialect(Protocol):
    """How one API's requests are read and answered."""

    def messages(self, body: Json) -> list[Message]: ...
    def tools(self, body: Json) -> list[Tool]: ...
    def reply(self) -> Reply: ...
    def error(self, status: int, message: str) -> Json: ...


def pieces(text: str) -> list[str]:
    """Cut a text as a model streams it."""
    size = CHUNK * (1 + len(text) // LONG_TEXT)
    return [text[i : i + size] for i in range(0, len(text), size)]


def new_id(prefix: str) -> str:
    """Make an id as these APIs do."""
    return f"{prefix}_{uuid.uuid4().hex[:8]}"


def texts(items: list[Json]) -> str:
    """Join the texts of a message's parts, whatever else is among them."""
    return "\n".join(item["text"] for item in items if isinstance(item.get("text"), str))


def written(value: Any) -> str:
    """All that is written in a tool's result, whatever its form."""
    if isinstance(value, dict):
        if value.get("type") == "text":
            return str(value["text"])
        return "\n".join(written(each) for each in value.values())
    if isinstance(value, list):
        return "\n".join(map(written, value))
    return str(value)


def tool(name: str, schema: Json | None, namespace: str = "") -> Tool:
    """A tool by the schema of what it takes."""
    return Tool(name, tuple((schema or {}).get("properties", {})), namespace)


class Gemini:
    """The Gemini API, as gemini-cli uses it."""

    def messages(self, body: Json) -> list[Message]:
        return [self._message(content) for content in body.get("contents", [])]

    def _message(self, content: Json) -> Message:
        parts: list[Json] = content.get("parts", [])
        images = tuple(part["inlineData"]["data"] for part in parts if "inlineData" in part)
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        result = written([r.get("response") for r in results]) if results else None
        return Message(content.get("role") == "model", texts(parts), images, result)

    def tools(self, body: Json) -> list[Tool]:
        declared = [d for t in body.get("tools", []) for d in t.get("functionDeclarations", [])]
        return [
            tool(d["name"], d.get("parametersJsonSchema") or d.get("parameters")) for d in declared
        ]

    def reply(self) -> Reply:
        return GeminiReply()

    def error(self, status: int, message: str) -> Json:
        return {"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}}


class GeminiReply:
    """One `GenerateContentResponse` an event; the last carries the finish reason and the usage."""

    def begin(self) -> Iterator[Json]:
        yield from ()

    def part(self, part: Part) -> Iterator[Json]:
        if "think" in part:
            yield self._event({"text": part["think"], "thought": True})
        for piece in pieces(part.get("text", "")):
            yield self._event({"text": piece})
        if "tool" in part:
            call = {"id": new_id("call"), "name": part["tool"], "args": part["args"]}
            yield self._event({"functionCall": call, "thoughtSignature": "c2lnbmF0dXJl"})

    def end(self) -> Iterator[Json]:
        usage = {
            "promptTokenCount": USAGE.input,
            "cachedContentTokenCount": USAGE.cached,
            "candidatesTokenCount": USAGE.output,
            "thoughtsTokenCount": USAGE.thought,
            "totalTokenCount": USAGE.input + USAGE.output + USAGE.thought,
        }
        yield self._event({"text": ""}, finishReason="STOP") | {"usageMetadata": usage}

    def _event(self, part: Json, **finish: str) -> Json:
        content = {"role": "model", "parts": [part]}
        return {"candidates": [{"index": 0, "content": content, **finish}]}


class Responses:
    """The OpenAI Responses API, as codex uses it."""

    def messages(self, body: Json) -> list[Message]:
        return [self._message(item) for item in body.get("input", [])]

    def _message(self, item: Json) -> Message:
        if item.get("type", "message") == "message":
            content = item.get("content", [])
            urls = [part["image_url"] for part in content if part["type"] == "input_image"]
            images = tuple(url.partition(",")[2] for url in urls)
            return Message(item.get("role") == "assistant", texts(content), images)
        is_result = item["type"].endswith("_output")
        return Message(not is_result, "", result=written(item["output"]) if is_result else None)

    def tools(self, body: Json) -> list[Tool]:
        return list(self._tools(body.get("tools", []), ""))

    def _tools(self, offered: list[Json], namespace: str) -> Iterator[Tool]:
        for each in offered:
            if each["type"] == "namespace":
                yield from self._tools(each["tools"], each["name"])
            elif "name" in each:
                yield tool(each["name"], each.get("parameters"), namespace)

    def reply(self) -> Reply:
        return ResponsesReply()

    def error(self, status: int, message: str) -> Json:
        return {"error": {"message": message, "type": "server_error", "code": str(status)}}


class ResponsesReply:
    """Output items, each added, streamed and done, in a response created and completed."""

    def __init__(self) -> None:
        self.response: Json = {"id": new_id("resp"), "object": "response", "output": []}

    def begin(self) -> Iterator[Json]:
        yield {"type": "response.created", "response": self.response | {"status": "in_progress"}}

    def part(self, part: Part) -> Iterator[Json]:
        if "think" in part:
            yield from self._thought(part["think"])
        if "text" in part:
            yield from self._text(part["text"])
        if "tool" in part:
            yield from self._item(self._call(part), [])

    def end(self) -> Iterator[Json]:
        usage = {
            "input_tokens": USAGE.input,
            "input_tokens_details": {"cached_tokens": USAGE.cached},
            "output_tokens": USAGE.output,
            "output_tokens_details": {"reasoning_tokens": USAGE.thought},
            "total_tokens": USAGE.input + USAGE.output,
        }
        done = self.response | {"status": "completed", "usage": usage}
        yield {"type": "response.completed", "response": done}

    def _thought(self, text: str) -> Iterator[Json]:
        item = {"type": "reasoning", "id": new_id("rs")}
        summary = [{"type": "summary_text", "text": text}]
        added = {"type": "response.reasoning_summary_part.added", "summary_index": 0}
        delta = {"type": "response.reasoning_summary_text.delta", "summary_index": 0}
        deltas = [added, *(delta | {"delta": piece} for piece in pieces(text))]
        yield from self._item(item | {"summary": summary}, deltas, started=item | {"summary": []})

    def _text(self, text: str) -> Iterator[Json]:
        item = {"type": "message", "id": new_id("msg"), "role": "assistant"}
        content = [{"type": "output_text", "text": text, "annotations": []}]
        delta = {"type": "response.output_text.delta", "content_index": 0}
        deltas = [delta | {"delta": piece} for piece in pieces(text)]
        yield from self._item(item | {"content": content}, deltas, started=item | {"content": []})

    def _call(self, part: Part) -> Json:
        call = {"id": new_id("fc"), "call_id": new_id("call"), "name": part["tool"]}
        if "input" in part:
            return call | {"type": "custom_tool_call", "input": part["input"]}
        if namespace := part.get("namespace"):
            call |= {"namespace": namespace}
        return call | {"type": "function_call", "arguments": json.dumps(part["args"])}

    def _item(self, item: Json, deltas: list[Json], started: Json | None = None) -> Iterator[Json]:
        place = {"output_index": len(self.response["output"])}
        yield {"type": "response.output_item.added", "item": started or item} | place
        yield from (delta | place | {"item_id": item["id"]} for delta in deltas)
        yield {"type": "response.output_item.done", "item": item} | place
        self.response["output"].append(item)
