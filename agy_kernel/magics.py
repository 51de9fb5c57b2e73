"""``%agy`` and ``%%agy``."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from .commands import Prompt, parse
from .display.markdown import safe
from .host import Host


@magics_class
class AgyMagics(Magics):
    """The magics of one shell.

    Args:
        shell: the IPython shell of a kernel.
    """

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.host = Host(shell)
        self._display = shell.display_pub

    @no_var_expand
    @line_cell_magic
    def agy(self, line: str, cell: str | None = None) -> None:
        """Ask the agent, or tell this kernel something about it: ``%agy help``."""
        if cell is not None:
            self._prompt(f"{line}\n{cell}" if line.strip() else cell)
            return
        parsed = parse(line)
        if isinstance(parsed, Prompt):
            self._prompt(parsed.text)
        else:
            command, words = parsed
            self._show(command.run(self.host, words))

    def _prompt(self, text: str) -> None:
        if text.strip():
            self.host.prompt(text)

    def _show(self, markdown: str) -> None:
        self._display.publish({"text/markdown": safe(markdown), "text/plain": markdown})
