"""What runs in a terminal's shell is recorded as a person sees it."""

import atexit
import io
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.terminal.interactiveshell import TerminalInteractiveShell
from traitlets.config import Config

from agy_kernel.prompt import recorder as module
from agy_kernel.prompt.cells import Cell
from agy_kernel.prompt.recorder import Recorder, without


@pytest.fixture(scope="module")
def terminal() -> Iterator[TerminalInteractiveShell]:
    """A terminal's shell that leaves no files."""
    config = Config(HistoryManager={"enabled": False})
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        shell = TerminalInteractiveShell.instance(
            config=config, simple_prompt=True, colors="nocolor"
        )
        yield shell
        TerminalInteractiveShell.clear_instance()
        atexit.unregister(shell.atexit_operations)
        shell.atexit_operations()


@pytest.fixture
def shell(
    terminal: TerminalInteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> TerminalInteractiveShell:
    """The same, as if it were new, with streams of its own."""
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    terminal.execution_count = 1
    return terminal


@pytest.fixture
def recorder(shell: TerminalInteractiveShell) -> Iterator[Recorder]:
    """Records that shell."""
    recorder = Recorder(shell, lambda source: source.startswith("%agy"))
    yield recorder
    recorder.close()


def run(shell: TerminalInteractiveShell, source: str, **how: Any) -> None:
    shell.run_cell(source, **{"store_history": True, **how})


def outputs(cell: Cell) -> list[tuple[str, str]]:
    return [(output.kind, output.text) for output in cell.outputs]


def only(recorder: Recorder) -> Cell:
    (cell,) = recorder.cells
    return cell


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("x = 1", []),
        ("print('a'); print('b')", [("stdout", "a\nb\n")]),
        (
            "import sys\nprint('a'); print('b', file=sys.stderr); print('c')",
            [("stdout", "a\n"), ("stderr", "b\n"), ("stdout", "c\n")],
        ),
        ("print('a')\n42", [("stdout", "a\n"), ("result", "42")]),
        ("display('shown')", [("display", "'shown'")]),
        ("print('', end='')", []),
        ("42;", []),
        ("%%capture\nprint('kept for later')", []),
        (
            "import asyncio\nawait asyncio.sleep(0)\nprint('later')\n7",
            [("stdout", "later\n"), ("result", "7")],
        ),
    ],
)
def test_what_a_cell_shows(
    shell: TerminalInteractiveShell, recorder: Recorder, source: str, shown: list[tuple[str, str]]
) -> None:
    run(shell, source)
    cell = only(recorder)
    assert (cell.id, cell.count, cell.source, cell.error) == ("in-1", 1, source, "")
    assert outputs(cell) == shown
    assert cell.seconds is not None
    assert 0 <= cell.seconds < 10


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("print('a')\n1 / 0", "ZeroDivisionError: division by zero"),
        ("x = )", "SyntaxError"),
        ("  x\n y", "IndentationError"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("%nonsense", "UsageError: Line magic function `%nonsense` not found."),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise ExceptionGroup('g', [ValueError('inner')])", "ExceptionGroup: g"),
    ],
)
@pytest.mark.filterwarnings("ignore:To exit")
def test_errors(
    shell: TerminalInteractiveShell, recorder: Recorder, source: str, error: str
) -> None:
    run(shell, source)
    cell = only(recorder)
    assert error in cell.error
    assert "\x1b" not in cell.error
    assert error not in "".join(text for kind, text in outputs(cell) if kind != "stderr")
    assert recorder.last_error is cell


def test_an_error_is_that_of_its_own_cell(
    shell: TerminalInteractiveShell, recorder: Recorder
) -> None:
    run(shell, "1 / 0")
    run(shell, "%nonsense")
    run(shell, "fine = 1")
    assert [bool(cell.error) for cell in recorder.cells] == [True, True, False]
    assert "ZeroDivisionError" not in recorder.cells[1].error
    assert recorder.last_error is recorder.cells[1]


def test_a_traceback_that_is_only_shown_is_an_output(
    shell: TerminalInteractiveShell, recorder: Recorder
) -> None:
    run(shell, "class X:\n    def __repr__(self): raise ValueError('in repr')\nX()")
    cell = only(recorder)
    assert cell.error == ""
    ((kind, text),) = outputs(cell)
    assert kind == "stderr"
    assert text.endswith("ValueError: in repr")


def test_lines_of_private_cells_are_not_quoted(
    shell: TerminalInteractiveShell, recorder: Recorder
) -> None:
    run(shell, "# agy: private\npassword = 'abc'\ndef check(p):\n    assert p == 'abc', 'wrong'\n")
    run(shell, "def outer():\n    check('x')\nouter()")
    error = recorder.cells[1].error
    assert "abc" not in error
    assert "(private)" in error
    assert "check('x')" in error
    assert "AssertionError: wrong" in error


def test_a_quoted_line_is_known_whatever_stands_before_it() -> None:
    lines = [
        "secret = 1",
        "      5 secret = 1",
        "----> 5     secret = 1",
        "File x",
        "  | secret = 1",
    ]
    assert without({"secret = 1"}, "\n".join(lines)).splitlines() == [
        "(private)", "      5 (private)", "----> 5     (private)", "File x", "  | (private)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "how"),
    [
        ("%agy hello", {}),
        ("x = 1", {"silent": True}),
        ("print('x')", {"store_history": False}),
        ("", {}),
        ("  \n", {}),
    ],
)
def test_what_is_no_cell_of_the_users(
    shell: TerminalInteractiveShell, recorder: Recorder, source: str, how: dict[str, Any]
) -> None:
    shell.register_magic_function(print, "line", "agy")  # type: ignore[arg-type]
    run(shell, source, **how)
    assert recorder.cells == []


def test_what_ran_unseen_is_not_shown_in_the_next_cell(
    shell: TerminalInteractiveShell, recorder: Recorder
) -> None:
    run(shell, "print('from an extension')\n'result'", store_history=False)
    run(shell, "print('from a cell')\n1")
    assert outputs(only(recorder)) == [("stdout", "from a cell\n"), ("result", "1")]


def test_a_cell_that_runs_again_stands_where_it_ran_last(
    shell: TerminalInteractiveShell, recorder: Recorder
) -> None:
    run(shell, "'a1'", cell_id="a")
    run(shell, "'b1'", cell_id="b")
    run(shell, "'a2'", cell_id="a")
    assert [(cell.id, cell.count, cell.source) for cell in recorder.cells] == [
        ("b", 2, "'b1'"),
        ("a", 3, "'a2'"),
    ]


def test_a_cell_that_runs_cells_is_one(shell: TerminalInteractiveShell, recorder: Recorder) -> None:
    shell.user_ns["shell"] = shell
    run(
        shell, "print('before')\nshell.run_cell('print(1)\\n2', store_history=True)\nprint('after')"
    )
    run(shell, "shell.run_cell('')\nshell.run_cell('1 / 0')\nprint('on')")
    first, second = recorder.cells
    assert outputs(first) == [("stdout", "before\n1\n"), ("result", "2"), ("stdout", "after\n")]
    ((_, printed), (kind, shown)) = outputs(second)
    assert (printed, kind, second.error) == ("on\n", "stderr", "")
    assert shown.endswith("ZeroDivisionError: division by zero")


def test_threads_print_into_the_cell_that_runs(
    shell: TerminalInteractiveShell, recorder: Recorder
) -> None:
    go, gone = threading.Event(), threading.Event()

    def late() -> None:
        go.wait(10)
        print("after its end")
        gone.set()

    shell.user_ns.update(threading=threading, late=late)
    run(
        shell,
        "t = threading.Thread(target=print, args=('in time',)); t.start(); t.join()\n"
        "threading.Thread(target=late).start()",
    )
    go.set()
    assert gone.wait(10)
    run(shell, "y = 1")
    assert [outputs(cell) for cell in recorder.cells] == [[("stdout", "in time\n")], []]


def test_what_is_shown_while_it_is_paused_is_no_news(
    shell: TerminalInteractiveShell, recorder: Recorder
) -> None:
    shell.user_ns["paused"] = recorder.paused
    run(shell, "print('a')\nwith paused():\n    print('the agent')\nprint('b')")
    assert outputs(only(recorder)) == [("stdout", "a\nb\n")]


def test_the_pause_ends_with_an_error(shell: TerminalInteractiveShell, recorder: Recorder) -> None:
    with pytest.raises(ValueError, match="x"), recorder.paused():
        raise ValueError("x")
    run(shell, "print('a')")
    assert outputs(only(recorder)) == [("stdout", "a\n")]


def test_private_cells_are_known_as_such(
    shell: TerminalInteractiveShell, recorder: Recorder
) -> None:
    run(shell, "# agy: private\nprint('mine')")
    assert only(recorder).is_private


def test_it_keeps_the_last_cells(
    shell: TerminalInteractiveShell, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEPT_CELLS", 3)
    for n in range(5):
        run(shell, f"x = {n}")
    assert [cell.count for cell in recorder.cells] == [3, 4, 5]


def state(shell: TerminalInteractiveShell) -> list[object]:
    methods = [
        (shell, "_showtraceback"),
        (shell.displayhook, "write_format_data"),
        (shell.display_pub, "publish"),
        (sys.stdout, "write"),
        (sys.stderr, "write"),
    ]
    callbacks = [list(shell.events.callbacks[name]) for name in ("pre_run_cell", "post_run_cell")]
    return [*callbacks, *(vars(owner).get(name) for owner, name in methods)]


def test_close_takes_every_hook_away(shell: TerminalInteractiveShell) -> None:
    run(shell, "x = 1")
    before = state(shell)
    recorder = Recorder(shell, lambda _: False)
    assert state(shell) != before
    run(shell, "print(1)")
    recorder.close()
    assert state(shell) == before
    run(shell, "print(2)\n1 / 0")
    assert len(recorder.cells) == 1


def test_close_in_a_cell(shell: TerminalInteractiveShell) -> None:
    run(shell, "x = 1")
    before = state(shell)
    recorder = Recorder(shell, lambda _: False)
    shell.user_ns["close"] = recorder.close
    run(shell, "print(1)\nclose()\nprint(2)")
    assert state(shell) == before
    assert recorder.cells == []


def test_a_recorder_that_begins_in_a_cell_begins_with_the_next(
    shell: TerminalInteractiveShell,
) -> None:
    recorders: list[Recorder] = []
    shell.user_ns["begin"] = lambda: recorders.append(Recorder(shell, lambda _: False))
    run(shell, "begin()\nprint(1)")
    run(shell, "print(2)")
    (recorder,) = recorders
    assert outputs(only(recorder)) == [("stdout", "2\n")]
    recorder.close()


def test_two_recorders_do_not_disturb_each_other(shell: TerminalInteractiveShell) -> None:
    one, two = Recorder(shell, lambda _: False), Recorder(shell, lambda _: False)
    run(shell, "print(1)")
    one.close()
    run(shell, "print(2)")
    two.close()
    assert [outputs(cell) for cell in one.cells] == [[("stdout", "1\n")]]
    assert [outputs(cell) for cell in two.cells] == [[("stdout", "1\n")], [("stdout", "2\n")]]
