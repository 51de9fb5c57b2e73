"""Recorded traffic of real agents as scripts: a scripted agent plays what the real one said.

The player waits where the real agent waited for its client: for prompts, answers and
``session/cancel``. Requests that our client does not make (``session/list``, another session's
prompts) and their answers are left out, as are prompts that were never answered.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.agents.scripted import Frame, Step, expect, expect_response, respond, send, update

TRAFFIC = Path(__file__).parent / "traffic"
STOP, OVER = "_test_stop", "_test_over"
"""Updates of our own: press Stop now; all that belongs to this turn has been said."""


@dataclass
class RecordedTurn:
    """A prompt, and what the real agent made of it.

    Args:
        answers: what the client answered to permission requests, by tool call: an option, or None
            for cancelled, which is also what Stop answers.
        forms: what the client answered to forms, in order.
        stopped: whether the client sent ``session/cancel``.
        end: the response.
        updates: the updates from the prompt until the next one.
        asked: the tool calls of the permission requests.
    """

    answers: dict[str, str | None] = field(default_factory=dict)
    forms: list[Frame] = field(default_factory=list)
    stopped: bool = False
    end: Frame = field(default_factory=dict)
    updates: list[Frame] = field(default_factory=list)
    asked: list[Frame] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All that the agent said."""
        chunks = [u for u in self.updates if u["sessionUpdate"] == "agent_message_chunk"]
        return "".join(u["content"].get("text", "") for u in chunks)

    @property
    def calls(self) -> dict[str, str]:
        """The last status of each tool call, in the order of their first appearance."""
        statuses: dict[str, str] = {}
        for frame in [*self.updates, *self.asked]:
            if call := frame.get("toolCallId"):
                before = statuses.get(call, "pending")
                is_update = "sessionUpdate" in frame
                statuses[call] = (frame.get("status") or before) if is_update else before
        return statuses


class Recording:
    """One file of traffic.

    Args:
        path: the file; one JSON object a line, as a tape writes them.
    """

    def __init__(self, path: Path) -> None:
        lines = path.read_text("utf-8").splitlines()
        self.turns: list[RecordedTurn] = []
        self.steps: list[Step] = []
        self.session = ""
        self.loads = False
        self._served: dict[Any, str] = {}
        self._asked: dict[Any, tuple[RecordedTurn, str]] = {}
        self._entries = [e for e in map(json.loads, lines) if e["dir"] != "stderr"]
        responses = [e["msg"] for e in self._entries if e["dir"] == "a2c"]
        self._answered = {r["id"] for r in responses if "method" not in r}
        for entry in self._entries:
            (self._sent if entry["dir"] == "c2a" else self._received)(entry["msg"])
        self._turn_is_over()

    @property
    def frames(self) -> int:
        """How many frames the player sends."""
        return _frames(self.steps)

    @property
    def frames_before_prompt(self) -> int:
        """How many of them it sends before it waits for the first prompt."""
        return _frames(self.steps[: self.steps.index(expect("session/prompt"))])

    # -- what the client sent

    def _sent(self, frame: Frame) -> None:
        if "method" not in frame:
            self._answers(frame)
        elif "id" not in frame:
            self.turns[-1].stopped = True
            self.steps += [send(self._marker(STOP)), expect(frame["method"])]
        elif self._is_ours(frame):
            self._served[frame["id"]] = frame["method"]
            self.steps.append(expect(frame["method"]))

    def _is_ours(self, frame: Frame) -> bool:
        method, session = frame["method"], frame["params"].get("sessionId")
        if method == "session/load" and not self.session:
            self.session, self.loads = session, True
            return True
        if method == "session/prompt" and session == self.session:
            return self._begin_turn(frame)
        return method in ("initialize", "session/new")

    def _begin_turn(self, frame: Frame) -> bool:
        if frame["id"] not in self._answered:
            return False
        self._turn_is_over()
        self.turns.append(RecordedTurn())
        return True

    def _turn_is_over(self) -> None:
        if self.turns:
            self.steps.append(send(self._marker(OVER)))

    def _answers(self, frame: Frame) -> None:
        self.steps.append(expect_response(frame["id"]))
        turn, call = self._asked.get(frame["id"], (None, ""))
        if turn is not None and not call:
            turn.forms.append(frame["result"])
        elif turn is not None and not turn.stopped:
            turn.answers[call] = frame["result"]["outcome"].get("optionId")

    def _marker(self, kind: str) -> Frame:
        return update(self.session, kind)

    # -- what the agent sent

    def _received(self, frame: Frame) -> None:
        if "method" not in frame:
            self._responded(frame)
            return
        self.steps.append(send(frame))
        if frame["method"] == "session/request_permission":
            call = frame["params"]["toolCall"]
            self._asked[frame["id"]] = (self.turns[-1], call["toolCallId"])
            self.turns[-1].answers[call["toolCallId"]] = None
            self.turns[-1].asked.append(call)
        elif frame["method"] == "elicitation/create":
            self._asked[frame["id"]] = (self.turns[-1], "")
        elif frame["method"] == "session/update" and self.turns:
            self.turns[-1].updates.append(frame["params"]["update"])

    def _responded(self, frame: Frame) -> None:
        method = self._served.get(frame["id"])
        if method is None:
            return
        response = {key: value for key, value in frame.items() if key in ("result", "error")}
        if method == "initialize":  # these sessions were loaded, not resumed
            response["result"]["agentCapabilities"].get("sessionCapabilities", {}).pop("resume", 0)
        self.steps.append(respond(method, **response))
        if method == "session/new" and "result" in frame:
            self.session = frame["result"]["sessionId"]
        if method == "session/prompt":
            self.turns[-1].end = response


def _frames(steps: list[Step]) -> int:
    return sum(
        len(step) - 1 if step[0] == "send" else step[0] in ("respond", "expect_response")
        for step in steps
    )
