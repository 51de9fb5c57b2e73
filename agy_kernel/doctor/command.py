"""The doctor as a command: ``agy-kernel doctor`` and ``%agy doctor``."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from .. import __version__
from ..agents import catalogue
from ..configuration import Configuration
from ..context import own_folder
from ..conversation.conversation import Conversation
from ..errors import AgyError
from ..host import Host
from ..secrets import Masker
from ..settings import Settings
from ..tables import PlainText
from ..text import clean
from . import agent, installation, running
from .checks import Check, Report, Section
from .render import as_json, as_markdown, as_text
from .this_kernel import this_kernel

Wait = Callable[[Coroutine[Any, Any, list[Check]]], list[Check]]


def main(is_json: bool) -> int:
    """Print a report; returns the exit status, 1 where something does not work.

    Args:
        is_json: as JSON instead of text.
    """
    configuration = Configuration(own_folder() / "settings.json")
    settings = configuration.settings
    said = f"Looking around; the agent has {settings.start_timeout:g} s to start ..."
    print(said, file=sys.stderr)
    report = _report(configuration, lambda: _fresh(settings, asyncio.run))
    print(as_json(report) if is_json else as_text(report))
    return 1 if report.verdict == "fail" else 0


def doctor(host: Host, words: list[str]) -> str:
    """The report with this kernel in it; ``--json`` as JSON."""
    running_here = _conversation(host)

    def look() -> list[Check]:
        engine = running_here.engine if running_here is not None else None
        if running_here is None or engine is None or not engine.alive:
            return _fresh(host.settings, host.wait_for)
        signed_in = [Check("signed in", "ok", "yes, a session is open")]
        if not running_here.is_open:
            # Another one is asked: this one could open a browser, and wait for minutes.
            fresh = _fresh(host.settings, host.wait_for)
            signed_in = [check for check in fresh if check.name == "signed in"]
        return [Check("starts", "ok", "it runs"), *agent.described(engine), *signed_in]

    sections = this_kernel(host.conversations.all)
    report = _report(host.configuration, look, sections)
    return PlainText(as_json(report)) if words == ["--json"] else as_markdown(report)


def _report(
    configuration: Configuration, look: Callable[[], list[Check]], more: list[Section] | None = None
) -> Report:
    found = agent.found(configuration.settings)
    is_there = all(check.verdict != "fail" or check.name != "found" for check in found)
    sections = [
        installation.kernelspec(),
        installation.versions(),
        Section("Agent", (*found, *(look() if is_there else ()))),
        installation.settings(configuration),
        running.kernels(),
        *(more or ()),
    ]
    masker = Masker(os.environ)
    return Report(__version__, tuple(sections)).through(lambda text: masker.mask(clean(text)))


def _fresh(settings: Settings, wait: Wait) -> list[Check]:
    """Start an agent only to look at it."""
    try:
        launch = catalogue.find(settings.agent, settings.acp_bin)
    except AgyError as error:
        return [Check("starts", "fail", str(error))]
    return wait(agent.started(launch, settings))


def _conversation(host: Host) -> Conversation | None:
    """The conversation with the agent that the settings name, if anybody has needed it."""
    known = host.conversations
    named = (c for c in known.all if known.home(c).agent == host.settings.agent)
    return next(named, None)
