"""A tool call as a card: one line that says what it is and how it went, and what it did below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..conversation.toolcalls import ToolCall
from ..events import Content, Diff
from ..text import clean, revealed
from . import changes, contents
from .arguments import readable
from .calls import (
    arguments_of,
    command_of,
    files_of,
    folder_of,
    is_program,
    output_of,
    texts_of,
)
from .headings import (
    heading,
    is_choice,
    path_of,
    says_all,
    shortened,
    summary,
    warning,
    was_refused,
)
from .html import code, escape, faint, fold, frame, pre, whole
from .mcp import mcp_tool
from .outputs import bounded, command
from .place import Place
from .saved_notebooks import is_notebook, is_notebook_path

SHOWN_LINES = 12
SHOWN_CHARS = 4_000


def card(call: ToolCall, place: Place) -> str:
    """The card of a call, as HTML."""
    return frame(heading(call, place) + body(call, place))


def request(call: ToolCall, place: Place) -> str:
    """What exactly would run, for the person who is asked: nothing folded away but length."""
    runs = command_of(call)
    where = folder_of(call) or (place.folder if runs or call.kind == "execute" else "")
    folder = f"<div>{faint('in')} {code(where)}</div>" if where and not mcp_tool(call) else ""
    line = whole(f"$ {runs}") if runs and says_all(call, runs) else ""
    if not runs and shortened(call.title) != call.title:
        line = whole(call.title)
    return frame(heading(call, place) + line + folder + body(call, place))


def as_text(call: ToolCall, place: Place, is_known: bool = False) -> str:
    """The card as plain text, for consoles.

    Args:
        is_known: whether what it does was shown before; then only how it went is told.
    """
    parts = [f"[{summary(call, place)}]"]
    if not is_known:
        parts += _deeds(call)
    parts += [contents.line(content, place) for content in _shown_apart(call)]
    if output := output_of(call):
        parts.append(bounded(output, command("output", call), is_program(call)))
    return clean("\n".join(part for part in parts if part))


def _deeds(call: ToolCall) -> list[str]:
    """What a call does, as plain text."""
    parts = []
    if runs := command_of(call):
        parts.append(f"$ {revealed(runs)}")
    elif not call.changes and not is_choice(call) and arguments_of(call):
        written, raw = _told_apart(call)
        parts += [bounded(changes.plain(d), command("output", call)) for d in written.values()]
        parts += [bounded(revealed(readable(raw)), command("output", call))] if raw else []
    return parts + [bounded(changes.plain(d), command("diff", call)) for d in call.changes]


def body(call: ToolCall, place: Place) -> str:
    """What the call does, or did: diffs, the command and its output, or the arguments."""
    parts = [_diff(diff, call, place) for diff in call.changes]
    if text := warning(call, place):
        parts.insert(0, f"<div>{escape(text)}</div>")
    runs = command_of(call)
    if runs and not says_all(call, runs):
        parts.append(whole(f"$ {runs}"))
    if not (runs or call.changes or is_choice(call)):
        parts.append(_arguments(call))
    parts += [contents.block(content, place, call.id) for content in _shown_apart(call)]
    if not is_choice(call):
        parts += [_output(label, text, call) for label, text in texts_of(call) if text.strip()]
    return "".join(parts)


def _diff(diff: Diff, call: ToolCall, place: Place) -> str:
    label = faint(changes.what(diff))
    if len(call.changes) > 1:
        what = faint(escape(f"{changes.what(diff)} {changes.stat(diff)}"))
        label = f"{code(path_of(diff.path, place))} {what}"
    is_real = not was_refused(call) and not call.superseded and call.status != "failed"
    return fold(label, changes.render(diff, command("diff", call)), is_open=is_real)


def _output(label: str, text: str, call: ToolCall) -> str:
    lines = text.strip("\n").count("\n") + 1
    words = faint(f"{label}, {lines:,} line{'s' if lines != 1 else ''}")
    shown = bounded(text, command("output", call), label == "output" and is_program(call))
    return fold(words, pre(shown), is_open=lines <= SHOWN_LINES and len(text) <= SHOWN_CHARS)


def _arguments(call: ToolCall) -> str:
    written, raw = _told_apart(call)
    full, is_asking = command("output", call), _is_asking(call)
    parts = [
        fold(faint(escape(f"{key}: a notebook")), changes.render(diff, full), is_open=is_asking)
        for key, diff in written.items()
    ]
    if raw:
        text = bounded(revealed(readable(raw)), full)
        parts.append(fold(faint("arguments"), whole(text), is_open=is_asking))
    return "".join(parts)


def _told_apart(call: ToolCall) -> tuple[dict[str, Diff], Mapping[str, Any]]:
    """The arguments that are whole notebooks, to be shown by cells, and all others.

    Agents that show no diff before they are allowed to write tell a file's new text among the
    arguments (Antigravity's ``create_file``).
    """
    raw = arguments_of(call)
    path = next((p for p in files_of(call) if is_notebook_path(p)), "")
    written = {
        key: Diff(path, None, value)
        for key, value in raw.items()
        if path and isinstance(value, str) and "{" in value[:100] and is_notebook(value)
    }
    return written, {key: value for key, value in raw.items() if key not in written}


def _shown_apart(call: ToolCall) -> list[Content]:
    return [c for c in call.content if isinstance(c, Content) and c.type != "text"]


def _is_asking(call: ToolCall) -> bool:
    return call.question is not None and call.question.open
