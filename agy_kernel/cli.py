"""The command line: ``agy-kernel doctor``, ``install``, ``simulate``, ``tape`` and others."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from . import __version__
from .errors import AgyError

CLOSING = 'The kernel itself is started by Jupyter: choose "Antigravity" in JupyterLab\'s launcher.'


def main(argv: list[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    words = sys.argv[1:] if argv is None else argv
    parser = _parser()
    try:
        if words and words[0] in ON_THEIR_OWN:
            return ON_THEIR_OWN[words[0]](words[1:])
        wanted = parser.parse_args(words)
        run: Callable[[argparse.Namespace], int] | None = getattr(wanted, "run", None)
        if run is None:
            parser.print_help(sys.stderr)
            return 2
        return run(wanted)
    except AgyError as error:
        print(f"agy-kernel: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("agy-kernel", epilog=CLOSING)
    parser.add_argument("--version", action="version", version=f"agy-kernel {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND")
    said = "look whether everything is in order, without any prompt"
    doctor = commands.add_parser("doctor", help=said, description=f"{said.capitalize()}.")
    doctor.add_argument("--json", action="store_true", help="print the report as JSON")
    doctor.set_defaults(run=_doctor)
    for name, run, said in (
        ("install", _install, "put the kernelspec into another environment's Jupyter"),
        ("uninstall", _uninstall, "take it out again"),
    ):
        command = commands.add_parser(name, help=said, description=f"{said.capitalize()}.")
        _add_places(command)
        command.set_defaults(run=run)
    commands.add_parser("simulate", help="be an ACP agent over stdio that needs no account")
    commands.add_parser("tape", help="record an agent for any client, or read what was recorded")
    commands.add_parser("replay", help="be an ACP agent over stdio that plays a tape")
    commands.add_parser("probe", help="put a build of an agent through fixed questions")
    return parser


def _add_places(command: argparse.ArgumentParser) -> None:
    where = command.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--user",
        dest="prefix",
        action="store_const",
        const=None,
        help="in the user's folder, which every Jupyter of the user reads",
    )
    where.add_argument(
        "--sys-prefix",
        dest="prefix",
        action="store_const",
        const=sys.prefix,
        help="in this Python's own environment",
    )
    where.add_argument("--prefix", metavar="PATH", help="in the environment at PATH")


def _simulate(words: list[str]) -> int:
    from .agents import simulator

    return simulator.main(words)


def _tape(words: list[str]) -> int:
    from .tapes import command

    return command.tape(words)


def _replay(words: list[str]) -> int:
    from .tapes import command

    return command.replay(words)


def _probe(words: list[str]) -> int:
    from .probes.command import probe

    return probe(words)


ON_THEIR_OWN = {"simulate": _simulate, "tape": _tape, "replay": _replay, "probe": _probe}
"""Commands that read their own options, ``--help`` too."""


def _doctor(wanted: argparse.Namespace) -> int:
    from .doctor.command import main

    return main(wanted.json)


def _install(wanted: argparse.Namespace) -> int:
    from .install import install

    print("\n".join(install(wanted.prefix)))
    return 0


def _uninstall(wanted: argparse.Namespace) -> int:
    from .install import uninstall

    print("\n".join(uninstall(wanted.prefix)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
