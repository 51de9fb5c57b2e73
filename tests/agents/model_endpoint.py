"""A scripted model endpoint on loopback: real agents run against it without a model or an account.

The prompt carries the script, or is one that an obedient model follows (`obedient.py`), so the
endpoint keeps no state: `SCRIPT:[[part, ...], ...]`, one
inner list a model call of the turn. A part is one of

- `{"think": str}` and `{"text": str}`: streamed in small pieces;
- `{"tool": name, "args": {...}}`, or `"input": str` for codex's custom tools;
- `{"hold": true}`: stream nothing until the client hangs up or the endpoint stops;
- `{"http": status, "message": str}`, alone in its call: answer with that HTTP error.

`"delay"` in a part is the pause in seconds after each of its events.
"""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from socket import SHUT_RDWR
from typing import Any, Self

from tests.agents.anthropic import Messages
from tests.agents.dialects import Dialect, Gemini, Json, Message, Part, Reply, Responses, Tool
from tests.agents.obedient import obey

DIALECTS: dict[str, Dialect] = {
    ":streamGenerateContent": Gemini(),
    "/responses": Responses(),
    "/messages": Messages(),
}
"""Dialect by the end of the request's path."""


def script(*model_calls: list[Part]) -> str:
    """Make the prompt text that scripts one turn, a list of parts for each model call."""
    return "SCRIPT:" + json.dumps(model_calls)


def find_script(text: str) -> list[list[Part]] | None:
    """Find the last script in `text`, which may hold other words before and after it."""
    found = None
    for mark in re.finditer(r"SCRIPT:(?=\[\[)", text):
        with suppress(json.JSONDecodeError):
            found, _ = json.JSONDecoder().raw_decode(text, mark.end())
    return found


def next_call(messages: list[Message], tools: list[Tool]) -> list[Part]:
    """Choose the parts of the model call that follows `messages`.

    A prompt without a script may be one that is obeyed. Otherwise the script is the last one that
    was not written by the model; each run of the model's messages since then is a call already
    made.
    """
    if (obeyed := obey(messages, tools)) is not None:
        return obeyed
    for at in reversed(range(len(messages))):
        calls = None if messages[at].by_model else find_script(messages[at].text)
        if calls is not None:
            runs = groupby(message.by_model for message in messages[at + 1 :])
            made = sum(by_model for by_model, _ in runs)
            return calls[made] if made < len(calls) else [{"text": "(the script is over)"}]
    return [{"text": "(no script in the prompt)"}]


class ModelEndpoint:
    """The endpoint as a context manager: it listens from `with` until the end of the block.

    Stopping ends every delay and held stream, closes every connection and joins every thread.
    """

    def __init__(self) -> None:
        self.held = threading.Event()
        """Set when the first held stream begins."""
        self._requests: list[Json] = []
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._serve, name="model-endpoint")

    @property
    def url(self) -> str:
        """The base address, without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def requests(self) -> list[Json]:
        """The bodies of the model calls so far, in order of arrival."""
        with self._lock:
            return list(self._requests)

    def record(self, body: Json) -> None:
        """Add a model call's body to `requests`."""
        with self._lock:
            self._requests.append(body)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=0.05)


class _Server(ThreadingHTTPServer):
    """A threading server that ends its open connections, so that closing it joins every thread."""

    daemon_threads = False

    def __init__(self, endpoint: ModelEndpoint) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.endpoint = endpoint
        self.stopped = threading.Event()
        self._open: set[Any] = set()
        self._lock = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        threading.current_thread().name = f"model-endpoint-{client_address[1]}"
        super().process_request_thread(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        self.stopped.set()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(SHUT_RDWR)
        super().server_close()


class _Handler(BaseHTTPRequestHandler):
    """Answers one request a connection (HTTP/1.0): a stream ends where its connection ends."""

    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        dialect = next((d for end, d in DIALECTS.items() if path.endswith(end)), None)
        if dialect is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        self.server.endpoint.record(body)
        with suppress(ConnectionError):
            self._answer(dialect, next_call(dialect.messages(body), dialect.tools(body)))

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""

    def _answer(self, dialect: Dialect, parts: list[Part]) -> None:
        if "http" in parts[0]:
            status = parts[0]["http"]
            self._start(status, "application/json")
            self.wfile.write(json.dumps(dialect.error(status, parts[0]["message"])).encode())
        else:
            self._start(HTTPStatus.OK, "text/event-stream")
            self._stream(dialect.reply(), parts)

    def _start(self, status: int, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.end_headers()

    def _stream(self, reply: Reply, parts: list[Part]) -> None:
        self._send(reply.begin())
        for part in parts:
            if "hold" in part:
                self._hold()
                return
            if not self._send(reply.part(part), part.get("delay", 0)):
                return
        self._send(reply.end())

    def _send(self, events: Iterator[Json], delay: float = 0) -> bool:
        """Write `events`; False says that the endpoint stopped meanwhile."""
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
            if self.server.stopped.wait(delay):
                return False
        return True

    def _hold(self) -> None:
        """Wait for the end of the connection: the client hung up, or the server is closing."""
        self.server.endpoint.held.set()
        self.connection.recv(1)
