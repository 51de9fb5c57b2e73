"""How the simulator behaves, as its flags say."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .sessions import default_folder

Cancel = Literal["honoured", "ignored", "leaks", "with-id"]

CANCEL_HELP = """\
what session/cancel does: it ends the turn (honoured, the default); it and every other way to
stop a turn are ignored (ignored); it ends the turn, and a message text tells of it first, as
some builds leak (leaks); only a request with an id ends the turn (with-id)"""


@dataclass(frozen=True)
class Behaviour:
    """How to behave.

    Args:
        signed_out: whether a sign-in is required first.
        cancel: what ``session/cancel`` does.
        ignore_eof: outlive the end of stdin, and ignore TERM.
        usage: report tokens, which RC01 never does.
        whole_text: send a text in one chunk instead of deltas.
        keep_config: let model and mode survive ``session/load``, which they do not on RC01.
        start_delay: seconds before ``initialize`` is answered.
        chunk_delay: seconds between two chunks.
        state: the folder that sessions are kept in.
    """

    signed_out: bool
    cancel: Cancel
    ignore_eof: bool
    usage: bool
    whole_text: bool
    keep_config: bool
    start_delay: float
    chunk_delay: float
    state: Path


def parse(argv: list[str]) -> Behaviour:
    """Read the flags; ends the program where they are wrong, or ask for help."""
    parser = argparse.ArgumentParser(
        prog="agy-kernel simulate",
        description=(
            "A simulated Antigravity: an ACP agent on standard input and output, without a model "
            "and without an account. Its wire follows Google's build RC01."
        ),
    )
    flag = parser.add_argument
    flag("--signed-out", action="store_true", help="require a sign-in first")
    flag(
        "--cancel",
        choices=["honoured", "ignored", "leaks", "with-id"],
        default="honoured",
        help=CANCEL_HELP,
    )
    flag("--ignore-eof", action="store_true", help="outlive the end of stdin, and ignore SIGTERM")
    flag("--usage", action="store_true", help="report tokens (made up from lengths)")
    flag("--whole-text", action="store_true", help="send a text in one chunk instead of deltas")
    flag("--keep-config", action="store_true", help="keep model and mode across session/load")
    flag(
        "--start-delay",
        type=_seconds,
        default=0.0,
        metavar="S",
        help="seconds before initialize is answered",
    )
    flag(
        "--chunk-delay",
        type=_seconds,
        default=0.015,
        metavar="S",
        help="seconds between two chunks of a text (default: %(default)s)",
    )
    flag(
        "--state",
        type=Path,
        default=default_folder(),
        metavar="DIR",
        help="the folder that sessions are kept in (default: %(default)s)",
    )
    return Behaviour(**vars(parser.parse_args(argv)))


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise ValueError
    return value
