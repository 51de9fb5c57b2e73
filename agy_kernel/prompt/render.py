"""A cell as Markdown: its source, what it showed, how it failed."""

from __future__ import annotations

import re

from ..secrets import Masker
from .cells import Cell, CellOutput
from .tidy import cut, tidy, without_base64

LINE = 100  # characters
BACKTICKS = re.compile("`+")


def cell_text(cell: Cell, output_limit: int, masker: Masker, is_known: bool = False) -> str:
    """A cell with its outputs, as Markdown.

    Args:
        output_limit: bytes of an output; an error gets twice as many.
        is_known: whether it was sent before, as it was then.
    """
    outputs = ((o.kind, _output_text(o, output_limit, masker)) for o in cell.outputs)
    parts = [
        _head(cell, is_known),
        fenced(clean(cell.source, masker), cell.language),
        *(f"{kind}:\n{fenced(text)}" for kind, text in outputs if text),
    ]
    if cell.error:
        error = cut(clean(tidy(cell.error), masker), 2 * output_limit)
        parts.append(f"error:\n{fenced(error)}")
    return "\n".join(parts)


def one_line(cell: Cell, masker: Masker) -> str:
    """The number of a cell and how its source begins."""
    first = masker.mask(cell.source).strip().partition("\n")[0]
    return f"[{cell.count}] {first[:LINE]}"


def clean(text: str, masker: Masker) -> str:
    """Text without secrets and base64, in this order: what stands beside a secret may be taken."""
    return without_base64(masker.mask(text))


def fenced(text: str, language: str = "") -> str:
    """Text in a code fence that it cannot close itself."""
    longest = max(map(len, BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _head(cell: Cell, is_known: bool) -> str:
    took = "" if cell.seconds is None else f"{cell.seconds:.1f} s"
    state = ("failed" + (f" after {took}" if took else "")) if cell.error else took
    notes = ", ".join(n for n in (state, "replaces what was sent of it before" * is_known) if n)
    return f"Cell [{cell.count}]" + (f" ({notes})" if notes else "")


def _output_text(output: CellOutput, limit: int, masker: Masker) -> str:
    text = cut(clean(tidy(output.text), masker), limit)
    picture = "(a picture)" if output.picture is not None else ""
    return "\n".join(part for part in (text, picture) if part)
