"""``%agy`` and ``%%agy``."""

from __future__ import annotations

import atexit
import signal
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from . import options, syntax
from .commands import Prompt, parse
from .commands.turns import offer_code
from .completion import Completion, complete
from .display.interrupts import interrupts
from .display.markdown import safe
from .host import Host, Manner
from .options import Options
from .prompt.gather import Request
from .tables import OurMarkdown, PlainText
from .text import clean

OURS = ("%agy", "%%agy")
NONE = Completion([], 0, "text")


@magics_class
class AgyMagics(Magics):
    """The magics of one shell.

    Args:
        shell: the IPython shell, of a kernel or of a terminal.
        host: what the magics stand on.
    """

    matcher: Any = None

    def __init__(self, shell: Any, host: Host) -> None:
        super().__init__(shell)
        self.host = host
        self.names = shell.user_ns
        self._ip = shell

    @no_var_expand
    @line_cell_magic
    def agy(self, line: str, cell: str | None = None) -> None:
        """Ask the agent, or tell this kernel something about it: ``%agy help``.

        The first line may begin with options, and may be a command; what is below is a prompt.
        """
        wanted, line = (Options(), line) if line.strip() == "--help" else options.read(line)
        parsed = Prompt("") if cell is not None and not line else parse(line)
        prompt = parsed.text if isinstance(parsed, Prompt) else ""
        if not isinstance(parsed, Prompt):
            command, words = parsed
            self._show(command.run(self.host, words))
        text = "\n".join(part for part in (prompt, cell or "") if part.strip())
        if text:
            self._prompt(text, wanted)

    def _prompt(self, text: str, wanted: Options) -> None:
        self._prepare(wanted)
        values, unknown = self._values(wanted.expressions)
        request = Request(text, values, wanted.images, wanted.cells, wanted.context, unknown)
        reply = self.host.prompt(request, Manner(wanted.agent, wanted.timeout, wanted.quiet))
        if wanted.output:
            self._ip.user_ns[wanted.output] = reply
        if wanted.code:
            self._show(offer_code(self.host, reply.code_blocks))

    def _prepare(self, wanted: Options) -> None:
        """Do what the options ask for before anything is sent; a wrong word sends nothing."""
        conversation = self.host.conversations.with_agent(wanted.agent)
        if wanted.new:
            conversation.new_session()
        if wanted.model:
            self.host.wait_for(conversation.choose("model", wanted.model))
        if wanted.mode:
            self.host.wait_for(conversation.choose("mode", wanted.mode))

    def _values(self, expressions: tuple[str, ...]) -> tuple[list[tuple[str, Any]], list[str]]:
        values: list[tuple[str, Any]] = []
        notices: list[str] = []
        for expression in expressions:
            try:
                with interrupts(signal.default_int_handler):
                    values.append((expression, eval(expression, self._ip.user_ns)))
            except Exception as error:
                notices.append(f"{expression} is not sent: {type(error).__name__}: {error}")
        return values, notices

    def _show(self, answer: str) -> None:
        if isinstance(answer, PlainText):
            for piece in answer.pieces():
                self._ip.display_pub.publish({"text/plain": piece})
        elif isinstance(answer, OurMarkdown):
            bundle = {"text/markdown": str(answer), "text/plain": clean(answer.plain)}
            self._ip.display_pub.publish(bundle)
        elif answer:
            bundle = {"text/markdown": safe(answer), "text/plain": clean(answer)}
            self._ip.display_pub.publish(bundle)


def is_ours(source: str) -> bool:
    """Whether a cell of a Python notebook only talks to the agent."""
    lines = [line for line in source.strip().splitlines() if line.strip()]
    return source.lstrip().startswith("%%agy") or (
        bool(lines) and all(line.split()[0] in OURS for line in lines)
    )


def load(shell: Any) -> AgyMagics:
    """Add the magics to a shell."""
    magics = AgyMagics(shell, Host(shell, is_ours=is_ours))
    shell.register_magics(magics)
    syntax.install(shell)
    magics.matcher = _matcher(magics)
    shell.Completer.custom_matchers.append(magics.matcher)
    # Only our own kernel is told when it is shut down.
    atexit.register(magics.host.close)
    return magics


def unload(shell: Any) -> None:
    """Take the magics away again with all their hooks, and end the agent."""
    manager = shell.magics_manager
    magics = manager.registry.pop(AgyMagics.__name__)
    for kind in ("line", "cell"):
        del manager.magics[kind]["agy"]
    syntax.remove(shell)
    shell.Completer.custom_matchers.remove(magics.matcher)
    atexit.unregister(magics.host.close)
    magics.host.close()


def _matcher(magics: AgyMagics) -> Any:
    """A matcher of IPython's completer, for lines and cells that talk to the agent."""

    @context_matcher(identifier="agy")  # type: ignore[untyped-decorator]
    def match(context: CompletionContext) -> SimpleMatcherResult:
        head = _before_cursor(context)
        conversation = magics.host.known_conversation
        found = complete(head, len(head), magics.names, conversation) if head else NONE
        return {
            "completions": [SimpleCompletion(text=m, type=found.type) for m in found.matches],
            "matched_fragment": head[found.start :],
            "suppress": bool(found.matches),
        }

    return match


def _before_cursor(context: CompletionContext) -> str:
    """What of a cell or a line to the agent stands before the cursor; empty elsewhere."""
    lines = context.full_text.split("\n")[: context.cursor_line + 1]
    lines[-1] = lines[-1][: context.cursor_position]
    if lines[0].startswith("%%agy"):
        return "\n".join(lines)
    line = lines[-1].lstrip()
    return line if line.startswith("%agy") else ""
