"""``%agy doctor``: what is installed, what runs, and what is wrong."""

from __future__ import annotations

from ..host import Host


def doctor(host: Host, words: list[str]) -> str:
    """Look whether everything is in order, this kernel too; no prompt is sent."""
    from ..doctor import command

    return command.doctor(host, words)


def fits(words: list[str]) -> bool:
    """Nothing, or ``--json``."""
    return words in ([], ["--json"])
