"""The simulator's tools, as RC01 shows them: what is announced, asked, done and reported.

The frames follow the first seed document ("Run 6 findings", 4 to 7, and "Phase-2 probe findings",
3 and 4). Files are written inside the session's folder only, and no command is ever run.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from .programs import output_of
from .turn import Turn

Outcome = Literal["done", "denied", "failed"]

NEVER_EXECUTED = "Tool call was approved but never executed."
DENIED = "Tool call was denied."
CANCELLED = "Tool call was cancelled."
EDIT_FILE = ("edit_file", "ReplacementContent")
LISTED = 40  # names that `ls` shows at most
SLEEP = r"sleep (\d+(?:\.\d+)?)"


# -- files


def inside(folder: Path, name: str) -> Path | None:
    """The file of that name in a folder; None where it is elsewhere, by a link too."""
    path = folder / name
    return path if path.resolve().is_relative_to(folder.resolve()) else None


def read(path: Path) -> str | None:
    """A file's text as it is, line ends too; None where there is no file.

    Raises:
        OSError: it cannot be read.
        UnicodeError: it is not text.
    """
    return path.read_bytes().decode() if path.exists() else None


async def write_file(turn: Turn, path: Path, old: str | None, new: str) -> Outcome:
    """Write a file, with permission unless the mode needs none, and read it back.

    The call that was approved never runs; the work is done under another id.
    """
    if turn.session.mode == "default":
        tool, text = ("create_file", "CodeContent") if old is None else EDIT_FILE
        asked = _edit_call(turn.tool_id(), f"Run {tool}?", path, old, new)
        asked["rawInput"] = {"TargetFile": str(path), text: new}
        if not await _approved(turn, asked):
            return "denied"
        turn.tool(toolCallId=asked["toolCallId"], status="failed", rawOutput=NEVER_EXECUTED)
    if not _edit(turn, _edit_call(turn.tool_id("step"), f"Edit {path.name}", path, old, new), new):
        return "failed"
    _view(turn, path)
    return "done"


def write_plan(turn: Turn, name: str, draft: str, final: str) -> bool:
    """Write a plan into the session's brain folder, without asking: ``/plan`` does that."""
    path = turn.store.brain / turn.session.id / name
    create = _edit_call(turn.tool_id(), f"Create {name}", path, None, draft)
    edit = _edit_call(turn.tool_id("step"), f"Edit {name}", path, draft, final)
    return _edit(turn, create, draft) and _edit(turn, edit, final)


def _edit_call(tool_id: str, title: str, path: Path, old: str | None, new: str) -> dict[str, Any]:
    diff: dict[str, Any] = {"type": "diff", "path": str(path), "newText": new}
    diff |= {"_meta": {"kind": "add"}} if old is None else {"oldText": old}
    return {
        "toolCallId": tool_id,
        "title": title,
        "kind": "edit",
        "content": [diff],
        "locations": [{"path": str(path)}],
        "rawInput": {"file_path": str(path)},
    }


def _edit(turn: Turn, call: dict[str, Any], new: str) -> bool:
    path = Path(call["locations"][0]["path"])
    turn.tool(**call, status="in_progress")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(new.encode())
    except OSError as error:
        turn.tool(toolCallId=call["toolCallId"], status="failed", rawOutput=str(error))
        return False
    done = {"toolCallId": call["toolCallId"], "content": call["content"]}
    turn.tool(**done, status="completed", rawOutput=call["title"])
    return True


def _view(turn: Turn, path: Path) -> None:
    call = _read_call(turn, path)
    turn.tool(toolCallId=call["toolCallId"], status="completed", rawOutput=call["title"])


def read_file(turn: Turn, path: Path) -> str | None:
    """Read a file, which needs no permission; None where it cannot be read, or is not there."""
    call = _read_call(turn, path)
    try:
        held, why = read(path), "there is no such file"
    except (OSError, UnicodeError) as error:
        held, why = None, str(error)
    status, output = ("failed", why) if held is None else ("completed", call["title"])
    turn.tool(toolCallId=call["toolCallId"], status=status, rawOutput=output)
    return held


def _read_call(turn: Turn, path: Path) -> dict[str, Any]:
    call = {
        "toolCallId": turn.tool_id("call"),
        "title": f"Read {path.name}",
        "kind": "read",
        "locations": [{"path": str(path)}],
        "rawInput": {"file_path": str(path)},
    }
    turn.tool(**call, status="in_progress")
    return call


# -- commands


async def run_command(turn: Turn, command: str) -> Outcome:
    """Pretend to run a command, with permission unless the mode needs none; `sleep` takes time."""
    call = {
        "toolCallId": turn.tool_id(),
        "title": "Run run_command?",
        "kind": "execute",
        "rawInput": {"CommandLine": command, "Cwd": str(turn.session.cwd)},
    }
    if turn.session.mode == "yolo":
        turn.tool(**call, status="pending")
    elif not await _approved(turn, call):
        return "denied"
    turn.tool(toolCallId=call["toolCallId"], status="in_progress")
    try:
        await _take_time(command)
    except asyncio.CancelledError:
        turn.tool(toolCallId=call["toolCallId"], status="failed", rawOutput=CANCELLED)
        raise
    turn.tool(
        toolCallId=call["toolCallId"],
        status="completed",
        content=[_text(command_output(command, turn.session.cwd))],
        rawOutput=f"Run {command}",
    )
    return "done"


async def _take_time(command: str) -> None:
    if found := re.fullmatch(SLEEP, command):
        await asyncio.sleep(float(found[1]))


def command_output(command: str, folder: Path) -> str:
    """What a command would print; made up, since nothing is ever run."""
    match _words(command):
        case ["echo", *words]:
            return " ".join(words)
        case ["pwd"]:
            return str(folder)
        case ["sleep", _]:
            return ""
        case ["ls"]:
            names = sorted(p.name for p in folder.iterdir() if not p.name.startswith("."))
            return "\n".join(names[:LISTED])
        case ["python" | "python3", name] if printed := _printed(folder, name):
            return printed
    return f"(simulated) {command}: not run, and nothing is known of its output"


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _printed(folder: Path, name: str) -> str | None:
    path = inside(folder, name)
    try:
        return output_of(read(path) or "") if path else None
    except (OSError, UnicodeError):
        return None


# -- MCP tools and questions


async def call_mcp_tool(turn: Turn, server: str, tool: str, text: str) -> Outcome:
    """Pretend to call a tool of an MCP server, with permission in every mode.

    The result never shows on the wire: ``rawOutput`` is a display string.
    """
    call = {
        "toolCallId": turn.tool_id("call"),
        "title": f"{server}_{tool}",
        "kind": "other",
        "rawInput": {"arguments": {"text": text}},
        "_meta": {"mcp": {"tool": tool}, "is_mcp_tool_call": True},
    }
    if not await _approved(turn, call):
        return "denied"
    turn.tool(toolCallId=call["toolCallId"], status="in_progress")
    turn.tool(toolCallId=call["toolCallId"], status="completed", rawOutput=f"Call {tool}")
    return "done"


async def ask_question(turn: Turn, question: str, answers: Sequence[str]) -> str | None:
    """Ask a question in the form of a permission request; returns the answer, None for none."""
    call = {
        "toolCallId": turn.tool_id("interaction"),
        "title": question,
        "kind": "other",
        "rawInput": {"question": question, "options": list(answers)},
    }
    ids = {str(number): answer for number, answer in enumerate(answers, start=1)}
    options = [{"optionId": i, "name": a, "kind": "allow_once"} for i, a in ids.items()]
    turn.tool(**call, status="pending")
    answer = ids.get(await turn.ask({**call, "status": "pending"}, options) or "")
    turn.tool(toolCallId=call["toolCallId"], status="completed", rawOutput="Ask question")
    return answer


async def _approved(turn: Turn, call: dict[str, Any]) -> bool:
    turn.tool(**call, status="pending")
    if await turn.ask({**call, "status": "pending"}) == "allow":
        return True
    turn.tool(toolCallId=call["toolCallId"], status="failed", rawOutput=DENIED)
    return False


def _text(text: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": text}}
