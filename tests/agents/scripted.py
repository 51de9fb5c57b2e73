"""A scripted ACP agent over real pipes: it says and does exactly what a test wants, and waits
for the client rather than for time. Run as ``scripted.py SCRIPT``, where SCRIPT is a JSON list of
steps; standard library only.

A step is a list of a verb and its arguments; the functions below make them. After its last step
the agent waits for the end of its stdin and exits with status 0, which is also what it does when
its stdin ends meanwhile.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

Step = list[Any]
Frame = dict[str, Any]
SESSION = "s1"


def command(*steps: Step) -> tuple[str, ...]:
    """The command line of an agent with this script."""
    return (sys.executable, "-I", "-S", __file__, json.dumps(steps))


def one_after_the_other(folder: Path, *scripts: list[Step]) -> str:
    """The command line, as a setting, of an agent with another script each time it is started.

    Args:
        folder: an empty folder for what it has to remember.
    """
    lines = [
        f"if mkdir {shlex.quote(str(folder / f'start{n}'))} 2>/dev/null; then"
        f" exec {shlex.join(command(*script))}; fi"
        for n, script in enumerate(scripts)
    ]
    program = folder / "agent.sh"
    program.write_text("\n".join(lines))
    return shlex.join(["sh", str(program)])


# -- steps: what the agent waits for


def expect(method: str) -> Step:
    """Wait for a request or notification of the client; others that come before are kept."""
    return ["expect", method]


def expect_response(request_id: Any) -> Step:
    """Wait for the client's response to a request of ours, and send it back as ``_test/got``."""
    return ["expect_response", request_id]


def hold() -> Step:
    """Wait for ever: until the end of stdin, or a signal."""
    return ["hold"]


# -- steps: what the agent says


def answer(method: str, result: Any, *frames: Frame) -> Step:
    """Answer the last request for a method; ``frames`` follow in the same write."""
    return ["respond", method, {"result": result}, *frames]


def fail(method: str, code: int, message: str, data: Any = None) -> Step:
    """Answer the last request for a method with an error."""
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return ["respond", method, {"error": error}]


def respond(method: str, **response: Any) -> Step:
    """Answer the last request for a method with any fields."""
    return ["respond", method, response]


def send(*frames: Any) -> Step:
    """Send frames, in one write."""
    return ["send", *frames]


def raw(data: bytes) -> Step:
    """Write bytes to stdout."""
    return ["raw", data.decode("latin-1")]


def flood(times: int, frame: Frame, at_once: int = 1000) -> Step:
    """Send a frame many times, as fast as the client takes it, so many of them in a write."""
    return ["flood", times, frame, at_once]


def say_much(size: int, session: str = SESSION) -> Step:
    """Say a text of ``size`` letters in one frame."""
    return ["say_much", size, session]


def drip(*frames: Frame) -> Step:
    """Send frames, a byte in each write."""
    return ["drip", *frames]


def long_line(before: str, size: int, after: str) -> Step:
    """Write a line with ``size`` letters between two texts; kept nowhere as a whole."""
    return ["long_line", before, size, after]


def to_stderr(text: str, times: int = 1) -> Step:
    """Write a text to stderr, many times."""
    return ["to_stderr", text, times]


# -- steps: what the agent does


def ignore(what: str) -> Step:
    """From here on ignore ``TERM``, or the end of stdin, ``EOF``."""
    return ["ignore", what]


def report_term() -> Step:
    """From here on send ``_test/term`` at each TERM, instead of ending."""
    return ["report_term"]


def close(stream: str) -> Step:
    """Close our own ``stdin`` or ``stdout``, and live on."""
    return ["close", stream]


def spawn(
    *,
    own_session: bool = False,
    marked: bool = True,
    holds_pipes: bool = False,
    deaf: bool = False,
) -> Step:
    """Start a child that does nothing, and tell its process id as ``_test/spawned``.

    Args:
        own_session: whether it leaves our session and group.
        marked: whether it keeps our environment.
        holds_pipes: whether it keeps our stdin, stdout and stderr open.
        deaf: whether it ignores TERM.
    """
    return ["spawn", own_session, marked, holds_pipes, deaf]


def save(name: str, text: str) -> Step:
    """Write a file in the folder that it was started in."""
    return ["save", name, text]


def play_file(path: Path) -> Step:
    """Play the steps of a file, which may be more than a command line can hold."""
    return ["play_file", str(path)]


def tell_environment() -> Step:
    """Send the environment as ``_test/environment``, with our folder, process and session."""
    return ["tell_environment"]


def pause() -> Step:
    """Do nothing for ever, not even read; only a signal ends it."""
    return ["pause"]


def leave(status: int) -> Step:
    """Exit at once."""
    return ["leave", status]


# -- frames, and steps that tests need all the time


def update(session: str, kind: str, /, **fields: Any) -> Frame:
    """A ``session/update``."""
    params = {"sessionId": session, "update": {"sessionUpdate": kind, **fields}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def chunk(text: str, session: str = SESSION, **fields: Any) -> Frame:
    """A piece of the agent's message."""
    content = {"type": "text", "text": text}
    return update(session, "agent_message_chunk", content=content, **fields)


def request(request_id: Any, method: str, params: Any = None) -> Frame:
    """A request to the client."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}


def permission(
    request_id: Any, call: str = "c1", session: str = SESSION, **tool_call: Any
) -> Frame:
    """A request for leave, with one way to allow and one to reject.

    Args:
        tool_call: what it tells of the call; that of a command unless given.
    """
    options = [
        {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    ]
    told = tool_call or {"title": "Run it", "kind": "execute", "status": "pending"}
    params = {"sessionId": session, "toolCall": {"toolCallId": call, **told}, "options": options}
    return request(request_id, "session/request_permission", params)


HELLO: dict[str, Any] = {
    "protocolVersion": 1,
    "agentCapabilities": {"loadSession": True},
    "agentInfo": {"name": "scripted", "title": "Scripted agent", "version": "1"},
}


def hello(**fields: Any) -> list[Step]:
    """Answer ``initialize``."""
    return [expect("initialize"), answer("initialize", {**HELLO, **fields})]


def new_session(session: str = SESSION, **fields: Any) -> list[Step]:
    """Answer ``session/new``."""
    return [expect("session/new"), answer("session/new", {"sessionId": session, **fields})]


def opening(session: str = SESSION, **fields: Any) -> list[Step]:
    """Say hello and open a session."""
    return [*hello(), *new_session(session, **fields)]


def turn(*words: str, session: str = SESSION, stop_reason: str = "end_turn") -> list[Step]:
    """Answer a prompt with words."""
    frames = [chunk(word, session) for word in words]
    result = {"stopReason": stop_reason}
    return [expect("session/prompt"), send(*frames), answer("session/prompt", result)]


# -- the agent


class Agent:
    """Plays a script: a method for each verb."""

    def __init__(self) -> None:
        self._input = b""
        self._frames: list[Frame] = []
        self._ids: dict[str, Any] = {}
        self._ends_with_stdin = True

    def play(self, steps: list[Step]) -> None:
        for verb, *arguments in steps:
            getattr(self, verb)(*arguments)

    def play_file(self, path: str) -> None:
        self.play(json.loads(Path(path).read_text("utf-8")))

    # -- waiting

    def expect(self, method: str) -> None:
        frame = self._wait_for(lambda frame: frame.get("method") == method)
        self._ids[method] = frame.get("id")

    def expect_response(self, request_id: Any) -> None:
        frame = self._wait_for(lambda f: "method" not in f and f.get("id") == request_id)
        self._notify("_test/got", frame)

    def hold(self) -> NoReturn:
        while True:
            self._read()

    def _wait_for(self, wanted: Any) -> Frame:
        while not (found := [frame for frame in self._frames if wanted(frame)]):
            self._read()
        self._frames.remove(found[0])
        return found[0]

    def _read(self) -> None:
        if not (data := os.read(0, 1 << 16)):
            self._stdin_has_ended()
        *lines, self._input = (self._input + data).split(b"\n")
        self._frames += [json.loads(line) for line in lines]

    def _stdin_has_ended(self) -> NoReturn:
        if self._ends_with_stdin:
            os._exit(0)
        self.pause()

    # -- saying

    def respond(self, method: str, response: Frame, *frames: Frame) -> None:
        self.send({"jsonrpc": "2.0", "id": self._ids[method], **response}, *frames)

    def send(self, *frames: Any) -> None:
        self._write(b"".join(json.dumps(frame).encode() + b"\n" for frame in frames))

    def raw(self, data: str) -> None:
        self._write(data.encode("latin-1"))

    def flood(self, times: int, frame: Frame, at_once: int) -> None:
        line = json.dumps(frame).encode() + b"\n"
        for done in range(0, times, at_once):
            self._write(line * min(at_once, times - done))

    def say_much(self, size: int, session: str) -> None:
        self.send(chunk("x" * size, session))

    def drip(self, *frames: Frame) -> None:
        for byte in b"".join(json.dumps(frame).encode() + b"\n" for frame in frames):
            self._write(bytes([byte]))

    def long_line(self, before: str, size: int, after: str) -> None:
        self._write(before.encode())
        block = b"x" * (1 << 20)
        for written in range(0, size, len(block)):
            self._write(block[: size - written])
        self._write(after.encode() + b"\n")

    def to_stderr(self, text: str, times: int) -> None:
        for _ in range(times):
            self._write(text.encode(), 2)

    def _notify(self, method: str, params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def _write(self, data: bytes, fd: int = 1) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]

    # -- doing

    def ignore(self, what: str) -> None:
        if what == "TERM":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        else:
            self._ends_with_stdin = False

    def report_term(self) -> None:
        def report(_number: int, _frame: FrameType | None) -> None:
            self._notify("_test/term", {})

        signal.signal(signal.SIGTERM, report)

    def close(self, stream: str) -> None:
        os.close({"stdin": 0, "stdout": 1}[stream])

    def spawn(self, own_session: bool, marked: bool, holds_pipes: bool, deaf: bool) -> None:
        # That a signal is ignored is inherited, so the child never lives without it.
        way = signal.SIG_IGN if deaf else signal.SIG_DFL
        before = signal.signal(signal.SIGTERM, way)
        stream = None if holds_pipes else subprocess.DEVNULL
        child = subprocess.Popen(
            ["sleep", "600"],
            start_new_session=own_session,
            env=None if marked else {"PATH": os.environ["PATH"]},
            stdin=stream,
            stdout=stream,
            stderr=stream,
        )
        signal.signal(signal.SIGTERM, before)
        while not Path(f"/proc/{child.pid}/environ").read_bytes():
            pass  # in the middle of exec, when it would not be found by its environment
        self._notify("_test/spawned", {"pid": child.pid})

    def save(self, name: str, text: str) -> None:
        Path(name).write_text(text, "utf-8")

    def tell_environment(self) -> None:
        ids = {"pid": os.getpid(), "session": os.getsid(0), "group": os.getpgid(0)}
        place = {"folder": str(Path.cwd()), **ids}
        self._notify("_test/environment", {"variables": dict(os.environ), **place})

    def pause(self) -> NoReturn:
        while True:  # signal.pause() would miss one that comes just before it
            time.sleep(0.05)

    def leave(self, status: int) -> NoReturn:
        os._exit(status)


if __name__ == "__main__":
    agent = Agent()
    agent.play(json.loads(sys.argv[1]))
    agent.hold()
