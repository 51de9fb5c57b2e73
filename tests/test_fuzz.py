"""Any bytes, any JSON, any update: nothing breaks, and the page can always be drawn.

``tools/fuzz.py`` looks for more with the same function, guided by what code it reaches; what it
found is among the examples here.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agy_kernel.acp.updates import READERS, ROLES, update_event
from agy_kernel.conversation.transcript import Transcript, close, fold
from tests.support.bytes_to_page import SESSION, page_of
from tests.support.screen import Played

SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=150)

WORDS = ["pending", "completed", "failed", "text", "image", "diff", "terminal", "content", "", "x"]
WORDS += ["allow_once", "reject_once", "execute", "edit", "t1", "\ud800", "\u202e\x1b[31m", "<b>"]
NAMES = ["type", "text", "toolCallId", "title", "kind", "status", "content", "locations", "path"]
NAMES += ["rawInput", "rawOutput", "_meta", "oldText", "newText", "line", "entries", "data", "uri"]
NAMES += ["mimeType", "resource", "messageId", "used", "size", "cost", "amount", "configOptions"]
NAMES += ["availableCommands", "name", "options", "optionId", "toolCall", "plan", "planId", "id"]
NAMES += ["command", "terminalId", "terminal_output", "arguments", "agy.security.warning", "x"]

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS)
SCALARS |= st.text(max_size=20) | st.just(10**400)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=6)
    ),
    max_leaves=25,
)
KINDS = st.sampled_from([*ROLES, *READERS, "_vendor", ""]) | st.text(max_size=5)
OBJECTS = st.dictionaries(st.sampled_from(NAMES), JSON, max_size=8)
UPDATES = st.builds(lambda kind, fields: {**fields, "sessionUpdate": kind}, KINDS, OBJECTS)
METHODS = [
    "session/update",
    "session/request_permission",
    "elicitation/create",
    "fs/read_text_file",
]
METHODS += ["$/cancel_request", "elicitation/complete", "_vendor/x", ""]


def as_params(update: Any) -> dict[str, Any]:
    return {"sessionId": SESSION, "update": update, **(update if isinstance(update, dict) else {})}


PARAMS = UPDATES.map(as_params) | JSON
FRAMES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON,
        "id": st.integers(0, 3) | JSON,
        "method": st.sampled_from(METHODS) | JSON,
        "params": PARAMS,
        "result": JSON,
        "error": JSON,
    },
)
LINES = FRAMES.map(lambda frame: json.dumps(frame).encode()) | st.binary(max_size=40)
STREAMS = st.lists(LINES, max_size=6).map(b"\n".join)


@SLOW
@given(st.lists(UPDATES, max_size=8))
def test_any_updates_fold_and_are_drawn(updates: list[dict[str, Any]]) -> None:
    transcript = Transcript()
    played = Played(human=False, use_widgets=False)
    for update in updates:
        event = update_event(update)
        before, transcript = transcript, fold(transcript, event)
        check_fold(before, transcript)
        assert fold(before, event) == transcript or "nan" in repr(transcript)
        played.play([event])
    check_fold(transcript, close(transcript))
    played.finish()


def check_fold(before: Transcript, after: Transcript) -> None:
    """Entries keep their places and their kinds, and a call has one."""
    kinds = [[type(entry) for entry in t.entries] for t in (before, after)]
    assert kinds[1][: len(kinds[0])] == kinds[0]
    ids = [call.id for call in after.tool_calls]
    assert len(ids) == len(set(ids))


@SLOW
@given(STREAMS, st.lists(st.integers(min_value=0), max_size=4))
def test_any_bytes_leave_a_page_and_any_split_the_same(data: bytes, cuts: list[int]) -> None:
    places = sorted({cut % (len(data) + 1) for cut in cuts})
    pieces = [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]
    whole, parts = page_of(data), page_of(*pieces)
    assert whole.pipe.written == parts.pipe.written or "NaN" in repr(whole.pipe.written)
    assert whole.played.screen.plain == parts.played.screen.plain


@SLOW
@given(st.lists(st.sampled_from(METHODS) | st.text(min_size=1), max_size=8), JSON)
@example(["\ud800"], "\ud800")
def test_every_request_is_answered_once(methods: list[str], params: Any) -> None:
    asked = [{"id": [n, params], "method": m, "params": params} for n, m in enumerate(methods)]
    asked = [frame for frame in asked if frame["method"]]
    page = page_of(b"\n".join(json.dumps(frame).encode() for frame in asked))
    answers = [json.dumps(frame["id"]) for frame in page.pipe.written if "method" not in frame]
    assert sorted(answers) == sorted(json.dumps(frame["id"]) for frame in asked)
