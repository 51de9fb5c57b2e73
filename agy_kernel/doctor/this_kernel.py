"""This kernel: its conversations, what has happened to them, and what its agents said aside."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from ..conversation.conversation import Conversation
from ..conversation.ladder import CANCEL
from ..conversation.lifecycle import Moment
from .checks import Check, Section
from .running import tree


def this_kernel(conversations: list[Conversation]) -> list[Section]:
    """A section for the process, and one for each conversation."""
    process = Section("This kernel", (Check("process", "info", tree(os.getpid())),))
    return [process, *(_section(conversation) for conversation in conversations)]


def _section(conversation: Conversation) -> Section:
    checks = [_session(conversation), _process(conversation), *_restarts(conversation)]
    checks += [_rung(conversation), _bad_frames(conversation), *_told(conversation)]
    return Section(f"This kernel's conversation with {conversation.name}", tuple(checks))


def _session(conversation: Conversation) -> Check:
    if conversation.session_id is None:
        return Check("session", "info", "none yet")
    state = "open" if conversation.is_open else "opened again by the next prompt"
    return Check("session", "info", f"{conversation.session_id}, {state}")


def _process(conversation: Conversation) -> Check:
    engine = conversation.engine
    if engine is None or engine.pid is None:
        return Check("process", "info", "none runs; the next prompt starts one")
    return Check("process", "ok", f"{conversation.build}, {tree(engine.pid)}")


def _restarts(conversation: Conversation) -> Iterator[Check]:
    if not conversation.restarts:
        yield Check("restarts", "ok", "none")
    for number, why in enumerate(conversation.restarts, 1):
        yield Check(f"restart {number}", "warn", why)


def _rung(conversation: Conversation) -> Check:
    rung = conversation.rungs.get(conversation.build)
    if rung is None:
        return Check("stop", "info", "not needed yet with this build")
    is_best = rung == CANCEL.name
    return Check("stop", "ok" if is_best else "warn", f"the last turn was stopped by {rung}")


def _bad_frames(conversation: Conversation) -> Check:
    bad = conversation.bad_frames
    said = ", ".join(f"{count:,} × {what}" for what, count in sorted(bad.items()))
    todo = "`%agy tape` shows the last frames." if bad else ""
    return Check("bad frames", "warn" if bad else "ok", said or "none", todo)


def _told(conversation: Conversation) -> Iterator[Check]:
    if moments := conversation.life.moments:
        yield Check("what happened", "info", "\n".join(map(_line, moments)))
    if words := conversation.last_words.strip():
        yield Check("stderr, its end", "info", words)


def _line(moment: Moment) -> str:
    return f"{time.strftime('%H:%M:%S', time.localtime(moment.at))}  {moment.what}"
