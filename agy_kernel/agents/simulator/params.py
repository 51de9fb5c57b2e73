"""What each method requires, and the error that says so in pydantic's words.

The shape of -32602 is RC01's (first seed document, "Error shapes"): ``data.errors`` with ``loc``,
``msg`` and ``type``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...errors import RequestFailed

INVALID_PARAMS = -32602
SERVER_STATE = -32000  # RC01's code for all that the state of the server does not allow

Error = dict[str, Any]
Location = tuple[str | int, ...]

REQUIRED: dict[str, dict[str, type]] = {
    "initialize": {"protocolVersion": int},
    "authenticate": {"methodId": str},
    "logout": {},
    "session/new": {"cwd": str, "mcpServers": list},
    "session/load": {"sessionId": str, "cwd": str, "mcpServers": list},
    "session/resume": {"sessionId": str, "cwd": str},
    "session/list": {},
    "session/close": {"sessionId": str},
    "session/cancel": {"sessionId": str},
    "session/set_mode": {"sessionId": str, "modeId": str},
    "session/set_model": {"sessionId": str, "modelId": str},
    "session/set_config_option": {"sessionId": str, "configId": str, "value": str},
    "session/prompt": {"sessionId": str, "prompt": list},
}
SERVERS: dict[str, dict[str, type]] = {
    "stdio": {"name": str, "command": str, "args": list, "env": list},
    "http": {"name": str, "url": str, "headers": list},
    "sse": {"name": str, "url": str, "headers": list},
    "acp": {"name": str, "id": str},
}
WRONG_TYPE = {
    str: ("str type expected", "type_error.str"),
    int: ("value is not a valid integer", "type_error.integer"),
    list: ("value is not a valid list", "type_error.list"),
    dict: ("value is not a valid dict", "type_error.dict"),
}


def check(method: str, params: Any) -> dict[str, Any]:
    """Params as a method may use them.

    Raises:
        RequestFailed: -32602, naming every field that is missing or of the wrong type.
    """
    given: dict[str, Any] = params if isinstance(params, dict) else {}
    if errors := _missing(given, REQUIRED[method], ()) or _bad_members(given):
        raise invalid(*errors)
    return given


def invalid(*errors: Error) -> RequestFailed:
    """The error of a request whose params cannot be used."""
    return RequestFailed(INVALID_PARAMS, "Invalid params", {"errors": list(errors)})


def field_error(loc: Iterable[str | int], msg: str, kind: str = "value_error") -> Error:
    """What is wrong with one field."""
    return {"loc": list(loc), "msg": msg, "type": kind}


def not_one_of(loc: str, allowed: Iterable[str]) -> RequestFailed:
    """The error of a value that is none of the offered ones."""
    return invalid(
        field_error(
            (loc,),
            f"value is not a valid enumeration member; permitted: {', '.join(allowed)}",
            "type_error.enum",
        )
    )


def state_error(message: str, reason: str) -> RequestFailed:
    """The error of a request that the server's state does not allow."""
    return RequestFailed(SERVER_STATE, message, {"reason": reason})


def _missing(value: Mapping[str, Any], fields: Mapping[str, type], at: Location) -> list[Error]:
    errors = []
    for name, wanted in fields.items():
        if name not in value:
            errors.append(field_error((*at, name), "field required", "value_error.missing"))
        elif not isinstance(value[name], wanted):
            errors.append(field_error((*at, name), *WRONG_TYPE[wanted]))
    return errors


def _bad_members(params: Mapping[str, Any]) -> list[Error]:
    errors = []
    cwd = params.get("cwd")
    if isinstance(cwd, str) and not Path(cwd).is_absolute():
        errors.append(field_error(("cwd",), "an absolute path is required"))
    for i, server in enumerate(_list(params, "mcpServers")):
        errors += _server_errors(server, ("mcpServers", i))
    for i, block in enumerate(_list(params, "prompt")):
        if not isinstance(block, dict):
            errors.append(field_error(("prompt", i), *WRONG_TYPE[dict]))
    return errors


def _server_errors(server: Any, at: Location) -> list[Error]:
    if not isinstance(server, dict):
        return [field_error(at, *WRONG_TYPE[dict])]
    fields = SERVERS.get(server.get("type", "stdio"))
    if fields is None:
        return [field_error((*at, "type"), f"permitted: {', '.join(SERVERS)}", "type_error.enum")]
    return _missing(server, fields, at)


def _list(params: Mapping[str, Any], name: str) -> list[Any]:
    value = params.get(name)
    return value if isinstance(value, list) else []
