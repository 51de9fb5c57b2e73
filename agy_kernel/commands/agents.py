"""``%agy`` about agents, and the MCP servers that they get."""

from __future__ import annotations

import json
import shlex
from typing import Any

from ..agents import catalogue
from ..conversation.opening import first_sentence
from ..errors import AgyError, CommandError
from ..host import Host
from ..tables import table
from .grammar import unquoted
from .settings import where_saved


def agents(host: Host, _: list[str]) -> str:
    """List the agents that are known, and where each was found."""
    current = host.settings.agent
    rows = [(_name(name, current), _where(host, name)) for name in catalogue.CATALOGUE]
    if current not in catalogue.CATALOGUE:
        rows.append((_name(current, current), "a command line"))
    return f"{table(rows)}\n\n`%agy use NAME` asks another one; any command line works too."


def _name(name: str, current: str) -> str:
    return f"**`{name}`**" if name == current else f"`{name}`"


def _where(host: Host, name: str) -> str:
    try:
        return " ".join(catalogue.find(name, host.settings.acp_bin).argv)
    except AgyError as error:
        return first_sentence(error)


def use(host: Host, words: list[str]) -> str:
    """Ask another agent from now on, until this kernel ends."""
    agent = unquoted(words)
    catalogue.find(agent, host.settings.acp_bin)
    host.configuration.set("agent", agent)
    kept = "`%agy config set agent NAME` keeps it for later kernels."
    return f"The next prompt goes to `{agent}`, in a session of its own. {kept}"


def mcp(host: Host, words: list[str]) -> str:
    """List the MCP servers that agents get, add one to the user's file, or take one out."""
    action, *rest = words or ["list"]
    saved = {name: _as_json(host, name) for name in host.settings.mcp}
    if action == "list":
        rows = [(f"`{name}`", server.described) for name, server in host.settings.mcp.items()]
        return (
            table(rows)
            if rows
            else "There are no MCP servers. `%agy mcp add NAME COMMAND` adds one."
        )
    name, *words = rest
    if action == "remove":
        if saved.pop(name, None) is None:
            raise CommandError(f"there is no MCP server {name!r}.")
    else:
        saved[name] = _server(words)
    host.configuration.save("mcp", json.dumps(saved))
    done = "taken out" if action == "remove" else "added"
    how = "It counts when the agent is started next: `%agy restart`."
    return f"`{name}` is {done}. {how} {where_saved(host, 'mcp')}"


def _as_json(host: Host, name: str) -> dict[str, Any]:
    server = host.settings.mcp[name]
    if server.type == "stdio":
        return {"command": server.command, "args": list(server.args), "env": dict(server.env)}
    return {"type": server.type, "url": server.url, "headers": dict(server.headers)}


def _server(words: list[str]) -> dict[str, Any]:
    """``COMMAND ARG... [--env K=V]``, or ``--http URL`` or ``--sse URL`` with ``--header K: V``."""
    try:
        words = shlex.split(" ".join(words))
    except ValueError as error:
        raise CommandError(f"the words of the server cannot be read: {error}.") from None
    pairs = {"--env": "=", "--header": ":"}
    kept: list[str] = []
    found: dict[str, dict[str, str]] = {"--env": {}, "--header": {}}
    rest = iter(words)
    for word in rest:
        if word in pairs:
            key, _, value = next(rest, "").partition(pairs[word])
            found[word][key.strip()] = value.strip()
        else:
            kept.append(word)
    if kept[:1] in (["--http"], ["--sse"]):
        url = kept[1] if len(kept) > 1 else ""
        return {"type": kept[0][2:], "url": url, "headers": found["--header"]}
    return {"command": "".join(kept[:1]), "args": kept[1:], "env": found["--env"]}


def is_mcp(words: list[str]) -> bool:
    """Nothing, or what to do with which server."""
    least = {"list": 1, "remove": 2, "add": 3}
    return not words or len(words) >= least.get(words[0], 99)
