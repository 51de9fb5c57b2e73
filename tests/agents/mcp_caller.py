"""An ACP agent that calls MCP servers as a real one does, without a model; standard library only.

Run as ``mcp_caller.py FLAG ...``; without flags it does all that can be wanted. The flags are
``lists``: no tool is called; ``keeps``: the result is not told; ``headerless``: the headers are
left out; ``eager``: a session with a dead server is refused; ``other``: it asks about another tool;
``stdio-only``: servers over HTTP are not offered.
"""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

FLAGS = set(sys.argv[1:])
HELLO = {
    "protocolVersion": 1,
    "agentCapabilities": {"mcpCapabilities": {"http": "stdio-only" not in FLAGS}},
    "agentInfo": {"name": "mcp-caller", "version": "1"},
}
OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
Frame = dict[str, Any]


class Server:
    """An MCP server, as ``session/new`` names it."""

    def __init__(self, entry: Frame) -> None:
        self._entry, self._process = entry, None
        if "command" in entry:
            self._process = subprocess.Popen(
                [entry["command"], *entry["args"]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )

    def ask(self, method: str, **params: Any) -> Any:
        frame = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        return json.loads(self._over_http(frame) if self._process is None else self._over(frame))

    def _over(self, frame: str) -> str:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(frame, file=self._process.stdin, flush=True)
        return self._process.stdout.readline()

    def _over_http(self, frame: str) -> str:
        given = {} if "headerless" in FLAGS else self._entry["headers"]
        headers = {"Content-Type": "application/json", **{h["name"]: h["value"] for h in given}}
        request = urllib.request.Request(self._entry["url"], frame.encode(), headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=60) as response:
            return str(response.read().decode())


def send(**frame: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **frame}), flush=True)


def receive() -> Frame:
    if not (line := sys.stdin.readline()):
        sys.exit(0)
    frame: Frame = json.loads(line)
    return frame


def opened(entries: list[Frame]) -> list[Server]:
    """The servers, whose tools have been listed; those that are dead stay out."""
    servers = []
    for entry in entries:
        server = Server(entry)
        try:
            server.ask("initialize", protocolVersion="2025-06-18")
            server.ask("tools/list")
        except urllib.error.URLError:
            if "eager" in FLAGS:
                raise
            continue
        servers.append(server)
    return servers


def called(server: Server) -> str:
    """What the tool says, where it may be called."""
    title = "probe_drop" if "other" in FLAGS else "probe_echo"
    call = {"toolCallId": "c1", "title": title, "rawInput": {"arguments": {"text": "PROBE-9"}}}
    params = {"sessionId": "s1", "toolCall": call, "options": OPTIONS}
    send(id=90, method="session/request_permission", params=params)
    if receive()["result"]["outcome"]["optionId"] != "yes":
        return "I was not allowed to."
    result = server.ask("tools/call", name="echo", arguments={"text": "PROBE-9"})
    text: str = result["result"]["content"][0]["text"]
    return "Done." if "keeps" in FLAGS else text


def main() -> None:
    servers: list[Server] = []
    while frame := receive():
        method, result = frame["method"], HELLO
        if method == "session/new":
            try:
                servers, result = opened(frame["params"]["mcpServers"]), {"sessionId": "s1"}
            except urllib.error.URLError:
                send(id=frame["id"], error={"code": -32603, "message": "the server is dead"})
                continue
        elif method == "session/prompt":
            is_called = servers and "lists" not in FLAGS
            content = {"type": "text", "text": called(servers[0]) if is_called else "No tool."}
            update = {"sessionUpdate": "agent_message_chunk", "content": content}
            send(method="session/update", params={"sessionId": "s1", "update": update})
            result = {"stopReason": "end_turn"}
        send(id=frame["id"], result=result)


if __name__ == "__main__":
    main()
