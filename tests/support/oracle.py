"""The judge of what we send: the Python SDK's models of the protocol, which nobody here wrote.

A frame passes when its model accepts it and gives back the same fields, so that a misspelt name,
which the model would merely ignore, fails too.
"""

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from acp import schema
from pydantic import BaseModel, RootModel

from agy_kernel.acp.tape import Tape

REQUESTS: dict[str, type[BaseModel]] = {
    "initialize": schema.InitializeRequest,
    "authenticate": schema.AuthenticateRequest,
    "session/new": schema.NewSessionRequest,
    "session/load": schema.LoadSessionRequest,
    "session/resume": schema.ResumeSessionRequest,
    "session/fork": schema.ForkSessionRequest,
    "session/list": schema.ListSessionsRequest,
    "session/delete": schema.DeleteSessionRequest,
    "session/close": schema.CloseSessionRequest,
    "logout": schema.LogoutRequest,
    "session/prompt": schema.PromptRequest,
    "session/set_mode": schema.SetSessionModeRequest,
    "session/set_config_option": schema.SetSessionConfigOptionSelectRequest,
}
NOTIFICATIONS: dict[str, type[BaseModel]] = {
    "session/cancel": schema.CancelNotification,
    "$/cancel_request": schema.CancelRequestNotification,
}
RESPONSES: dict[str, type[BaseModel]] = {
    "session/request_permission": schema.RequestPermissionResponse,
    "elicitation/create": RootModel[schema.CreateElicitationResponse],
}
Frame = dict[str, Any]


def check_tape(tape: Tape) -> list[Frame]:
    """Check every frame that we sent, in its context; returns those frames."""
    entries = [json.loads(line) for line in tape.tail(1_000_000)]
    asked: dict[str, str] = {}
    sent: list[Frame] = []
    for entry in entries:
        frame = entry["msg"]
        if entry["dir"] == "c2a":
            check(frame, asked)
            sent.append(frame)
        elif entry["dir"] == "a2c" and isinstance(frame, dict) and {"id", "method"} <= set(frame):
            asked[json.dumps(frame["id"])] = frame["method"]
    _check_ids(frame for frame in sent if "method" in frame and "id" in frame)
    return sent


def check(frame: Frame, asked: dict[str, str]) -> None:
    """Check one frame of ours; ``asked`` are the agent's requests, method by id as JSON."""
    assert frame["jsonrpc"] == "2.0", frame
    if "method" not in frame:
        _check_response(frame, asked[json.dumps(frame["id"])])
    elif frame["params"].get("type") == "boolean":
        _check_fields(schema.SetSessionConfigOptionBooleanRequest, frame["params"])
    elif frame["method"] == "session/set_model":
        # Dropped from the protocol, so without a model; Antigravity and gemini-cli still have it.
        assert set(frame["params"]) == {"sessionId", "modelId"}, frame
    else:
        models = REQUESTS if "id" in frame else NOTIFICATIONS
        _check_fields(models[frame["method"]], frame["params"])


def _check_response(frame: Frame, method: str) -> None:
    if "error" in frame:
        assert set(frame) == {"jsonrpc", "id", "error"}, frame
        _check_fields(schema.Error, frame["error"])
    else:
        assert set(frame) == {"jsonrpc", "id", "result"}, frame
        _check_fields(RESPONSES[method], frame["result"])


def _check_fields(model: type[BaseModel], fields: Frame) -> None:
    read = model.model_validate(fields)
    assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == fields


def _check_ids(requests: Iterable[Frame]) -> None:
    ids = [frame["id"] for frame in requests]
    assert all(isinstance(i, int) for i in ids), ids
    # Each process has a connection of its own, and numbers anew; a tape may hold several.
    assert all(after == before + 1 or after == 1 for before, after in pairwise(ids))
