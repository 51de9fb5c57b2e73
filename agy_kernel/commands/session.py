"""``%agy`` about the session: what it is, what is chosen in it, and which one it is."""

from __future__ import annotations

from datetime import UTC, datetime

from ..conversation.history import history
from ..conversation.store import Saved
from ..display import earlier
from ..display.markdown import safe
from ..errors import CommandError, RequestFailed
from ..events import Choices, SessionInfo
from ..host import Host
from ..kernels import runs_elsewhere
from ..questions import Confirmation
from ..tables import OurMarkdown, table
from .grammar import Run, unquoted

SHOWN = 30


def status(host: Host, _: list[str]) -> str:
    """Show agent, session, model and mode."""
    conversation = host.conversation
    engine = conversation.engine
    rows = [("agent", conversation.name), ("folder", conversation.cwd)]
    if engine is not None:
        rows.append(("running", f"{engine.info.label} {engine.info.version}, pid {engine.pid}"))
    else:
        rows.append(("running", "no; the next prompt starts it"))
    rows += [("session", conversation.session_id or "none yet")]
    rows += [("title", conversation.title)] if conversation.title else []
    rows += [(what, choices.name()) for what, choices in conversation.choices.items()]
    rows += [("permissions", host.settings.permissions)]
    return table(rows)


# -- what is chosen


def choose(what: str) -> Run:
    """The command that lists the models or modes, or chooses one."""

    def run(host: Host, words: list[str]) -> str:
        if words:
            return _choose(host, what, words)
        host.wait_for(host.conversation.ready())
        choices = host.conversation.choices.get(what)
        return f"The agent offers no choice of {what}." if choices is None else _list(choices)

    return run


def option(host: Host, words: list[str]) -> str:
    """List all that can be chosen, list one option's values, or choose one."""
    if len(words) > 1:
        return _choose(host, words[0], words[1:])
    host.wait_for(host.conversation.ready())
    known = host.conversation.choices
    if not words:
        rows = [(f"`{what}`", f"{c.name()} (of {len(c.available)})") for what, c in known.items()]
        return table(rows) if rows else "The agent offers nothing to choose."
    if words[0] not in known:
        raise CommandError(f"There is no option {words[0]!r}. There are: {', '.join(known)}.")
    return _list(known[words[0]])


def _choose(host: Host, what: str, words: list[str]) -> str:
    conversation = host.conversation
    chosen = host.wait_for(conversation.choose(what, unquoted(words)))
    if host.conversations.is_remembered(conversation):
        host.conversations.remember(conversation)
    return f"{what}: **{chosen}**"


def _list(choices: Choices) -> str:
    lines = [
        f"- {'**' if c.id == choices.current else ''}`{c.id}` {c.name}"
        f"{'** (current)' if c.id == choices.current else ''}"
        for c in choices.available
    ]
    if choices.current and choices.current not in (c.id for c in choices.available):
        lines.append(f"- **`{choices.current}`** (current, and not on offer)")
    return "\n".join(lines)


# -- which session


def new(host: Host, _: list[str]) -> str:
    """Begin a new session with the next prompt."""
    host.conversation.new_session()
    return "The next prompt begins a new session; the agent will not remember this one."


def sessions(host: Host, _: list[str]) -> str:
    """List the sessions in this folder: the agent's own list, or what this notebook remembers."""
    conversation = host.conversation
    listed = host.wait_for(conversation.sessions())
    if listed is None:
        home = host.conversations.home(conversation)
        remembered = host.conversations.store.sessions(home.engine, home.agent, home.folder)
        listed = [_info(saved) for saved in remembered]
    if not listed:
        return "There is no session in this folder yet."
    rows = [(f"`{s.id}`", _describe(s, s.id == conversation.session_id)) for s in listed[:SHOWN]]
    more = f"\n\n{len(listed) - SHOWN} more are not shown." if len(listed) > SHOWN else ""
    return f"{table(rows)}{more}\n\n`%agy resume ID` goes on with one."


def resume(host: Host, words: list[str]) -> str:
    """Go on with an earlier session: the one with this id, or the one before this."""
    conversation = host.conversation
    session_id = words[0] if words else _before(host)
    told = history(host.wait_for(conversation.resume(session_id)))
    used_by = host.conversations.resumed(conversation)
    title = f" ({conversation.title})" if conversation.title else ""
    said = f"The session `{session_id}`{title} goes on with the next prompt."
    if used_by is not None:
        said += f" ⚠ Another kernel (process {used_by}) uses it, too: ask in one of them only."
    if not told.said:
        return said
    return OurMarkdown(f"{safe(said)}\n\n{earlier.html(told)}", f"{said}\n{earlier.plain(told)}")


def fork(host: Host, _: list[str]) -> str:
    """Go on in a copy of this session."""
    before = host.conversation.session_id
    after = host.wait_for(host.conversation.fork())
    host.conversations.remember(host.conversation)
    return f"This notebook goes on in the session `{after}`, a copy of `{before}`."


def close(host: Host, _: list[str]) -> str:
    """Close this session; the next prompt begins another."""
    session_id = host.conversation.session_id
    if session_id is None:
        return "There is no session to close."
    try:
        host.wait_for(host.conversation.close_session())
    except RequestFailed as error:
        return f"The session `{session_id}` was let go of; the agent did not close it: {error}."
    return f"The session `{session_id}` is closed; the next prompt begins another."


def delete(host: Host, words: list[str]) -> str:
    """Delete a session for good, after asking."""
    session_id = words[0]
    question = f"Delete the session {session_id} for good?"
    answer = host.ask(Confirmation(question, ("The agent cannot bring it back.",), yes="Delete"))
    if not answer.accepted:
        return f"Nothing was deleted{f': {answer.why}' if answer.why else ''}."
    host.wait_for(host.conversation.delete_session(session_id))
    home = host.conversations.home(host.conversation)
    host.conversations.store.forget(home.engine, home.agent, session_id)
    return f"The session `{session_id}` is deleted."


def restart(host: Host, _: list[str]) -> str:
    """End the agent; the next prompt starts another one, and goes on with the session."""
    host.wait_for(host.conversation.restart())
    return "The agent was ended. The next prompt starts it anew and goes on with the session."


def _before(host: Host) -> str:
    """The session that was used before the one that is open, and by no kernel that runs."""
    conversation = host.conversation
    home = host.conversations.home(conversation)
    known = host.conversations.store.sessions(home.engine, home.agent, home.folder)
    others = (saved for saved in known if saved.session_id != conversation.session_id)
    free = next((saved for saved in others if runs_elsewhere(saved.kernel) is None), None)
    if free is None:
        raise CommandError(
            "no earlier session is remembered in this folder, or other kernels use them; "
            "see %agy sessions."
        )
    return free.session_id


def _minute(stamp: str) -> str:
    """A time as people here write it; as it is where it is none."""
    try:
        return datetime.fromisoformat(stamp).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return stamp


def _info(saved: Saved) -> SessionInfo:
    used = datetime.fromtimestamp(saved.used, UTC).isoformat()
    return SessionInfo(saved.session_id, saved.home.folder, saved.title, used)


def _describe(info: SessionInfo, is_current: bool) -> str:
    parts = [info.title, _minute(info.updated), "**this one**" if is_current else ""]
    return ", ".join(part for part in parts if part) or "without a title"
