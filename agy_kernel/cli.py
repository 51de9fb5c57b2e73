"""The command line: ``agy-kernel simulate``."""

from __future__ import annotations

import sys

USAGE = """usage: agy-kernel simulate [OPTIONS]

  simulate   an ACP agent over stdio that needs no account (agy-kernel simulate --help)

The kernel itself is started by Jupyter: choose "Antigravity" in JupyterLab's launcher."""


def main(argv: list[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    command, *rest = (sys.argv[1:] if argv is None else argv) or ["--help"]
    if command == "simulate":
        from .agents import simulator

        return simulator.main(rest)
    print(USAGE, file=sys.stdout if command in ("-h", "--help") else sys.stderr)
    return 0 if command in ("-h", "--help") else 2
