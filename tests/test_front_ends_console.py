"""A person at ``jupyter console``: text as a stream, questions in lines, Ctrl+C is Stop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.console import STOP, Console
from tests.support.kernels import sim


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Console]:
    with Console(tmp_path, "antigravity") as console:
        yield console


def test_reply_is_a_stream_of_text(console: Console) -> None:
    shown = console.run("Say hello")
    assert "I stand in for Antigravity" in shown
    assert shown.index("I stand in") < shown.index("tokens not reported")
    assert "<div" not in shown
    assert "Markdown object" not in shown


def test_text_comes_while_the_turn_runs_and_ctrl_c_stops_it(console: Console) -> None:
    steps = sim({"text": "Working on it. "}, {"wait": None})
    console.type(steps.replace("Working", r"\u0057orking"))  # what is typed is drawn often
    console.sees("Working on it.")
    console.press(STOP)
    assert "Interrupted: the turn was stopped." in console.prompt()
    assert "Hello!" in console.run("Say hello")


@pytest.mark.parametrize(("answer", "written"), [("1", True), ("Deny", False)])
def test_question_is_answered_in_a_line(console: Console, answer: str, written: bool) -> None:
    console.type("Create typed.py that greets")
    asked = console.sees("Answer with a number from 1 to 2: ")
    assert "+ def greet" in asked
    assert "1. Allow" in asked
    assert "2. Deny" in asked
    assert not (console.cwd / "typed.py").exists()
    console.type(answer)
    assert "+ def greet" not in console.prompt()
    assert (console.cwd / "typed.py").exists() == written


def test_stop_at_a_question_writes_nothing(console: Console) -> None:
    console.type("Create stopped.py that greets")
    console.sees("Answer with a number from 1 to 2: ")
    console.press(STOP)
    console.prompt()
    assert not (console.cwd / "stopped.py").exists()
    assert "Hello!" in console.run("Say hello")


def test_failed_turn_is_one_line(console: Console) -> None:
    shown = console.run(sim({"text": "half "}, {"stop": "refusal"}))
    assert "TurnFailed" in shown
    assert "Traceback" not in shown
    assert "Hello!" in console.run("Say hello")


def test_python_console_asks_too_and_goes_on_with_python(tmp_path: Path) -> None:
    with Console(tmp_path, "python3") as console:
        console.run("%load_ext agy_kernel")
        console.type("%agy Create magic.py that greets")
        console.sees("Answer with a number from 1 to 2: ")
        console.type("1")
        console.prompt()
        assert (console.cwd / "magic.py").exists()
        assert "42" in console.run("6 * 7")
