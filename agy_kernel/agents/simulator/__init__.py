"""A simulated Antigravity: an ACP agent over stdio for the tour, the tests, and no account.

Its wire follows Google's build RC01 as the first seed document saw it; docs/simulator.md says
what it does on which prompt, and how its behaviour can be changed.
"""

from __future__ import annotations

import asyncio
import signal
import sys

from ...acp.stdio import Stdin, Stdout
from .agent import Agent
from .behaviour import Behaviour, parse

__all__ = ["main"]


def main(argv: list[str]) -> int:
    """Serve the client on standard input and output until it has gone; returns the exit status."""
    behaviour = parse(argv)
    if sys.stdin.isatty():
        print("This is an ACP agent: it expects JSON-RPC on standard input.", file=sys.stderr)
    try:
        asyncio.run(_serve(behaviour))
    except KeyboardInterrupt:
        return 130
    return 0


async def _serve(behaviour: Behaviour) -> None:
    if behaviour.ignore_eof:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    await Agent(Stdin(), Stdout(), behaviour).serve()
    if behaviour.ignore_eof:
        await asyncio.Event().wait()
