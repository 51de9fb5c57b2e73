"""An ACP agent that answers each method as a table says, at every start, as often as it is asked.

Run as ``answering.py TABLE``; standard library only. TABLE is a JSON object of a list of replies
for each method, of which the last one is given again and again. A reply is an object with
``result`` or ``error``, and with ``before`` and ``after``, lists of frames that are sent around it;
a reply with neither is no answer. What is not in the table is answered with -32601.
"""

import json
import shlex
import sys
from collections.abc import Mapping
from typing import Any

Reply = dict[str, Any]
HELLO = {"protocolVersion": 1, "agentInfo": {"name": "answering", "version": "1"}}


def answering(table: Mapping[str, Reply | list[Reply]], **hello: Any) -> str:
    """The command line of an agent with a table; ``hello`` is added to what it says at first."""
    replies = {method: each if isinstance(each, list) else [each] for method, each in table.items()}
    told = {"initialize": [{"result": {**HELLO, **hello}}], **replies}
    return shlex.join([sys.executable, "-I", "-S", __file__, json.dumps(told)])


def result(value: Any, *, before: tuple[Any, ...] = (), after: tuple[Any, ...] = ()) -> Reply:
    """A reply with a result, and with frames around it."""
    return {"result": value, "before": before, "after": after}


def error(code: int, message: str, data: Any = None) -> Reply:
    """A reply that refuses."""
    return {"error": {"code": code, "message": message, "data": data}}


SILENCE: Reply = {}


def _serve(table: dict[str, list[Reply]]) -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        method = asked.get("method")
        if "id" not in asked or method is None:
            continue
        replies = table.get(method, [error(-32601, "Method not found")])
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        answer: Reply = {key: reply[key] for key in ("result", "error") if key in reply}
        frame: Reply = {"jsonrpc": "2.0", "id": asked["id"], **answer}
        frames = [frame] if answer else []
        for frame in [*reply.get("before", ()), *frames, *reply.get("after", ())]:
            sys.stdout.write(f"{json.dumps(frame)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve(json.loads(sys.argv[1]))
