"""The Antigravity kernel: an IPython kernel in which a cell is a prompt.

A prompt cell becomes one call of ``%%agy``, so there is one path for both. What begins with a
magic that exists, with ``!``, or with ``%%py`` stays what it is in IPython.
"""

from __future__ import annotations

import re
import signal
from contextlib import nullcontext
from inspect import isawaitable
from typing import Any

from ipykernel.ipkernel import IPythonKernel
from ipykernel.zmqshell import ZMQInteractiveShell
from IPython.core.history import HistoryManager
from traitlets import Type

from . import __version__
from .completion import complete, inspect
from .conversation.conversation import Conversation
from .display.interrupts import interrupts
from .host import Host
from .magics import AgyMagics

PYTHON_CELL = re.compile(r"\s*%%py[ \t]*(?:\n|$)")
MAGIC = re.compile(r"\s*(%%?)([\w.]+)")
COMMAND_LINE = re.compile(r"\s*%agy(?=[ \t\n]|$)([^\n]*)(?:\n|$)")


class PromptHistory(HistoryManager):
    """Keeps cells as they were typed, in ``In`` too, instead of the Python they became."""

    def store_inputs(self, line_num: int, source: str, source_raw: str | None = None) -> None:
        """Store a cell."""
        super().store_inputs(line_num, source_raw or source, source_raw)


class AgyShell(ZMQInteractiveShell):
    """A shell that takes one cell at a time for a prompt: the one its kernel was asked to run."""

    prompt_cell: str | None = None

    def init_history(self) -> None:
        """Use a history of prompts."""
        self.history_manager = PromptHistory(shell=self, parent=self)
        self.configurables.append(self.history_manager)  # type: ignore[arg-type]  # as IPython does

    def transform_cell(self, raw_cell: str) -> str:
        """Turn the cell into Python; other code (``%run``, ``%timeit``, silent) stays code.

        The very string is compared: IPython sends code of its own through here meanwhile.
        """
        if raw_cell is not self.prompt_cell:
            return str(super().transform_cell(raw_cell))
        if (parts := self._parts(raw_cell)) is not None:
            return _magic_call(*parts)
        python = PYTHON_CELL.match(raw_cell)
        return str(super().transform_cell(raw_cell[python.end() :] if python else raw_cell))

    async def run_code(self, code_obj: Any, result: Any = None, *, async_: bool = False) -> Any:
        """Run Python; an interrupt raises in code of the person's, and in no other."""
        handler = signal.default_int_handler
        is_ours = self.prompt_cell is not None and self._parts(self.prompt_cell) is not None
        with nullcontext() if is_ours or async_ else interrupts(handler):
            return await super().run_code(code_obj, result, async_=async_)

    def _parts(self, cell: str) -> tuple[str, str] | None:
        """The ``%agy`` line and the prompt that a cell is made of; None for code."""
        if command := COMMAND_LINE.match(cell):
            return command[1], cell[command.end() :]
        is_code = PYTHON_CELL.match(cell) or self._is_magic(cell) or cell.lstrip()[:1] in ("", "!")
        return None if is_code else ("", cell)

    def is_prompt(self, cell: str) -> bool:
        """Whether a cell talks to the agent, and not to this kernel."""
        return self._parts(cell) is not None

    def _is_magic(self, cell: str) -> bool:
        match = MAGIC.match(cell)
        kind = "cell" if match and match[1] == "%%" else "line"
        return match is not None and self.find_magic(match[2], kind) is not None


def _magic_call(line: str, prompt: str) -> str:
    if prompt.strip():
        return f"get_ipython().run_cell_magic('agy', {line!r}, {prompt!r})\n"
    return f"get_ipython().run_line_magic('agy', {line!r})\n"


class AgyKernel(IPythonKernel):
    """The kernel."""

    shell_class = Type(AgyShell)
    implementation = "agy-kernel"
    implementation_version = __version__
    banner = "Antigravity: a cell is a prompt. %agy help lists the commands."
    language_info = {
        "name": "antigravity",
        "version": __version__,
        "mimetype": "text/x-ipythongfm",
        "file_extension": ".md",
        "codemirror_mode": "ipythongfm",
        "pygments_lexer": "markdown",
    }
    help_links: list[dict[str, str]] = []

    shell: AgyShell  # made by ipykernel's own constructor

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        host = Host(self.shell, is_prompt_notebook=True, is_ours=self.shell.is_prompt)
        self.magics = AgyMagics(self.shell, host)
        self.shell.register_magics(self.magics)

    @property
    def kernel_info(self) -> dict[str, Any]:
        """The kernel's card; prompts cannot be debugged step by step."""
        info: dict[str, Any] = super().kernel_info
        features = info.get("supported_features", [])
        return info | {"supported_features": [f for f in features if f != "debugger"]}

    async def do_execute(
        self, code: str, silent: bool, store_history: bool = True, *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        """Run a cell: a prompt, if a person sent it and will see it."""
        self.shell.prompt_cell = code if store_history and not silent else None
        try:
            reply: dict[str, Any] = await super().do_execute(
                code, silent, store_history, *args, **kwargs
            )
        finally:
            self.shell.prompt_cell = None
        return reply

    def pre_handler_hook(self) -> None:
        """Let SIGINT leave a note in a cell, where ipykernel's would raise, and lose the reply."""
        super().pre_handler_hook()
        if self.get_parent("shell")["header"]["msg_type"] == "execute_request":
            signal.signal(signal.SIGINT, self.magics.host.interrupted)

    async def do_is_complete(self, code: str) -> dict[str, str]:  # noqa: ARG002
        """A prompt is complete whenever it is sent."""
        return {"status": "complete"}

    async def do_complete(self, code: str, cursor_pos: int) -> dict[str, Any]:
        """Complete a prompt, or what IPython understands."""
        found = complete(code, cursor_pos, self.shell.user_ns, self._conversation)
        if not found.matches and self._is_code(code):
            return await _awaited(super().do_complete(code, cursor_pos))
        return found.reply(cursor_pos)

    async def do_inspect(
        self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: Any = ()
    ) -> dict[str, Any]:
        """Explain a command or show the beginning of a file; in code, what IPython knows."""
        text = inspect(code, cursor_pos, self._conversation)
        if text is None and self._is_code(code):
            return await _awaited(super().do_inspect(code, cursor_pos, detail_level, omit_sections))
        data = {"text/plain": text, "text/markdown": text} if text else {}
        return {"status": "ok", "found": bool(text), "data": data, "metadata": {}}

    async def do_history(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The history, this session under its number; IPython calls it 0 in a range."""
        reply = await _awaited(super().do_history(*args, **kwargs))
        this = getattr(self.shell.history_manager, "session_number", 0)
        reply["history"] = [(session or this, *cell) for session, *cell in reply["history"]]
        return reply

    async def do_shutdown(self, restart: bool) -> dict[str, Any]:
        """End the agent, then the kernel."""
        self.magics.host.close()
        return await _awaited(super().do_shutdown(restart))

    @property
    def _conversation(self) -> Conversation | None:
        return self.magics.host.known_conversation

    def _is_code(self, code: str) -> bool:
        return code.lstrip().startswith(("%", "!"))


async def _awaited(reply: Any) -> dict[str, Any]:
    """A reply of ipykernel's, which is awaitable in some of its versions."""
    content: dict[str, Any] = await reply if isawaitable(reply) else reply
    return content
