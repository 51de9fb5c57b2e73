"""``%agy`` lines in Python cells, taken as they are typed.

IPython would take ``%agy what stands out?`` for a request for help. This transformer stands before
IPython's own and turns the line into a call, whatever the prose in it looks like; where the line
begins is told by tokens, so that a line in a string stays a string.
"""

from __future__ import annotations

from tokenize import TokenInfo
from typing import Any

from IPython.core.inputtransformer2 import TokenTransformBase


class AgyLine(TokenTransformBase):
    """A line that begins with ``%agy``."""

    priority = 1  # before IPython's help (5) and magics (10)

    @classmethod
    def find(cls, tokens_by_line: list[list[TokenInfo]]) -> AgyLine | None:
        """Find the first such line that is not transformed yet."""
        for line in tokens_by_line:
            written = [token for token in line if token.string.strip()][:3]
            if [token.string for token in written[:2]] != ["%", "agy"]:
                continue
            # Not "% agy", and not "%agy?", "%agy.x", "%agy=1".
            after = written[2:]
            if _touch(*written[:2]) and not (after and _touch(written[1], after[0])):
                return cls(written[0].start)
        return None

    def transform(self, lines: list[str]) -> list[str]:
        """Replace the line by the call that runs it."""
        line = lines[self.start_line]
        indent, prose = line[: self.start_col], line[self.start_col + len("%agy") :].strip()
        call = f"{indent}get_ipython().run_line_magic('agy', {prose!r})\n"
        return [*lines[: self.start_line], call, *lines[self.start_line + 1 :]]


def install(shell: Any) -> None:
    """Let a shell's cells be read so."""
    remove(shell)
    shell.input_transformer_manager.token_transformers.append(AgyLine)


def remove(shell: Any) -> None:
    """Undo ``install``."""
    transformers = shell.input_transformer_manager.token_transformers
    if AgyLine in transformers:
        transformers.remove(AgyLine)


def _touch(one: TokenInfo, other: TokenInfo) -> bool:
    return one.end == other.start
