"""A tool call as a card: one line that says what it is and how it went, and what it did below."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ..conversation.transcript import ToolCall
from ..events import Answer, Content, Diff, Terminal
from . import diffs
from .html import code, escape, faint, fold, frame, pre
from .markdown import clean
from .media import picture

SHOWN_LINES = 12
OUTPUT_BYTES = 20_000
TITLE_CHARS = 120
COMMAND_KEYS = ("command", "CommandLine", "cmd", "command_line")
FOLDER_KEYS = ("cwd", "Cwd", "workdir", "working_dir", "dir_path", "directory")
OUTPUT_KEYS = ("formatted_output", "aggregated_output", "output", "stdout", "content", "text")
EXIT_KEYS = ("exit_code", "exitCode", "exit_status")

MARKS = {"pending": "○", "in_progress": "◐", "completed": "✓", "failed": "✗"}
DEEDS = {
    "edit": "edit",
    "execute": "run",
    "read": "read",
    "delete": "delete",
    "move": "move",
    "search": "search",
    "fetch": "fetch",
    "think": "think",
    "switch_mode": "switch mode",
}


def card(call: ToolCall, folder: str) -> str:
    """The card of a call, as HTML; paths inside ``folder`` are shown relative to it."""
    return frame(heading(call, folder) + body(call, folder))


def heading(call: ToolCall, folder: str) -> str:
    """The first line: what, on what, and how it went."""
    words = [_mark(call), f"<b>{escape(deed(call))}</b>", _subject(call, folder)]
    words += [faint(f"· {escape(remark)}") for remark in remarks(call)]
    return " ".join(word for word in words if word)


def body(call: ToolCall, folder: str) -> str:
    """What the call does, or did: diffs, the command and its output, or the arguments."""
    parts = [_diff(diff, call, folder) for diff in _diffs(call)]
    command = command_of(call)
    if command and not _names(call, command):
        parts.append(pre(f"$ {command}"))
    arguments = "" if _is_choice(call) else _arguments(call)
    if arguments and not command and not parts:
        parts.append(fold(faint("arguments"), pre(arguments), is_open=_is_asking(call)))
    parts += [picture(c) for c in call.content if isinstance(c, Content) and c.type == "image"]
    if not _is_choice(call):
        parts += [_block(label, text) for label, text in _texts(call) if text]
    return "".join(parts)


def request(call: ToolCall, folder: str) -> str:
    """What exactly would run, for the person who is asked: nothing folded away but length."""
    where = _text(_input(call), FOLDER_KEYS) or (folder if command_of(call) else "")
    place = f"<div>{faint('in')} {code(where)}</div>" if where else ""
    command = command_of(call)
    line = pre(f"$ {command}") if command and _names(call, command) else ""
    if not command and _short(call.title) != call.title:
        line = pre(call.title)
    return frame(heading(call, folder) + line + place + body(call, folder))


def summary(call: ToolCall, folder: str) -> str:
    """One line of plain text."""
    parts = [deed(call), _subject_text(call, folder), *remarks(call)]
    return clean(" · ".join(part for part in parts if part)).replace("\n", " ")


def deed(call: ToolCall) -> str:
    """The kind of work, in a word."""
    if _is_choice(call):
        return "question"
    return DEEDS.get(call.kind, call.kind if call.kind != "other" else "tool")


def remarks(call: ToolCall) -> list[str]:
    """What else is to be said of a call, most important first."""
    found = [_state(call)]
    exit_status = _exit_status(call)
    if exit_status:
        found.append(f"exit status {exit_status}")
    if call.answer is not None:
        found.append(describe(call.answer))
    if call.stands_for is not None:
        found.append("carries out the call approved above")
    if call.unasked:
        found.append("ran without asking")
    return [remark for remark in found if remark]


def describe(answer: Answer) -> str:
    """An answer and who gave it, in words."""
    choice = f"“{clean(answer.option.name)}”" if answer.option else "cancelled"
    who = {"you": "by you", "stop": "by Stop"}.get(answer.by, "without asking")
    if answer.by in ("agent", "stop"):
        return f"cancelled: {answer.why}" if answer.why else "cancelled"
    return f"{choice} {who}" + (f": {answer.why}" if answer.why else "")


def command_of(call: ToolCall) -> str:
    """The command that a call runs, if it runs one."""
    raw = _input(call)
    for key in COMMAND_KEYS:
        value = raw.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            return _shell(value)
    return ""


def output_of(call: ToolCall) -> str:
    """What a call printed or returned."""
    return next((text for label, text in _texts(call) if label == "output"), "")


def _texts(call: ToolCall) -> list[tuple[str, str]]:
    """The texts of a call: what it says of itself while it waits, and what it returned.

    Text content is the output, unless the call returned one besides: codex-acp describes a command
    in the content of its permission request, and never replaces that.
    """
    told = "\n".join(t for item in call.content if (t := _content_text(item)))
    returned = _returned(call)
    if not told or (told and not returned and call.status in ("completed", "failed")):
        return [("output", told or returned)]
    own = returned if isinstance(call.raw_output, Mapping) else ""
    return [("details", told), ("output", own)]


def _returned(call: ToolCall) -> str:
    raw = call.raw_output
    if isinstance(raw, Mapping):
        return _text(raw, OUTPUT_KEYS) or (_json(raw) if not _exit_status(call) else "")
    # Antigravity's is a string for display, often just the title again (seed, phase 2, 3).
    text = raw if isinstance(raw, str) else _json(raw)
    return "" if call.superseded or text.strip() in ("", call.title, "null") else text


def relative(path: str, folder: str) -> str:
    """A path as seen from the notebook's folder, if it lies inside."""
    root = folder.rstrip(os.sep) + os.sep
    return path.removeprefix(root)


# -- the heading


def _mark(call: ToolCall) -> str:
    if call.superseded:
        return "↷"
    if call.answer is not None and not call.answer.allowed:
        return "⊘"
    return MARKS.get(call.status, "•") if not call.unfinished else "…"


def _state(call: ToolCall) -> str:
    if call.superseded:
        return "superseded: approved, then done under another id"
    if call.unfinished:
        return "unfinished at the end of the turn"
    if call.answer is not None and not call.answer.allowed:
        return ""
    return {"failed": "failed", "in_progress": "running"}.get(
        call.status, "" if call.status in MARKS else clean(call.status)
    )


def _subject(call: ToolCall, folder: str) -> str:
    text = _subject_text(call, folder)
    stats = "".join(f" {faint(diffs.stat(d))}" for d in _diffs(call)[:1] if len(_diffs(call)) == 1)
    if _is_choice(call):
        return escape(text)
    return code(text) + stats if text else ""


def _subject_text(call: ToolCall, folder: str) -> str:
    paths = [relative(path, folder) for path in call.paths]
    if paths and call.kind in ("edit", "delete", "move", "read"):
        return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    if command := command_of(call):
        return _short(command)
    return _short(call.title.replace(folder.rstrip(os.sep) + os.sep, "")) or call.id


def _short(text: str) -> str:
    first, *rest = clean(text).strip().split("\n")
    cut = first[:TITLE_CHARS]
    return cut + ("…" if rest or len(first) > TITLE_CHARS else "")


def _names(call: ToolCall, command: str) -> bool:
    """Whether the heading already shows the whole command."""
    return _short(command) == command and call.kind not in ("edit", "delete", "move", "read")


# -- the body


def _diffs(call: ToolCall) -> list[Diff]:
    return [item for item in call.content if isinstance(item, Diff)]


def _diff(diff: Diff, call: ToolCall, folder: str) -> str:
    label = f"{code(relative(diff.path, folder))} {faint(f'{diffs.what(diff)} {diffs.stat(diff)}')}"
    if len(_diffs(call)) == 1:
        label = faint(diffs.what(diff))
    refused = call.answer is not None and not call.answer.allowed
    return fold(label, diffs.render(diff), is_open=not refused and not call.superseded)


def _block(label: str, text: str) -> str:
    text = clean(text).strip("\n")
    shown, left_out = text[:OUTPUT_BYTES], len(text) - OUTPUT_BYTES
    note = f"\n… {left_out} characters are not shown" if left_out > 0 else ""
    lines = text.count("\n") + 1
    summary_line = faint(f"{label}, {lines} line{'s' if lines != 1 else ''}")
    return fold(summary_line, pre(shown + note), is_open=lines <= SHOWN_LINES)


def _arguments(call: ToolCall) -> str:
    raw = _input(call)
    return _json(raw)[:OUTPUT_BYTES] if raw else ""


def _is_choice(call: ToolCall) -> bool:
    """Whether the agent asks for the person's choice, rather than for leave to do something."""
    return call.question is not None and not call.question.is_permission


def _is_asking(call: ToolCall) -> bool:
    return call.question is not None and call.question.open


# -- what agents call things


def _input(call: ToolCall) -> Mapping[str, Any]:
    raw = call.raw_input
    if not isinstance(raw, Mapping):
        return {}
    # MCP tools come in an envelope (seed, phase 2, 3).
    inner = raw.get("arguments")
    return inner if isinstance(inner, Mapping) and len(raw) == 1 else raw


def _text(raw: Mapping[str, Any], keys: Iterable[str]) -> str:
    return next((v for key in keys if isinstance(v := raw.get(key), str) and v), "")


def _exit_status(call: ToolCall) -> str:
    raw = call.raw_output if isinstance(call.raw_output, Mapping) else {}
    value = next((raw[key] for key in EXIT_KEYS if raw.get(key) is not None), 0)
    return str(value) if value not in (0, "0") else ""


def _shell(words: list[Any]) -> str:
    text = [str(word) for word in words]
    if len(text) == 3 and text[1] in ("-c", "-lc"):
        return text[2]
    return " ".join(text)


def _content_text(item: Content | Diff | Terminal) -> str:
    if isinstance(item, Terminal):
        return item.output or f"(terminal {item.id})"
    if isinstance(item, Content) and item.type != "image":
        return _unfenced(item.text) or item.name or item.uri
    return ""


def _unfenced(text: str) -> str:
    lines = text.strip().split("\n")
    fenced = len(lines) > 2 and lines[0].startswith("```") and lines[-1].startswith("```")
    return "\n".join(lines[1:-1]) if fenced else text


def _json(value: Any) -> str:
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)
