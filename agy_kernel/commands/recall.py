"""What the calls of this kernel's turns did, in full: ``%agy diff`` and ``%agy output``."""

from __future__ import annotations

from collections.abc import Iterator

from ..conversation.toolcalls import ToolCall
from ..display import changes
from ..display.arguments import readable
from ..display.calls import arguments_of, command_of, is_program, texts_of
from ..display.headings import summary
from ..display.outputs import in_full
from ..display.place import Place
from ..errors import CommandError
from ..events import Diff
from ..host import Host
from ..tables import PlainText, fenced
from ..text import clean

# With more, colours are not worth what they cost a front end, whatever the lines are like.
LONGEST_FENCE, LARGEST_FENCE = 2_000, 100_000  # lines, characters


def diff(host: Host, words: list[str]) -> str:
    """Show diffs in full: the last turn's, or a call's."""
    calls = [_find(host, words[0])] if words else _last_turn(host)
    found = [(call, one) for call in calls for one in call.changes]
    texts = [(_title(call, one, host), changes.plain(one)) for call, one in found]
    lines, size = sum(text.count("\n") for _, text in texts), sum(len(text) for _, text in texts)
    if lines > LONGEST_FENCE or size > LARGEST_FENCE:
        return PlainText(clean("\n\n".join(f"{title}\n{text}" for title, text in texts)))
    return "\n\n".join(f"{t}\n{fenced(text, 'diff')}" for t, text in texts) or "No diff to show."


def output(host: Host, words: list[str]) -> str:
    """Show in full what a call was given and what it returned: the last one, or a certain one."""
    call = _find(host, words[0]) if words else _last_with_output(host)
    if call is None:
        return "No output to show."
    title = f"[{summary(call, Place(host.conversation.cwd))}]"
    return PlainText("\n".join([title, *_all_of(call)]))


def _all_of(call: ToolCall) -> Iterator[str]:
    if command := command_of(call):
        yield f"$ {clean(command)}"
    elif not call.changes and (arguments := arguments_of(call)):
        yield clean(readable(arguments))
    for label, text in texts_of(call):
        if text.strip():
            yield in_full(text, is_printed=label == "output" and is_program(call))


def _title(call: ToolCall, one: Diff, host: Host) -> str:
    path = Place(host.conversation.cwd).relative(one.path)
    return f"`{path}`: {changes.what(one)} {changes.stat(one)} ({call.status})"


def _find(host: Host, part: str) -> ToolCall:
    """The call with this id, or with this in its id; of several with one id the last.

    Raises:
        CommandError: there is none, or several.
    """
    known = {call.id: call for shown in host.turns for call in shown.transcript.tool_calls}
    if part in known:
        return known[part]
    found = [call for call_id, call in known.items() if part in call_id]
    if not found:
        raise CommandError(f"no tool call of the last turns has {part!r} in its id.")
    if len(found) > 1:
        ids = ", ".join(call.id for call in found[-5:])
        raise CommandError(f"{len(found)} tool calls have {part!r} in their id, such as {ids}.")
    return found[0]


def _last_turn(host: Host) -> list[ToolCall]:
    return list(host.turns[-1].transcript.tool_calls) if host.turns else []


def _last_with_output(host: Host) -> ToolCall | None:
    calls = [call for shown in host.turns for call in shown.transcript.tool_calls]
    return next((c for c in reversed(calls) if any(t.strip() for _, t in texts_of(c))), None)
