"""Ready prompts for the real agents: what their model says and which tools it calls in one turn.

codex writes and edits with the custom tool `apply_patch`, whose input is a patch, and runs
commands with `exec_command`, which asks only when it is escalated; gemini-cli has `write_file`,
`replace` and `run_shell_command`; Claude Code and opencode have `write`, `edit` and `bash`, and
want a file read before it is edited.
"""

from abc import ABC, abstractmethod
from pathlib import Path

from tests.agents.dialects import Part
from tests.agents.model_endpoint import script

THOUGHT = "**Greeting**\nThe user wants a greeting."
TEXT = "Hello there, this is *streamed* text."
WRITTEN = "line one\nline two\n"
EDITED = "line one\nline 2\n"


class Scripts(ABC):
    """One agent's prompts; after a tool call, a second model call says one word."""

    def talk(self) -> str:
        """Think `THOUGHT`, then say `TEXT`."""
        return script([{"think": THOUGHT}, {"text": TEXT}])

    def write_file(self, path: Path) -> str:
        """Write the new file `path` (absolute) with the content `WRITTEN`."""
        return script([{"text": "I will write it. "}, self._write(path)], [{"text": "Written."}])

    def edit_file(self, path: Path) -> str:
        """Change the file `path` (absolute) from `WRITTEN` to `EDITED`."""
        return script([{"text": "I will edit it. "}, self._edit(path)], [{"text": "Edited."}])

    def run_command(self, command: str) -> str:
        """Run a shell command line."""
        return script([{"text": "I will run it. "}, self._run(command)], [{"text": "Ran."}])

    def long_text(self) -> str:
        """Say 200 different lines in about 12 s, to be cancelled meanwhile.

        The lines differ because gemini-cli ends a turn that repeats itself.
        """
        lines = "".join(f"This is line {n} of a long reply.\n\n" for n in range(200))
        return script([{"text": lines, "delay": 0.02}])

    def held(self) -> str:
        """Say a few words, then nothing until the turn is cancelled."""
        return script([{"text": "One moment. "}, {"hold": True}])

    def failure(self) -> str:
        """Have the model call refused with HTTP 400."""
        return script([{"http": 400, "message": "scripted bad request"}])

    @abstractmethod
    def _write(self, path: Path) -> Part: ...

    @abstractmethod
    def _edit(self, path: Path) -> Part: ...

    @abstractmethod
    def _run(self, command: str) -> Part: ...


class CodexScripts(Scripts):
    """Prompts for codex-acp."""

    def _write(self, path: Path) -> Part:
        return self._patch(f"*** Add File: {path}", "+line one", "+line two")

    def _edit(self, path: Path) -> Part:
        return self._patch(f"*** Update File: {path}", "@@", " line one", "-line two", "+line 2")

    def _run(self, command: str) -> Part:
        args = {
            "cmd": command,
            "sandbox_permissions": "require_escalated",
            "justification": "The test wants it.",
        }
        return {"tool": "exec_command", "args": args}

    def _patch(self, *lines: str) -> Part:
        patch = "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])
        return {"tool": "apply_patch", "input": patch}


class GeminiScripts(Scripts):
    """Prompts for gemini-cli."""

    def _write(self, path: Path) -> Part:
        return {"tool": "write_file", "args": {"file_path": str(path), "content": WRITTEN}}

    def _edit(self, path: Path) -> Part:
        args = {
            "file_path": str(path),
            "instruction": "Write the number as a digit.",
            "old_string": "line two",
            "new_string": "line 2",
        }
        return {"tool": "replace", "args": args}

    def _run(self, command: str) -> Part:
        args = {"command": command, "description": "The test wants it."}
        return {"tool": "run_shell_command", "args": args}


class ClaudeScripts(Scripts):
    """Prompts for Claude Code; opencode's tools are the same in other letters."""

    def edit_file(self, path: Path) -> str:
        read = self._tool("Read", file_path=str(path))
        return script(
            [{"text": "I will edit it. "}, read], [self._edit(path)], [{"text": "Edited."}]
        )

    def _write(self, path: Path) -> Part:
        return self._tool("Write", file_path=str(path), content=WRITTEN)

    def _edit(self, path: Path) -> Part:
        return self._tool("Edit", file_path=str(path), old_string="line two", new_string="line 2")

    def _run(self, command: str) -> Part:
        return self._tool("Bash", command=command, description="The test wants it.")

    def _tool(self, name: str, **args: str) -> Part:
        return {"tool": name, "args": args}


class OpencodeScripts(ClaudeScripts):
    """Prompts for opencode."""

    def _tool(self, name: str, **args: str) -> Part:
        return {"tool": name.lower(), "args": {_camel_case(key): args[key] for key in args}}


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


SCRIPTS: dict[str, Scripts] = {
    "codex": CodexScripts(),
    "gemini": GeminiScripts(),
    "claude": ClaudeScripts(),
    "opencode": OpencodeScripts(),
}
"""Prompts by the name of the `RealAgent`."""
