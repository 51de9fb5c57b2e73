"""A tape, read line by line: of a gigabyte no more than a line is ever in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from ..acp.tape import FORMAT, NOTE
from ..errors import AgyError

LONGEST_LINE = 128 * 1024 * 1024
DIRECTIONS = ("c2a", "a2c", "stderr", NOTE)


class TapeError(AgyError):
    """A tape cannot be used; says which line, and why."""


class Header(NamedTuple):
    """What stands before the traffic of one agent process.

    Args:
        line: its number, from 1; 0 where the tape has none, for it is older than headers.
        about: date, platform, client and agent.
    """

    line: int
    about: dict[str, Any]


class Entry(NamedTuple):
    """A line of the wire.

    Args:
        line: its number, from 1.
        t: seconds, from any beginning.
        direction: ``c2a``, ``a2c``, ``stderr`` or ``note``.
        message: the frame; a string where the line was not JSON, and of stderr; of a note what it
            says, by its name.
    """

    line: int
    t: float
    direction: str
    message: Any


def read(path: Path, on_cut: Callable[[str], None]) -> Iterator[Header | Entry]:
    """The lines of a tape, in order; a header comes before the traffic of each agent process.

    Args:
        path: the file.
        on_cut: told that the last line is cut, as a crash leaves it; it is passed over.

    Raises:
        TapeError: it cannot be read, holds nothing, is of another version, was edited or shuffled.
    """
    try:
        with path.open("rb") as file:
            yield from _in_order(path, _lines(path, file, on_cut))
    except OSError as error:
        raise TapeError(f"the tape {path} cannot be read: {error.strerror}") from None


def of_run(lines: Iterator[Header | Entry], number: int) -> Iterator[Header | Entry]:
    """The header and entries of one agent process, by its number on the tape, from 1."""
    run = 0
    for line in lines:
        run += isinstance(line, Header)
        if run > number:
            return
        if run == number:
            yield line
    if run < number:
        raise TapeError(f"the tape holds {run} runs of an agent, and no number {number}")


def _in_order(path: Path, lines: Iterator[Header | Entry]) -> Iterator[Header | Entry]:
    last, is_empty, has_header, begun = 0.0, True, False, False
    for line in lines:
        if isinstance(line, Header):
            last, has_header = 0.0, True
            yield line
            continue
        is_empty = False
        if not has_header and (not begun or _begins(line)):
            last, begun = 0.0, True
            yield Header(0, {})
        if line.t < last:
            raise TapeError(
                f"{path}, line {line.line}: it is earlier than the line before. The lines were "
                "shuffled, or two kernels wrote to this file at once"
            )
        last = line.t
        yield line
    if is_empty:
        raise TapeError(f"the tape {path} holds no frames")


def _begins(entry: Entry) -> bool:
    frame = entry.message
    return isinstance(frame, dict) and frame.get("method") == "initialize"


def _lines(path: Path, file: IO[bytes], on_cut: Callable[[str], None]) -> Iterator[Header | Entry]:
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            raise TapeError(f"{path}, line {number}: longer than {LONGEST_LINE:,} bytes")
        if not line.strip():
            continue
        try:
            yield _line(number, json.loads(line))
        except (ValueError, RecursionError) as error:
            if not line.endswith(b"\n"):
                on_cut(f"{path}, line {number}: the last line is cut, and passed over")
                return
            why = error if isinstance(error, _Unfit) else "it is no JSON"
            raise TapeError(f"{path}, line {number}: no line of a tape: {why}") from None


class _Unfit(ValueError):
    """JSON, but nothing that stands on a tape."""


def _line(number: int, value: Any) -> Header | Entry:
    if not isinstance(value, dict):
        raise _Unfit("it is no object")
    if "tape" in value:
        if value["tape"] != FORMAT:
            raise TapeError(
                f"the tape is of format {value['tape']!r:.20}, and this agy-kernel reads {FORMAT}"
            )
        return Header(number, value)
    t, direction = value.get("t"), value.get("dir")
    if isinstance(t, bool) or not isinstance(t, int | float):
        raise _Unfit('"t" is no number')
    if direction not in DIRECTIONS:
        raise _Unfit(f'"dir" is none of {", ".join(DIRECTIONS)}')
    if "msg" not in value:
        raise _Unfit('"msg" is missing')
    return Entry(number, t, direction, value["msg"])
