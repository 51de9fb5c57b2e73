"""An agent between two streams: the client sees what it would see, and a tape has it all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from tests.support.kernels import SIMULATOR, StartKernel
from tests.support.processes import happens_within
from tests.support.tapes import opening, prompt

CLI = str(Path(sys.executable).with_name("agy-kernel"))
ECHO = """
import os, sys
while data := os.read(0, 65536):
    os.write(1, data)
os.write(2, b"last words")
sys.exit(7)
"""
PARENT = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], {how})
os.write(1, b'{{"pid": %d}}\\n' % child.pid)
{then}
"""


class Wrapped:
    """An agent behind the wrapper."""

    def __init__(self, folder: Path, *command: str) -> None:
        self.path = folder / "tape.jsonl"
        argv = [CLI, "tape", "--out", str(self.path), "--", *command]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe)

    @property
    def stdout(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def ask(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """Send a request; returns all that came up to its answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        heard: list[dict[str, Any]] = []
        while not heard or heard[-1].get("id") != request["id"]:
            heard.append(json.loads(self.stdout.readline()))
        return heard

    def finish(self, data: bytes = b"") -> tuple[bytes, bytes, int]:
        """Give it a last input; returns what it wrote, and its status."""
        out, err = self.process.communicate(data, timeout=60)
        return out, err, self.process.returncode

    def lines(self) -> list[dict[str, Any]]:
        """The tape, less its header."""
        header, *lines = map(json.loads, self.path.read_text().splitlines())
        assert header["tape"] == 1
        return lines

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def wrap(tmp_path: Path) -> Iterator[Any]:
    started: list[Wrapped] = []

    def start(*command: str) -> Wrapped:
        started.append(Wrapped(tmp_path, *command))
        return started[-1]

    yield start
    for wrapped in started:
        wrapped.end()


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_bytes_pass_through_as_they_are_and_are_recorded(wrap: Any) -> None:
    data = (
        b'{"id": 1,\t"method": "x"}\r\nnot JSON \xff\x00\n\n{"a": "' + b"y" * 300_000 + b'"}\nrest'
    )
    wrapped = wrap(sys.executable, "-c", ECHO)
    assert wrapped.finish(data) == (data, b"last words", 7)
    lines = wrapped.lines()
    for direction in ("c2a", "a2c"):
        assert [line["msg"] for line in lines if line["dir"] == direction] == [
            {"id": 1, "method": "x"},
            "not JSON \ufffd\0",
            {"a": "y" * 300_000},
            "rest",
        ]
    assert [line["msg"] for line in lines if line["dir"] == "stderr"] == ["last words"]


def test_a_client_that_reads_late_gets_everything(wrap: Any) -> None:
    code = "import os; [os.write(1, b'x' * 9999 + b'\\n') for _ in range(500)]"
    wrapped = wrap(sys.executable, "-c", code)
    assert happens_within(60, wrapped.path.exists)
    assert wrapped.finish() == ((b"x" * 9999 + b"\n") * 500, b"", 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_are_passed_on_and_so_is_an_end_by_one(wrap: Any, number: int) -> None:
    code = (
        f"import os, signal; signal.signal({number}, signal.SIG_DFL); "
        "os.write(1, b'up\\n'); signal.pause()"
    )
    wrapped = wrap(sys.executable, "-c", code)
    assert wrapped.stdout.readline() == b"up\n"
    wrapped.process.send_signal(number)
    assert wrapped.finish()[2] == -number


def test_an_agent_may_have_its_own_answer_to_a_signal(wrap: Any) -> None:
    code = (
        "import os, signal, sys, time; signal.signal(15, lambda *_: sys.exit(9)); "
        "os.write(1, b'up\\n')\nwhile True: time.sleep(0.05)"  # a pause could miss it
    )
    wrapped = wrap(sys.executable, "-c", code)
    assert wrapped.stdout.readline() == b"up\n"
    wrapped.process.terminate()
    assert wrapped.finish()[2] == 9


@pytest.mark.parametrize("how", ["start_new_session=True", "stdout=2"])
def test_no_process_is_left_when_the_agent_ends(wrap: Any, how: str) -> None:
    wrapped = wrap(sys.executable, "-c", PARENT.format(how=how, then=""))
    out, _, status = wrapped.finish()
    assert status == 0
    pid = json.loads(out)["pid"]
    # Killed, it may still have to be given the time to end.
    assert happens_within(60, lambda: is_gone(pid))


def test_no_process_is_left_when_the_wrapper_is_killed(wrap: Any) -> None:
    then = "import time; time.sleep(600)"
    wrapped = wrap(sys.executable, "-c", PARENT.format(how="start_new_session=True", then=then))
    pid = json.loads(wrapped.stdout.readline())["pid"]
    assert not is_gone(pid)
    wrapped.process.kill()
    assert happens_within(60, lambda: is_gone(pid))
    # Written as it happens: all that passed is there.
    assert wrapped.lines()[-1]["msg"] == {"pid": pid}


def test_a_command_that_is_not_there_has_the_status_of_a_shell(wrap: Any) -> None:
    out, err, status = wrap("no-such-program").finish()
    assert (out, status) == (b"", 127)
    assert b"there is no program 'no-such-program'" in err


@pytest.mark.parametrize("words", [["--"], [], ["--what", "--", "x"]])
def test_wrong_words_are_told(words: list[str]) -> None:
    done = subprocess.run([CLI, "tape", *words], check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "agy-kernel tape [--out FILE] -- COMMAND ..." in done.stderr


def test_the_name_of_the_tape_comes_from_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "named.jsonl"
    env = {**os.environ, "AGY_TAPE": str(path)}
    subprocess.run([CLI, "tape", "--", sys.executable, "-c", "print(1)"], env=env, check=True)
    _, line, _ = map(json.loads, path.read_text().splitlines())
    assert (line["dir"], line["msg"]) == ("a2c", 1)


def test_a_recorded_client_can_be_replayed(wrap: Any, tmp_path: Path) -> None:
    wrapped = wrap(*SIMULATOR.split(), "--state", str(tmp_path / "state"))
    frames = [line["msg"] for line in opening() if line["dir"] == "c2a"]
    frames[1]["params"]["cwd"] = str(tmp_path)
    recorded = [answer for frame in frames for answer in wrapped.ask(frame)]
    session = next(f["result"]["sessionId"] for f in recorded if f.get("id") == 2)
    frames.append(prompt(3, "hello", session)["msg"])
    recorded += wrapped.ask(frames[-1])
    assert wrapped.finish()[1:] == (b"", 0)

    # All at once: the tape's order is kept.
    argv = [CLI, "replay", str(wrapped.path)]
    replay = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert replay.stdin is not None
    assert replay.stdout is not None
    replay.stdin.write(b"".join(json.dumps(frame).encode() + b"\n" for frame in frames))
    replay.stdin.flush()
    assert [json.loads(replay.stdout.readline()) for _ in recorded] == recorded
    assert replay.communicate(timeout=60)[0] == b""
    assert replay.returncode == 0


def test_a_kernel_works_with_a_wrapped_agent(start_kernel: StartKernel, tmp_path: Path) -> None:
    path = tmp_path / "wrapped.jsonl"
    kernel = start_kernel(f"{CLI} tape --out {path} -- {SIMULATOR}")
    assert "Hello!" in kernel.run("hello").text
    kernel.shutdown()
    lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    # Both recorded the same; only the kernel may have come to note how it ended.
    for direction in ("c2a", "a2c"):
        frames = [line["msg"] for line in lines if line["dir"] == direction]
        assert frames == kernel.wire(direction)
