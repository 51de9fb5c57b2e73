"""``agy-kernel tape`` and ``agy-kernel replay``."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..acp.privacy import Privacy
from ..acp.stdio import Stdin, Stdout
from ..errors import AgentError, AgentNotFound
from .diff import diff
from .reading import of_run, read
from .replay import Replay
from .scrub import scrub
from .show import show
from .wrapper import record

TAPE_USAGE = """agy-kernel tape [--out FILE] -- COMMAND ...
       agy-kernel tape show [--json] FILE
       agy-kernel tape scrub IN OUT
       agy-kernel tape diff A B"""
NOT_FOUND, NOT_STARTED = 127, 126  # as shells say it


def tape(words: list[str]) -> int:
    """Run ``agy-kernel tape``; returns the exit status."""
    if "--" in words:
        at = words.index("--")
        return _record(words[:at], words[at + 1 :])
    parser = argparse.ArgumentParser("agy-kernel tape", usage=TAPE_USAGE)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add(commands, _show, "show", "print a tape, one line a frame", "FILE").add_argument(
        "--json", action="store_true", help="as JSON objects, one a line"
    )
    _add(commands, _scrub, "scrub", "copy a tape without what is private", "IN", "OUT")
    _add(commands, _diff, "diff", "print what differs in meaning; then the status is 1", "A", "B")
    wanted = parser.parse_args(words)
    run: Callable[[argparse.Namespace], int] = wanted.run
    try:
        return run(wanted)
    except BrokenPipeError:  # of `tape show ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def replay(words: list[str]) -> int:
    """Run ``agy-kernel replay``; returns the exit status, 1 where the client departed."""
    said = "Be an ACP agent that plays a tape, over stdio."
    parser = argparse.ArgumentParser("agy-kernel replay", description=said)
    parser.add_argument("tape", type=Path, metavar="TAPE")
    parser.add_argument(
        "--speed",
        choices=("real", "at-once"),
        default="at-once",
        help="whether the agent's pauses are kept (at-once)",
    )
    parser.add_argument(
        "--run", type=int, default=1, metavar="N", help="the tape's N-th start of an agent (1)"
    )
    try:
        return _ended_by(asyncio.run(_replay(parser.parse_args(words))))
    except KeyboardInterrupt:
        return 130


async def _replay(wanted: argparse.Namespace) -> int:

    lines = of_run(read(wanted.tape, _say), wanted.run)
    privacy = Privacy.of_this_machine()
    replay = Replay(lines, wanted.speed, Stdin(), Stdout(), privacy, _say)
    status = await replay.serve()
    return status if status is not None else int(replay.departures > 0)


def _record(options: list[str], command: list[str]) -> int:

    parser = argparse.ArgumentParser("agy-kernel tape", usage=TAPE_USAGE)
    named = time.strftime("tape-%Y%m%d-%H%M%S.jsonl")
    default = Path(os.environ.get("AGY_TAPE") or named).expanduser()
    parser.add_argument("--out", type=Path, default=default, metavar="FILE")
    wanted = parser.parse_args(options)
    if not command:
        parser.error("-- needs a command behind it")
    try:
        return _ended_by(record(command, wanted.out))
    except AgentError as error:
        print(f"agy-kernel: {error}", file=sys.stderr)
        return NOT_FOUND if isinstance(error, AgentNotFound) else NOT_STARTED


def _ended_by(status: int) -> int:
    """Pass a status on; an agent that a signal has ended ends us by the same one."""
    if status >= 0:
        return status
    if os.name == "posix" and -status != signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
    return 128 - status


def _show(wanted: argparse.Namespace) -> int:

    for line in show(wanted.FILE, wanted.json, _say):
        print(line)
    sys.stdout.flush()
    return 0


def _scrub(wanted: argparse.Namespace) -> int:

    changed = scrub(wanted.IN, wanted.OUT, _say)
    print(f"{wanted.OUT}: {changed} lines were changed. Read it before you send it.")
    return 0


def _diff(wanted: argparse.Namespace) -> int:

    lines = diff(wanted.A, wanted.B, _say)
    print("\n".join(lines) if lines else "The tapes mean the same.")
    return 1 if lines else 0


def _add(
    commands: Any, run: Callable[[argparse.Namespace], int], name: str, said: str, *files: str
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=said, description=f"{said.capitalize()}."
    )
    for file in files:
        command.add_argument(file, type=Path)
    command.set_defaults(run=run)
    return command


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
