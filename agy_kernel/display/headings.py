"""The first line of a tool call: what, on what, and how it went; as HTML and as text."""

from __future__ import annotations

from ..conversation.toolcalls import ToolCall
from ..errors import shortened as cut_words
from ..questions import Answer, Option
from ..text import clean, revealed
from . import changes
from .approval import strayed
from .calls import command_of, exit_status_of, files_of, moved_of
from .html import code, escape, faint
from .labels import labels
from .mcp import mcp_tool
from .place import Place
from .saved_notebooks import is_notebook_path

TITLE_CHARS = 120
LONGEST_PATH = 4_096
ABOUT_FILES = ("edit", "delete", "move", "read")
CHANGING = ("edit", "delete", "move")

MARKS = {"pending": "○", "in_progress": "◐", "completed": "✓", "failed": "✗"}
DEEDS = {"execute": "run", "switch_mode": "switch mode", "other": "tool"}


def heading(call: ToolCall, place: Place) -> str:
    """The first line, as HTML."""
    words = [_mark(call), f"<b>{escape(deed(call))}</b>", _subject(call, place)]
    words += [faint(f"· {escape(remark)}") for remark in remarks(call)]
    return " ".join(word for word in words if word)


def summary(call: ToolCall, place: Place) -> str:
    """The first line, as plain text."""
    subject = _subject_text(call, place)
    subject = subject if is_choice(call) else revealed(subject)
    parts = [deed(call), subject, *remarks(call), warning(call, place)]
    return clean(" · ".join(part for part in parts if part)).replace("\n", " ")


def deed(call: ToolCall) -> str:
    """The kind of work, in a word or two."""
    if is_choice(call):
        return "question"
    return "tool" if mcp_tool(call) else DEEDS.get(call.kind, shortened(call.kind))


def remarks(call: ToolCall) -> list[str]:
    """What else is to be said of a call, most important first."""
    found = [_state(call)]
    if exit_status := exit_status_of(call):
        found.append(f"exit status {shortened(exit_status)}")
    if call.answer is not None:
        found.append(describe(call.answer))
    if strayed(call):
        found.append("⚠ not what was approved")
    if call.stands_for is not None:
        found.append("carries out the call approved above")
    if call.unasked:
        found.append("ran without asking")
    return [remark for remark in found if remark]


def describe(answer: Answer) -> str:
    """An answer and who gave it, in words."""
    choice = _choice(answer.option) if answer.option else "cancelled"
    who = {"you": "by you", "stop": "by Stop"}.get(answer.by, "without asking")
    if answer.by in ("agent", "stop"):
        return f"cancelled: {answer.why}" if answer.why else "cancelled"
    return f"{choice} {who}" + (f": {answer.why}" if answer.why else "")


def _choice(option: Option) -> str:
    """The answer as it stood on its button: the agent may call "Deny" what allows."""
    (label,) = labels([option])
    return label.text if "“" in label.text else f"“{label.text}”"


def warning(call: ToolCall, place: Place) -> str:
    """What to do about a notebook that is changed on disk while it may be open (report 41)."""
    notebooks = [path for path in files_of(call) if is_notebook_path(path)]
    is_change = bool(call.changes) or call.kind in CHANGING
    if not notebooks or not is_change or was_refused(call):
        return ""
    if any(place.is_open(path) for path in notebooks):
        done = call.status == "completed"
        what = "changed the notebook that is open here" if done else "changes the open notebook"
        return (
            f"⚠ The agent {what}, on disk. Reload it from disk to see that; "
            "what you have not saved is lost then, and saving overwrites what the agent did."
        )
    return "If this notebook is open, reload it from disk."


def was_refused(call: ToolCall) -> bool:
    """Whether somebody, or a policy, did not let it run."""
    return call.answer is not None and not call.answer.allowed


def is_choice(call: ToolCall) -> bool:
    """Whether the agent asks for the person's choice, rather than for leave to do something."""
    return call.question is not None and call.question.is_choice


def says_all(call: ToolCall, text: str) -> bool:
    """Whether the first line shows the whole of a command."""
    return shortened(text) == text and call.kind not in ABOUT_FILES


def shortened(text: str) -> str:
    """The first line of a text, cut to what a heading can bear."""
    first, *rest = clean(text).strip().split("\n", 1)
    cut = first[:TITLE_CHARS]
    return cut + ("…" if rest or len(first) > TITLE_CHARS else "")


def path_of(path: str, place: Place) -> str:
    """A path as seen from the folder; no file has one that is longer than this shows."""
    return cut_words(place.relative(path), LONGEST_PATH)


def _mark(call: ToolCall) -> str:
    if call.superseded:
        return "↷"
    if was_refused(call):
        return "⊘"
    if _is_waiting(call):
        return MARKS["pending"]
    return MARKS.get(call.status, "•") if not call.unfinished else "…"


def _state(call: ToolCall) -> str:
    if call.superseded:
        return "superseded: approved, then done under another id"
    if call.unfinished:
        return "unfinished at the end of the turn"
    if was_refused(call) or _is_waiting(call):
        return ""
    return {"failed": "failed", "in_progress": "running"}.get(
        call.status, "" if call.status in MARKS else shortened(call.status)
    )


def _is_waiting(call: ToolCall) -> bool:
    """Whether a person is being asked about it; opencode calls that running."""
    return call.question is not None and call.question.open


def _subject(call: ToolCall, place: Place) -> str:
    text = _subject_text(call, place)
    if is_choice(call):
        return escape(text)
    stats = f" {faint(escape(changes.stat(call.changes[0])))}" if len(call.changes) == 1 else ""
    return code(text) + stats if text else ""


def _subject_text(call: ToolCall, place: Place) -> str:
    if tool := mcp_tool(call):
        return shortened(str(tool))
    if moved := moved_of(call):
        return " → ".join(path_of(path, place) for path in moved)
    paths = [path_of(path, place) for path in files_of(call)]
    if paths and call.kind in ABOUT_FILES:
        return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    if command := command_of(call):
        return shortened(revealed(command))
    title = call.title.replace(place.prefix, "") if place.prefix else call.title
    return shortened(title) or shortened(call.id)
