"""A model that does what the probes' prompts say, with whichever tools the agent has.

It knows the prompts in fixed words that the simulator knows, wherever they stand in the person's
last message: agents put words of their own around it. Its whole knowledge is the request.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from agy_kernel.agents.simulator import exact, phrases
from tests.agents.dialects import Message, Part, Tool, written

PAUSE = 0.02
"""Seconds after each event of a count: time enough to stop it."""
CONTEXT = re.compile(r"\s*<(?:environment_context|turn_aborted|system-reminder)\b")
"""How messages begin that an agent has added as if the person had written them."""
FRAME = re.compile(r"\s*(?:</?[\w-]+>\s*)?")
"""What stands around a result: empty lines, and gemini's marks of an untrusted text."""
NOT_DONE = re.compile(r"\b(?:rejected|denied|declined|refused|cancell?ed|aborted)\b", re.IGNORECASE)
PATHS = ("file_path", "filePath", "absolute_path", "path")
LINK = re.compile(r"(?:file://|@)(?P<path>[\w./~-]+\.txt)")
"""A file that a prompt leads to, as agents write it for the model."""
COMMANDS = ("command", "cmd")
WRITERS = ("write_file", "Write", "write", "apply_patch")
READERS = ("read_file", "Read", "read")
SHELLS = ("run_shell_command", "exec_command", "shell_command", "Bash", "bash")
WORDS: dict[str, str | int] = {
    "description": "The person asked for it.",
    "justification": "The person asked for it.",
    "sandbox_permissions": "require_escalated",  # so that codex asks
    "yield_time_ms": 30_000,  # codex waits so long for the end
}
"""What tools want to be told besides."""


@dataclass(frozen=True)
class Asked:
    """What the model is asked.

    Args:
        found: the prompt's words.
        messages: the conversation up to the prompt, which is the last of them.
        tools: those on offer.
        results: what the tools have returned that were called since.
    """

    found: re.Match[str]
    messages: list[Message]
    tools: list[Tool]
    results: list[str]

    @property
    def prompt(self) -> Message:
        return self.messages[-1]

    def tool(self, *names: str) -> Tool | None:
        """The first tool of these names that is on offer."""
        offered = {tool.name: tool for tool in self.tools}
        return next((offered[name] for name in names if name in offered), None)


Order = Callable[[Asked], list[Part]]


def obey(messages: list[Message], tools: list[Tool]) -> list[Part] | None:
    """The parts of the next model call; None where the last prompt is none that is known."""
    prompts = [i for i, message in enumerate(messages) if _is_prompt(message)]
    if not prompts:
        return None
    at = prompts[-1]
    matches = ((re.search(p, messages[at].text, re.IGNORECASE), order) for p, order in ORDERS)
    known = [(found, order) for found, order in matches if found]
    if not known or "SCRIPT:" in messages[at].text:
        return None
    found, order = max(known, key=lambda each: each[0].end())
    results = [message.result for message in messages[at + 1 :] if message.result is not None]
    return order(Asked(found, messages[: at + 1], tools, results))


def _is_prompt(message: Message) -> bool:
    is_said = bool(message.text.strip()) and not message.by_model and message.result is None
    return is_said and not CONTEXT.match(message.text)


# -- words


def _say(text: str) -> list[Part]:
    return [{"text": text}]


def _repeat(asked: Asked) -> list[Part]:
    return _say(asked.found["words"].strip())


def _count(asked: Asked) -> list[Part]:
    text = exact.numbers(int(asked.found["first"]), int(asked.found["last"]))
    return [{"text": text, "delay": PAUSE}]


def _multiply(asked: Asked) -> list[Part]:
    product = int(asked.found["one"]) * int(asked.found["other"])
    return [{"think": f"**Multiplying**\n\nThe product is {product}."}, {"text": str(product)}]


def _recall(asked: Asked) -> list[Part]:
    return _say(exact.remembered(m.text for m in asked.messages if not m.by_model))


def _fill(asked: Asked) -> list[Part]:
    return _say(exact.filling(asked.prompt.images))


def _two_tone(asked: Asked) -> list[Part]:
    return _say(exact.two_tone(asked.prompt.images))


def _which(asked: Asked) -> list[Part]:
    return _say(exact.which(asked.prompt.images, asked.found["colour"]))


def _secret(asked: Asked) -> list[Part]:
    return _say(exact.secret([asked.prompt.text]))


# -- tools


def _create(asked: Asked) -> list[Part]:
    tool = asked.tool(*WRITERS)
    if asked.results or tool is None:
        return _say(_outcome(asked) if tool else "I have no tool to write a file.")
    name, line = asked.found["file"], asked.found["line"].strip()
    if tool.name == "apply_patch":
        patch = ["*** Begin Patch", f"*** Add File: {name}", f"+{line}", "*** End Patch", ""]
        return [{"tool": tool.name, "input": "\n".join(patch)}]
    return [_call(tool, {**dict.fromkeys(PATHS, name), "content": f"{line}\n"})]


def _read(asked: Asked) -> list[Part]:
    name = asked.found["file"]
    if asked.results:
        return _say(_last_line(asked.results[-1]))
    if tool := asked.tool(*READERS):
        return [_call(tool, dict.fromkeys(PATHS, name))]
    if tool := asked.tool(*SHELLS):
        return [_call(tool, dict.fromkeys(COMMANDS, f"cat {name}"))]
    return _say("I have no tool to read a file.")


def _follow(asked: Asked) -> list[Part]:
    """Read the file that is linked, unless the agent has put it into the prompt."""
    found = LINK.search(asked.prompt.text)
    tool = asked.tool(*READERS)
    if asked.results or found is None or re.search(phrases.SECRET_WORD, asked.prompt.text):
        return _say(exact.secret([asked.prompt.text, *asked.results]))
    if tool is not None:
        return [_call(tool, dict.fromkeys(PATHS, found["path"]))]
    shell = asked.tool(*SHELLS)
    return [_call(shell, dict.fromkeys(COMMANDS, f"cat {found['path']}"))] if shell else _say("No.")


def _run(asked: Asked) -> list[Part]:
    tool = asked.tool(*SHELLS)
    if asked.results or tool is None:
        return _say(_outcome(asked) if tool else "I have no shell.")
    return [_call(tool, {**WORDS, **dict.fromkeys(COMMANDS, asked.found["command"])})]


def _call_mcp(asked: Asked) -> list[Part]:
    if asked.results:
        return _say(_last_line(asked.results[-1]))
    wanted, server = asked.found["tool"], asked.found["server"]
    named = (t for t in asked.tools if t.name.endswith(wanted) and server in t.namespace + t.name)
    if (tool := next(named, None)) is None:
        return _say(f"I have no tool {wanted}.")
    takes = "text" if "text" in tool.takes else tool.takes[0]
    return [_call(tool, {takes: asked.found["text"]})]


def _call(tool: Tool, told: Mapping[str, str | int]) -> Part:
    args = {name: value for name, value in told.items() if name in tool.takes}
    return {"tool": tool.name, "args": args, "namespace": tool.namespace}


def _outcome(asked: Asked) -> str:
    return "It was not done." if NOT_DONE.search(asked.results[-1]) else "It is done."


def _last_line(result: str) -> str:
    """The last line of what a tool has returned, without what agents put around it."""
    lines = [line for line in result.splitlines() if not FRAME.fullmatch(line)]
    last = re.sub(r"^\s*\d+[\t→]", "", lines[-1]).strip() if lines else "It returned nothing."
    with suppress(ValueError):  # codex passes the result of an MCP tool on as JSON
        content = json.loads(last)
        return written(content) if isinstance(content, list) else last
    return last


ORDERS: tuple[tuple[str, Order], ...] = (
    (phrases.REMEMBER, _repeat),
    (phrases.REPLY, _repeat),
    (phrases.COUNT, _count),
    (phrases.MULTIPLY, _multiply),
    (phrases.RECALL, _recall),
    (phrases.COLOUR, _fill),
    (phrases.SEVERAL, _fill),
    (phrases.TWO_TONE, _two_tone),
    (phrases.WHICH, _which),
    (phrases.SECRET, _secret),
    (phrases.LINKED, _follow),
    (phrases.CREATE, _create),
    (phrases.READ, _read),
    (phrases.RUN, _run),
    (phrases.CALL, _call_mcp),
)
