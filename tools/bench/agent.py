"""An agent that answers at once: it asks for leave and tells when it got it, and honours Stop.

Run as a program; standard library only, so that nothing but the client is measured.
"""

import json
import sys
import time
from typing import Any

ids: dict[str, Any] = {}
OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Deny", "kind": "reject_once"},
]


def send(**frame: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **frame}) + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    send(method="session/update", params={"sessionId": "s", "update": update})


def end(reason: str) -> None:
    send(id=ids["session/prompt"], result={"stopReason": reason})


def prompt(text: str) -> None:
    say("one moment ")
    if "ask" in text:
        call = {"toolCallId": f"c{time.monotonic_ns()}", "title": "Run it", "kind": "execute"}
        params = {"sessionId": "s", "toolCall": call, "options": OPTIONS}
        send(id="q", method="session/request_permission", params=params)


for line in sys.stdin:
    frame = json.loads(line)
    now = time.monotonic()  # the same clock in every process (man 2 clock_gettime)
    method = frame.get("method", "")
    ids[method] = frame.get("id")
    if method == "initialize":
        send(id=frame["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
    elif method == "session/new":
        send(id=frame["id"], result={"sessionId": "s"})
    elif method == "session/prompt":
        prompt(frame["params"]["prompt"][-1]["text"])
    elif method == "session/cancel":
        end("cancelled")
    elif frame.get("id") == "q":
        say(f"answered at {now!r}.")
        end("end_turn")
