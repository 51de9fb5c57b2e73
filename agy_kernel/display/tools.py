"""A tool call as a card: one line that says what it is and how it went, and what it did below."""

from __future__ import annotations

import os

from ..conversation.transcript import ToolCall
from ..events import Answer, Content, Diff
from . import diffs
from .calls import (
    arguments_of,
    as_json,
    command_of,
    exit_status_of,
    files_of,
    folder_of,
    texts_of,
)
from .html import code, escape, faint, fold, frame, pre
from .markdown import clean
from .media import picture

SHOWN_LINES = 12
OUTPUT_BYTES = 20_000
TITLE_CHARS = 120
ABOUT_FILES = ("edit", "delete", "move", "read")

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
    parts = [_diff(diff, call, folder) for diff in call.changes]
    command = command_of(call)
    if command and not _names(call, command):
        parts.append(pre(f"$ {command}"))
    arguments = "" if _is_choice(call) else _arguments(call)
    if arguments and not command and not parts:
        parts.append(fold(faint("arguments"), pre(arguments), is_open=_is_asking(call)))
    parts += [picture(c) for c in call.content if isinstance(c, Content) and c.type == "image"]
    if not _is_choice(call):
        parts += [_block(label, text) for label, text in texts_of(call) if text.strip()]
    return "".join(parts)


def request(call: ToolCall, folder: str) -> str:
    """What exactly would run, for the person who is asked: nothing folded away but length."""
    command = command_of(call)
    where = folder_of(call) or (folder if command or call.kind == "execute" else "")
    place = f"<div>{faint('in')} {code(where)}</div>" if where else ""
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
    if exit_status := exit_status_of(call):
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


def relative(path: str, folder: str) -> str:
    """A path as seen from the notebook's folder, if it lies inside."""
    return path.removeprefix(_root(folder))


def _root(folder: str) -> str:
    """What paths inside a folder begin with; what is inside the whole disk stays absolute."""
    inside = folder.rstrip(os.sep)
    return inside + os.sep if inside else ""


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
    stats = f" {faint(diffs.stat(call.changes[0]))}" if len(call.changes) == 1 else ""
    if _is_choice(call):
        return escape(text)
    return code(text) + stats if text else ""


def _subject_text(call: ToolCall, folder: str) -> str:
    paths = [relative(path, folder) for path in files_of(call)]
    if paths and call.kind in ABOUT_FILES:
        return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    if command := command_of(call):
        return _short(command)
    root = _root(folder)
    return _short(call.title.replace(root, "") if root else call.title) or call.id


def _short(text: str) -> str:
    first, *rest = clean(text).strip().split("\n")
    cut = first[:TITLE_CHARS]
    return cut + ("…" if rest or len(first) > TITLE_CHARS else "")


def _names(call: ToolCall, command: str) -> bool:
    """Whether the heading already shows the whole command."""
    return _short(command) == command and call.kind not in ABOUT_FILES


# -- the body


def _diff(diff: Diff, call: ToolCall, folder: str) -> str:
    label = f"{code(relative(diff.path, folder))} {faint(f'{diffs.what(diff)} {diffs.stat(diff)}')}"
    if len(call.changes) == 1:
        label = faint(diffs.what(diff))
    refused = call.answer is not None and not call.answer.allowed
    is_real = not refused and not call.superseded and call.status != "failed"
    return fold(label, diffs.render(diff), is_open=is_real)


def _block(label: str, text: str) -> str:
    text = clean(text).strip("\n")
    shown, left_out = text[:OUTPUT_BYTES], len(text) - OUTPUT_BYTES
    note = f"\n… {left_out} characters are not shown" if left_out > 0 else ""
    lines = text.count("\n") + 1
    summary_line = faint(f"{label}, {lines} line{'s' if lines != 1 else ''}")
    return fold(summary_line, pre(shown + note), is_open=lines <= SHOWN_LINES)


def _arguments(call: ToolCall) -> str:
    raw = arguments_of(call)
    return as_json(raw)[:OUTPUT_BYTES] if raw else ""


def _is_choice(call: ToolCall) -> bool:
    """Whether the agent asks for the person's choice, rather than for leave to do something."""
    return call.question is not None and not call.question.is_permission


def _is_asking(call: ToolCall) -> bool:
    return call.question is not None and call.question.open
