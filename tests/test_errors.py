"""What a person reads when something goes wrong."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from agy_kernel.errors import (
    AgentExited,
    AgyError,
    CommandError,
    RequestFailed,
    TurnCancelled,
    TurnFailed,
    error_detail,
    exit_status,
)


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        ("plain words", "plain words"),
        ({"message": "m"}, "m"),
        ({"details": "d"}, "d"),
        ({"reason": "r"}, "r"),
        ({"error": "e"}, "e"),
        ({"message": "", "details": "d"}, "d"),
        ({"message": {"deep": 1}}, ""),
        (
            {"errors": [{"loc": ["sessionId"], "msg": "field required", "type": "value_error"}]},
            "sessionId: field required",
        ),
        (
            {
                "errors": [
                    {"loc": ("prompt", 0, "text"), "msg": "Field required", "type": "missing"}
                ]
            },
            "prompt.0.text: Field required",
        ),
        ({"errors": [{"loc": [], "msg": "a"}, {"msg": "b"}, "odd"]}, "a; b"),
        ({}, ""),
        (None, ""),
        ([1], ""),
    ],
)
def test_the_words_in_an_error_s_data(data: Any, detail: str) -> None:
    assert error_detail(data) == detail


LOUD = "\x1b[31mred\x1b[0m \x1b]0;title\x07bell\x07 \u202eback\rand forth"
QUIET = "red bell back\nand forth"


@pytest.mark.parametrize(
    "error",
    [AgentExited("is gone", 3, LOUD), RequestFailed(1, "no", LOUD), TurnFailed(LOUD)],
    ids=lambda error: type(error).__name__,
)
def test_words_of_an_agent_steer_no_terminal(error: AgyError) -> None:
    for shown in (str(error), "\n".join(error._render_traceback_())):
        assert QUIET in shown


def test_a_failed_request_has_its_message_code_and_detail() -> None:
    assert str(RequestFailed(-32602, "Invalid params", {"details": "no cwd"})) == (
        "Invalid params (-32602): no cwd"
    )
    assert str(RequestFailed(400, "Bad request")) == "Bad request (400)"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "exit status 0"),
        (3, "exit status 3"),
        (-signal.SIGKILL, "signal SIGKILL"),
        (-250, "signal 250"),
    ],
)
def test_an_exit_status_in_words(status: int, words: str) -> None:
    assert exit_status(status) == words


def test_a_dead_agent_leaves_its_status_its_last_words_and_the_way_on() -> None:
    message = str(AgentExited("closed its output", 3, "Traceback\nValueError: no\n\n"))
    assert "closed its output (exit status 3)" in message
    assert "Run the cell again" in message
    assert message.endswith("Traceback\nValueError: no")
    assert str(AgentExited("is gone")).count("\n") == 0


def test_an_error_is_shown_without_a_traceback() -> None:
    assert CommandError("no such model")._render_traceback_() == ["CommandError: no such model"]
    assert TurnCancelled("the turn was stopped.")._render_traceback_() == [
        "Interrupted: the turn was stopped."
    ]


def test_stop_is_an_interrupt_and_no_exception_that_code_may_swallow() -> None:
    assert issubclass(TurnCancelled, KeyboardInterrupt)
    assert not issubclass(TurnCancelled, Exception)
    assert issubclass(TurnFailed, AgyError)


@pytest.mark.parametrize(
    ("message", "data", "said"),
    [
        ('{"error": {"message": "no such model", "code": 400}}', None, "no such model (400)"),
        (
            "Internal error",
            {"message": '{"error": {"message": "too long"}}'},
            "Internal error (400): too long",
        ),
        ("Internal error", {"error": {"message": "deep"}}, "Internal error (400): deep"),
        ("[" * 100_000, None, "[" * 100_000 + " (400)"),
        ("42", None, "42 (400)"),
    ],
)
def test_words_in_json_are_unwrapped(message: str, data: object, said: str) -> None:
    assert str(RequestFailed(400, message, data)) == said
