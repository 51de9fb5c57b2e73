"""``%load_ext agy_kernel`` in an ordinary Python kernel. The agent is simulated."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.kernels import Kernel, StartKernel, isolated, prompt_of, sim
from tests.support.processes import happens_within


@pytest.fixture(scope="module")
def module_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with Kernel(tmp_path_factory.mktemp("python"), name="python3") as kernel:
        kernel.run("%load_ext agy_kernel")
        yield kernel


@pytest.fixture
def kernel(shared_kernel: Kernel) -> Kernel:
    return shared_kernel


def test_line_is_a_prompt(kernel: Kernel) -> None:
    cell = kernel.run("%agy Say hello")
    assert cell.status == "ok"
    assert "I stand in for Antigravity" in cell.text
    assert cell.record["stop_reason"] == "end_turn"
    assert prompt_of(kernel.sent("session/prompt")[-1]) == "Say hello"


def test_cell_is_a_prompt(kernel: Kernel) -> None:
    cell = kernel.run("%%agy\nwhat is this?\n\n{braces} and $names stay")
    assert cell.status == "ok"
    assert prompt_of(kernel.sent("session/prompt")[-1]).rstrip() == (
        "what is this?\n\n{braces} and $names stay"
    )


def test_command_in_the_first_line_of_a_cell_is_applied_first(kernel: Kernel) -> None:
    cell = kernel.run("%%agy mode yolo\nRun ls")
    assert cell.text.index("**YOLO**") < cell.text.index("ran without asking")
    kernel.run("%agy mode default")


def test_click_while_the_cell_runs_and_python_goes_on_behind_it(kernel: Kernel) -> None:
    code = f"%agy {sim({'ask': {}})}\nprint('python', 6 * 7)"
    cell = kernel.ask(code)
    kernel.click(kernel.question(cell), "Allow")
    kernel.finish(cell)
    assert "answer: allow" in cell.text
    assert "python 42" in cell.text


def test_turns_inside_a_function_and_a_loop(kernel: Kernel) -> None:
    cell = kernel.ask(
        "def ask(n):\n"
        f"    get_ipython().run_line_magic('agy', {sim({'ask': {}})!r})\n"
        "    print('asked', n)\n"
        "for n in range(3):\n    ask(n)"
    )
    for n, name in enumerate(("Allow", "Deny", "Allow")):
        kernel.click(kernel.question(cell), name)
        kernel.shows(cell, f"asked {n}")
    kernel.finish(cell)
    answers = [record["permissions"][0]["option"] for record in cell.records]
    assert answers == ["allow", "deny", "allow"]


def test_failed_turn_is_an_exception_that_python_can_catch(kernel: Kernel) -> None:
    cell = kernel.run(
        "from agy_kernel.errors import AgyError\n"
        f"try:\n    get_ipython().run_line_magic('agy', {sim({'stop': 'refusal'})!r})\n"
        "except AgyError as error:\n    print('caught:', error)"
    )
    assert cell.status == "ok"
    assert "caught: The agent refused to go on" in cell.text


def test_stop_ends_the_turn_and_the_cell(kernel: Kernel) -> None:
    cell = kernel.ask(f"%agy {sim({'text': 'partial'}, {'wait': None})}\nprint('not reached')")
    kernel.shows(cell, "partial")
    kernel.interrupt()
    kernel.finish(cell)
    assert cell.error["ename"] == "TurnCancelled"
    assert "not reached" not in [o.get("text") for o in cell.outputs]
    assert kernel.run("6 * 7").text == "42"


def test_loop_that_the_user_has_patched(start_kernel: StartKernel) -> None:
    kernel = start_kernel(name="python3")
    kernel.run("import nest_asyncio\nnest_asyncio.apply()\n%load_ext agy_kernel")
    cell = kernel.ask(f"%agy {sim({'ask': {}})}")
    queued = kernel.send("import asyncio\nasyncio.run(asyncio.sleep(0, 'nested'))")
    kernel.click(kernel.question(cell), "Allow")
    assert kernel.finish(cell).status == "ok"
    assert "answer: allow" in cell.text
    assert kernel.finish(queued).text == "'nested'"


def test_unload_ends_the_agent_and_load_brings_another(start_kernel: StartKernel) -> None:
    kernel = start_kernel(name="python3")
    kernel.run("%load_ext agy_kernel")
    kernel.run("%agy Say hello")
    assert kernel.agents
    assert kernel.run("%unload_ext agy_kernel").status == "ok"
    assert happens_within(2, lambda: not kernel.agents)
    assert "UsageError" in kernel.run("%agy Say hello").text
    assert kernel.run("%load_ext agy_kernel\n%agy Say hello").status == "ok"
    assert kernel.agents


def in_terminal(folder: Path, *lines: str) -> str:
    code = "\n".join(("%load_ext agy_kernel", *lines))
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--colors=NoColor", "-c", code],
        env=isolated(folder) | {"AGY_AGENT": "simulator"},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout


def test_terminal_ipython_writes_the_reply_as_text(tmp_path: Path) -> None:
    text = in_terminal(tmp_path, "%agy Say hello", "%agy status", "print('after')")
    assert text.index("I stand in for Antigravity") < text.index("tokens not reported")
    assert "| session |" in text
    assert "after" in text


def test_terminal_without_a_keyboard_refuses(tmp_path: Path) -> None:
    text = in_terminal(tmp_path, "%agy Create no.py that greets")
    assert "AGY_PERMISSIONS=allow" in text
    assert not (tmp_path / "no.py").exists()


def test_plain_script_asks_without_jupyter(tmp_path: Path) -> None:
    script = (
        "from agy_kernel import ask\n"
        "numbers = [1, 2, 3]\n"
        "reply = ask('SIM: [{\"echo\": true}]', numbers, quiet=True)\n"
        "print(reply.text)\n"
        "print(reply.stop_reason, reply.seconds > 0, bool(reply.session_id))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=isolated(tmp_path) | {"AGY_AGENT": "simulator"},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "variable-numbers" in done.stdout
    assert "end_turn True True" in done.stdout


def test_a_prompt_of_another_thread_waits_for_its_turn(kernel: Kernel) -> None:
    cell = kernel.run(
        "from threading import Thread\n"
        "from agy_kernel import ask\n"
        "replies = {}\n"
        "def other():\n"
        "    replies['other'] = str(ask('SIM: [{\"text\": \"from the thread\"}]'))\n"
        "thread = Thread(target=other)\n"
        "thread.start()\n"
        'replies[\'main\'] = str(ask(\'SIM: [{"wait": 0.5}, {"text": "from the cell"}]\'))\n'
        "thread.join()\n"
        "print(sorted(replies.items()))",
        allow_stdin=True,
        cell_id="cell",
    )
    assert cell.status == "ok", cell.text
    assert "[('main', 'from the cell'), ('other', 'from the thread')]" in cell.text
