"""``%agy`` and ``%%agy``."""

from __future__ import annotations

import atexit
from typing import Any

from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from .commands import Prompt, parse
from .display.markdown import safe
from .errors import AgyError
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
        """Ask the agent, or tell this kernel something about it: ``%agy help``.

        Of a cell, the first line may be a command; what is below it is a prompt.
        """
        prompt = cell or ""
        if line.strip() or cell is None:
            parsed = parse(line)
            if isinstance(parsed, Prompt):
                prompt = f"{parsed.text}\n{prompt}" if prompt else parsed.text
            else:
                command, words = parsed
                self._show(command.run(self.host, words))
        if prompt.strip():
            self.host.prompt(prompt)

    def _show(self, markdown: str) -> None:
        self._display.publish({"text/markdown": safe(markdown), "text/plain": markdown})


def load(shell: Any) -> None:
    """Add the magics to a shell.

    Raises:
        AgyError: the shell is not a kernel's.
    """
    if getattr(shell, "kernel", None) is None:
        raise AgyError("%agy needs a Jupyter kernel, and this is a terminal.")
    magics = AgyMagics(shell)
    shell.register_magics(magics)
    # Only our own kernel is told when it is shut down.
    atexit.register(magics.host.close)


def unload(shell: Any) -> None:
    """Take the magics away again, and end the agent."""
    manager = shell.magics_manager
    magics = manager.registry.pop(AgyMagics.__name__)
    for kind in ("line", "cell"):
        del manager.magics[kind]["agy"]
    atexit.unregister(magics.host.close)
    magics.host.close()
