"""A small MCP server with one tool, over stdio or HTTP, that keeps what it was asked.

It is started by agents too, as ``python loopback.py FILE``: standard library only, and nothing of
this package.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TOOL = "echo"
HEADER = {"name": "X-Agy-Kernel-Probe", "value": "loopback"}
"""What HTTP requests must have."""
NEWEST = "2025-06-18"
METHOD_NOT_FOUND = -32601
SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "what to repeat"}},
    "required": ["text"],
}
ABOUT = {"name": TOOL, "description": "Repeats a text behind ECHO:", "inputSchema": SCHEMA}


def echoed(text: str) -> str:
    """What the tool makes of a text."""
    return f"ECHO:{text}"


def answer(message: Any) -> dict[str, Any] | None:
    """The answer to a message; None where it wants none."""
    if not isinstance(message, dict) or "id" not in message or "method" not in message:
        return None
    params = message.get("params")
    result = _result(str(message["method"]), params if isinstance(params, dict) else {})
    if result is None:
        error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
        return {"jsonrpc": "2.0", "id": message["id"], "error": error}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def _result(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            version = params.get("protocolVersion") or NEWEST
            about = {"name": "agy-kernel-probe", "version": "1"}
            return {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": about,
            }
        case "ping":
            return {}
        case "tools/list":
            return {"tools": [ABOUT]}
        case "tools/call":
            given = params.get("arguments")
            text = given.get("text", "") if isinstance(given, dict) else ""
            return {"content": [{"type": "text", "text": echoed(str(text))}]}
    return None


def _method(message: Any) -> str:
    return str(message.get("method", "")) if isinstance(message, dict) else ""


# -- over stdio


def serve_stdio(file: Path) -> None:
    """Serve until stdin ends.

    Args:
        file: gets a line for each method that was asked.
    """
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        with file.open("a", encoding="utf-8") as seen:
            seen.write(f"{_method(message)}\n")
        if (answered := answer(message)) is not None:
            print(json.dumps(answered), flush=True)


def asked_over_stdio(file: Path) -> list[str]:
    """The methods that the server with this file was asked; none where it never ran."""
    return file.read_text("utf-8").split() if file.exists() else []


# -- over HTTP


class HttpServer:
    """The server on a free port of this machine; use as ``async with``."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.refused = 0

    async def __aenter__(self) -> HttpServer:
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._serve, name="loopback", daemon=True)
        self._thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._server.shutdown)
        self._server.server_close()
        await asyncio.to_thread(self._thread.join)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/mcp"

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=0.02)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, owner: HttpServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    """Streamable HTTP, as far as a server needs it that never speaks first."""

    protocol_version = "HTTP/1.1"
    server: _Server
    timeout = 60

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get(HEADER["name"]) != HEADER["value"]:
            self.server.owner.refused += 1
            self._respond(HTTPStatus.FORBIDDEN)
            return
        try:
            message = json.loads(body)
        except ValueError:
            self._respond(HTTPStatus.BAD_REQUEST)
            return
        self.server.owner.asked.append(_method(message))
        answered = answer(message)
        status = HTTPStatus.ACCEPTED if answered is None else HTTPStatus.OK
        self._respond(status, b"" if answered is None else json.dumps(answered).encode())

    def do_GET(self) -> None:
        self._respond(HTTPStatus.METHOD_NOT_ALLOWED)

    do_DELETE = do_GET  # noqa: N815 - the name that http.server calls

    def _respond(self, status: HTTPStatus, body: bytes = b"") -> None:
        self.send_response(status)
        if body:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        """Say nothing: stderr is the notebook's."""


if __name__ == "__main__":
    serve_stdio(Path(sys.argv[1]))
