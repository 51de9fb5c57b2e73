"""The options before a prompt: ``%%agy --with df --model x describe this``.

Options stand at the beginning of the line, and what follows them is prose that is taken as it is:
no quoting, no escapes. So the line is read from the left, option by option.
"""

from __future__ import annotations

import ast
import math
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from keyword import iskeyword
from typing import Any

from .errors import CommandError

OPTION = re.compile(r"\s*(?P<name>--?[A-Za-z][\w-]*)(?=\s|=|$)")
VALUE = re.compile(
    r"""(?:\s+|=)(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>(?!--?[A-Za-z])\S+))(?!\S)"""
)
CELLS = re.compile(r"(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?\Z")
USAGE = (
    "%%agy [--new] [--model MODEL] [--mode MODE] [--agent AGENT] [--with EXPR[,EXPR]] "
    "[--cells 3-7] [--no-context] [--image PATH] [-o NAME] [--code] [--timeout S] [--quiet]"
)


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for besides the prompt.

    Args:
        expressions: Python expressions whose values go along.
        cells: numbers of the cells that go along, and no others.
        context: whether the notebook goes along unasked.
        output: name of the variable that gets the reply.
        code: put the reply's code into the next cell.
        timeout: seconds that the turn may take.
        quiet: show nothing but questions.
    """

    new: bool = False
    model: str = ""
    mode: str = ""
    agent: str = ""
    expressions: tuple[str, ...] = ()
    cells: range | None = None
    context: bool = True
    images: tuple[str, ...] = ()
    output: str = ""
    code: bool = False
    timeout: float | None = None
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class _Kind:
    field: str
    takes_value: bool = True
    constant: Any = True


NAMES = {
    "--new": _Kind("new", takes_value=False),
    "--model": _Kind("model"),
    "--mode": _Kind("mode"),
    "--agent": _Kind("agent"),
    "--with": _Kind("expressions"),
    "--cells": _Kind("cells"),
    "--no-context": _Kind("context", takes_value=False, constant=False),
    "--image": _Kind("images"),
    "-o": _Kind("output"),
    "--code": _Kind("code", takes_value=False),
    "--timeout": _Kind("timeout"),
    "--quiet": _Kind("quiet", takes_value=False),
}


def read(line: str) -> tuple[Options, str]:
    """The options at the beginning of a line, and the rest of it: byte for byte.

    Raises:
        CommandError: an unknown option or a bad value, with the usage line.
    """
    options = Options()
    while (match := OPTION.match(line)) is not None:
        name, line = match["name"], line[match.end() :]
        kind = NAMES.get(name)
        if kind is None:
            raise _unknown(name)
        value: Any = kind.constant
        if kind.takes_value:
            value, line = _value(name, line)
        elif line.startswith("="):
            raise _wrong(f"{name} takes no value.")
        options = _with(options, kind.field, value, name)
        line = line.lstrip()
    return options, line


def _value(name: str, line: str) -> tuple[str, str]:
    match = VALUE.match(line)
    if match is None:
        raise _wrong(f"{name} needs a value.")
    text = next(v for v in (match["double"], match["single"], match["bare"]) if v is not None)
    return text, line[match.end() :]


def _with(options: Options, what: str, value: Any, name: str) -> Options:
    if what == "expressions":
        return replace(options, expressions=(*options.expressions, *_expressions(value)))
    if what == "images":
        return replace(options, images=(*options.images, value))
    if what == "cells":
        value = _cells(value)
    elif what == "timeout":
        value = _seconds(value)
    elif what == "output" and (not value.isidentifier() or iskeyword(value)):
        raise _wrong(f"{name} needs the name of a variable, not {value!r}.")
    return replace(options, **{what: value})


def _expressions(text: str) -> list[str]:
    """The expressions of a list with commas; a comma inside brackets separates nothing."""
    elements: list[ast.expr] = []
    # A comma at the end is one of "--with a, b": the rest of the list would be taken for prose.
    if not text.rstrip().endswith(","):
        with suppress(SyntaxError, ValueError, MemoryError, RecursionError):
            tree = ast.parse(f"[{text}]", mode="eval").body
            elements = tree.elts if isinstance(tree, ast.List) else []
    if not elements or any(isinstance(element, ast.Starred) for element in elements):
        raise _wrong(f"--with needs Python expressions, not {text!r}.")
    return [ast.unparse(element) for element in elements]


def _cells(text: str) -> range:
    match = CELLS.match(text)
    if match is None:
        raise _wrong(f"--cells needs numbers like 3 or 3-7, not {text!r}.")
    first = int(match["first"])
    last = int(match["last"] or first)
    if last < first:
        raise _wrong(f"--cells {text} is empty.")
    return range(first, last + 1)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise _wrong(f"--timeout needs seconds, not {text!r}.")
    return seconds


def _unknown(name: str) -> CommandError:
    near = get_close_matches(name, NAMES, n=2, cutoff=0.7)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return _wrong(f"unknown option {name}.{hint}")


def _wrong(what: str) -> CommandError:
    return CommandError(f"{what}\nUsage: {USAGE}\nNothing was sent.")
