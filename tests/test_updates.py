"""What a ``session/update`` and a permission request say, as events."""

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agy_kernel.acp.options import SWITCH, choices_of, session_state
from agy_kernel.acp.results import turn_ended
from agy_kernel.acp.updates import ROLES, question, update_event
from agy_kernel.conversation.transcript import Transcript, fold
from agy_kernel.events import (
    Asked,
    Choice,
    Choices,
    Command,
    CommandsChanged,
    Compaction,
    ConfigChanged,
    Content,
    ContentChunk,
    Diff,
    Event,
    Location,
    ModeChanged,
    NothingNew,
    Notice,
    PlanEntry,
    PlanUpdate,
    SessionInfoChanged,
    Terminal,
    TextChunk,
    ToolCallUpdate,
    TurnEnded,
    UnknownUpdate,
    Usage,
    UsageChanged,
)
from agy_kernel.questions import Option

TEXT = {"type": "text", "text": "Hi"}
CALL = {"toolCallId": "c1", "title": "Run tests", "kind": "execute", "status": "pending"}
OPTIONS = [
    {"optionId": "a", "name": "Allow", "kind": "allow_once"},
    {"optionId": "r", "name": "Reject", "kind": "reject_once"},
]

# One row for each line of acp-v1.md 1.5, and for each way in which agents differ from it.
ROWS: list[tuple[dict[str, Any], Event]] = [
    ({"sessionUpdate": "agent_message_chunk", "content": TEXT}, TextChunk("agent", "Hi")),
    (
        {"sessionUpdate": "agent_message_chunk", "content": TEXT, "messageId": "m2"},
        TextChunk("agent", "Hi", "m2"),
    ),
    ({"sessionUpdate": "agent_thought_chunk", "content": TEXT}, TextChunk("thought", "Hi")),
    ({"sessionUpdate": "user_message_chunk", "content": TEXT}, TextChunk("user", "Hi")),
    ({"sessionUpdate": "agent_message_chunk", "content": "Hi"}, TextChunk("agent", "Hi")),
    ({"sessionUpdate": "agent_message_chunk", "content": {"text": "Hi"}}, TextChunk("agent", "Hi")),
    ({"sessionUpdate": "agent_message_chunk"}, TextChunk("agent", "")),
    (
        {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "image", "mimeType": "image/png", "data": "iVBORw0="},
        },
        ContentChunk("agent", Content("image", data="iVBORw0=", mime_type="image/png")),
    ),
    (
        {
            "sessionUpdate": "agent_message_chunk",
            "content": {
                "type": "resource_link",
                "uri": "file:///a.pdf",
                "name": "a.pdf",
                "mimeType": "application/pdf",
            },
        },
        ContentChunk(
            "agent",
            Content(
                "resource_link", uri="file:///a.pdf", name="a.pdf", mime_type="application/pdf"
            ),
        ),
    ),
    (
        {
            "sessionUpdate": "agent_message_chunk",
            "content": {
                "type": "resource",
                "resource": {"uri": "file:///a.py", "mimeType": "text/x-python", "text": "x = 1"},
            },
        },
        ContentChunk(
            "agent",
            Content("resource", text="x = 1", uri="file:///a.py", mime_type="text/x-python"),
        ),
    ),
    (
        {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAE="}},
        },
        ContentChunk("agent", Content("resource", data="AAE=", uri="file:///b")),
    ),
    (
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "hologram", "x": 1}},
        ContentChunk("agent", Content("hologram")),
    ),
    (
        {
            "sessionUpdate": "tool_call",
            **CALL,
            "content": [
                {"type": "content", "content": TEXT},
                {"type": "diff", "path": "/w/a", "oldText": "a", "newText": "b"},
                {"type": "terminal", "terminalId": "t1"},
            ],
            "locations": [{"path": "/w/a", "line": 3}, {"path": "/w/b"}],
            "rawInput": {"cmd": "x"},
            "_meta": {"mcp": {"tool": "t"}},
        },
        ToolCallUpdate(
            "c1",
            "Run tests",
            "execute",
            "pending",
            (Content("text", "Hi"), Diff("/w/a", "a", "b"), Terminal("t1")),
            (Location("/w/a", 3), Location("/w/b")),
            {"cmd": "x"},
            announces=True,
        ),
    ),
    (
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c1",
            "status": "completed",
            "title": None,
            "content": None,
            "rawOutput": {"rc": 0},
        },
        ToolCallUpdate("c1", status="completed", raw_output={"rc": 0}),
    ),
    (
        {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "content": [], "locations": []},
        ToolCallUpdate("c1", content=(), locations=()),
    ),
    (
        {"sessionUpdate": "tool_call", "toolCallId": "c1", "kind": "teleport", "status": "odd"},
        ToolCallUpdate("c1", kind="teleport", status="odd", announces=True),
    ),
    (
        {
            "sessionUpdate": "tool_call",
            "toolCallId": 7,
            "title": 5,
            "kind": [],
            "content": "text",
            "locations": {"path": "/w"},
        },
        ToolCallUpdate("7", announces=True),
    ),
    (
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c1",
            "content": [5, None, TEXT, {"type": "content", "content": TEXT}],
            "locations": [{}, {"path": 5}, "x", {"path": "/w", "line": "3"}],
        },
        ToolCallUpdate(
            "c1",
            content=(Content("text", "Hi"), Content("text", "Hi")),
            locations=(Location("/w"),),
        ),
    ),
    (
        {
            "sessionUpdate": "plan",
            "entries": [{"content": "Step", "priority": "high", "status": "in_progress"}, 5, {}],
        },
        PlanUpdate((PlanEntry("Step", "in_progress", "high"), PlanEntry(""))),
    ),
    (
        {
            "sessionUpdate": "available_commands_update",
            "availableCommands": [
                {"name": "plan", "description": "Plan first", "input": {"hint": "what"}},
                {"name": "/logout", "input": None},
                {"description": "without a name"},
            ],
        },
        CommandsChanged((Command("plan", "Plan first", "what"), Command("logout"))),
    ),
    ({"sessionUpdate": "current_mode_update", "currentModeId": "yolo"}, ModeChanged("yolo")),
    ({"sessionUpdate": "current_mode_update", "modeId": "yolo"}, ModeChanged("yolo")),
    ({"sessionUpdate": "session_info_update", "title": "New"}, SessionInfoChanged("New")),
    ({"sessionUpdate": "session_info_update", "title": None}, SessionInfoChanged(None)),
    (
        {
            "sessionUpdate": "usage_update",
            "used": 53,
            "size": 200,
            "cost": {"amount": 0.045, "currency": "USD"},
        },
        UsageChanged(53, 200, "0.0450 USD"),
    ),
    ({"sessionUpdate": "usage_update", "used": -1, "size": "x"}, UsageChanged(0, 0)),
    (
        {
            "sessionUpdate": "notice",
            "severity": "warning",
            "title": "MCP server unavailable",
            "description": "Continuing.",
        },
        Notice("MCP server unavailable Continuing.", "warning"),
    ),
    (
        {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed"},
        Compaction("k", "completed"),
    ),
    ({"sessionUpdate": "compaction_update", "x": 1}, Compaction("", "in_progress")),
    (
        {"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": TEXT},
        Compaction("k", "in_progress"),
    ),
    (
        {
            "sessionUpdate": "plan_update",
            "plan": {"type": "items", "planId": "p", "entries": [{"content": "Step"}]},
        },
        PlanUpdate((PlanEntry("Step"),), "p"),
    ),
    (
        {"sessionUpdate": "plan_update", "plan": {"type": "markdown", "id": "p", "content": "# P"}},
        PlanUpdate((), "p", "# P"),
    ),
    (
        {"sessionUpdate": "plan_update", "plan": {"type": "file", "planId": "p", "uri": "/w/p"}},
        PlanUpdate((), "p", uri="/w/p"),
    ),
    ({"sessionUpdate": "plan_removed", "planId": "p"}, PlanUpdate(id="p")),
    ({"sessionUpdate": "session_info_update", "updatedAt": "2026-01-01"}, NothingNew()),
    (
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c1",
            "_meta": {"terminal_output": {"terminal_id": "t", "data": "hello\n"}},
        },
        ToolCallUpdate("c1", printed="hello\n"),
    ),
    (
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c1",
            "_meta": {
                "terminal_output_delta": {"terminal_id": "t", "data": "x"},
                "terminal_exit": {"terminal_id": "t", "exit_code": 3, "signal": None},
            },
        },
        ToolCallUpdate("c1", printed="x", exit_status=3),
    ),
    (
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c1",
            "_meta": {"terminal_output": 5, "terminal_exit": {"exit_code": "x"}},
        },
        ToolCallUpdate("c1"),
    ),
    ({"sessionUpdate": ["odd"]}, UnknownUpdate("", {})),
    ({}, UnknownUpdate("", {})),
]


@pytest.mark.parametrize(("update", "event"), ROWS, ids=range(len(ROWS)))
def test_an_update_says(update: dict[str, Any], event: Event) -> None:
    assert update_event(update) == event


def test_an_update_of_an_unknown_kind_is_kept_whole() -> None:
    update = {"sessionUpdate": "_vendor", "_meta": {"x": [1]}, "anything": None}
    assert update_event(update) == UnknownUpdate("_vendor", update)
    known = update_event(update)
    assert isinstance(known, UnknownUpdate)
    assert known.raw == update


@pytest.mark.parametrize(
    ("block", "diff"),
    [
        ({"oldText": "a", "newText": "b"}, Diff("/w", "a", "b")),
        ({"oldText": None, "newText": "b"}, Diff("/w", None, "b")),
        ({"newText": "b"}, Diff("/w", None, "b")),
        ({"oldText": "", "newText": "b"}, Diff("/w", None, "b")),
        ({"oldText": "", "newText": "b", "_meta": {"kind": "update"}}, Diff("/w", "", "b")),
        ({"oldText": "a", "newText": ""}, Diff("/w", "a", "")),
        ({"oldText": "a", "newText": "", "_meta": {"kind": "delete"}}, Diff("/w", "a", "", True)),
        ({"oldText": "a"}, Diff("/w", "a", "", True)),
        ({"oldText": "a", "newText": None}, Diff("/w", "a", "", True)),
        ({}, Diff("/w", None, "")),
    ],
    ids=str,
)
def test_a_diff_tells_new_changed_and_deleted_files(block: dict[str, Any], diff: Diff) -> None:
    content = [{"type": "diff", "path": "/w", **block}]
    event = update_event(
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": content}
    )
    assert isinstance(event, ToolCallUpdate)
    assert event.content == (diff,)


def test_a_permission_request_is_a_question() -> None:
    asked = question({"sessionId": "s", "toolCall": CALL, "options": [*OPTIONS, 5, None]})
    assert asked.options == (
        Option("a", "Allow", "allow_once"),
        Option("r", "Reject", "reject_once"),
    )
    assert asked.call == ToolCallUpdate("c1", "Run tests", "execute", "pending", asked=True)
    assert not asked.is_choice
    assert asked.open


@pytest.mark.parametrize(
    ("warning", "said"),
    [
        ({"title": "Careful", "message": "It was told to"}, "Careful: It was told to"),
        ({"message": "It was told to"}, "It was told to"),
        ("plain words", "plain words"),
        (5, ""),
        ({}, ""),
    ],
    ids=str,
)
def test_a_security_warning_stays_with_what_it_is_about(warning: Any, said: str) -> None:
    meta = {"_meta": {"agy.security.warning": warning}}
    on_option = question({"toolCall": CALL, "options": [{**OPTIONS[0], **meta}]})
    assert (on_option.options[0].warning, on_option.warning) == (said, "")
    assert question({"toolCall": CALL, "options": OPTIONS, **meta}).warning == said
    assert question({"toolCall": {**CALL, **meta}, "options": OPTIONS}).warning == said


# -- models and modes

SELECT = {
    "id": "model",
    "category": "model",
    "type": "select",
    "currentValue": "m1",
    "options": [{"value": "m1", "name": "M 1", "description": "fast"}, {"value": "m2"}],
}
MODELS = Choices("m1", (Choice("m1", "M 1", "fast"), Choice("m2", "m2")), "model")
GROUPED = {**SELECT, "options": [{"group": "g", "options": SELECT["options"]}, 5, {"options": 5}]}


@pytest.mark.parametrize(
    "options",
    [
        [SELECT],
        [GROUPED],
        [{"id": "web", "type": "boolean", "currentValue": True}, SELECT],
        [{k: v for k, v in SELECT.items() if k != "type"}],
        [{k: v for k, v in SELECT.items() if k != "category"}],
        [{**SELECT, "type": "slider"}, SELECT, 5, None],
    ],
    ids=["flat", "grouped", "beside others", "without type", "without category", "odd types"],
)
def test_a_config_option_offers_models(options: list[Any]) -> None:
    event = update_event({"sessionUpdate": "config_option_update", "configOptions": options})
    assert isinstance(event, ConfigChanged)
    assert event.choices["model"] == MODELS
    assert session_state("s", {"configOptions": options}).choices == event.choices


def test_other_options_go_by_their_own_names() -> None:
    effort = {**SELECT, "id": "reasoning", "category": "thought_level", "name": "Reasoning"}
    options: list[Any] = [
        {"id": "web", "name": "Web search", "type": "boolean", "currentValue": True},
        SELECT,
        effort,
        {**SELECT, "id": "small_model"},
        {"type": "select"},
    ]
    choices = choices_of(options)
    assert list(choices) == ["web", "model", "effort", "small_model"]
    assert choices["web"] == Choices("on", SWITCH, "web", "Web search", is_switch=True)
    assert choices["effort"].option_id == "reasoning"
    assert choices["effort"].label == "Reasoning"


def test_models_and_modes_are_read_where_there_are_no_options() -> None:
    state = session_state(
        "s",
        {
            "models": {
                "currentModelId": "m1",
                "availableModels": [{"modelId": "m1", "name": "M 1"}, 5],
            },
            "modes": {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]},
        },
    )
    assert state.choices == {
        "model": Choices("m1", (Choice("m1", "M 1"),)),
        "mode": Choices("ask", (Choice("ask", "Ask"),)),
    }


def test_an_option_is_preferred_to_the_list_beside_it() -> None:
    both = {"configOptions": [SELECT], "models": {"currentModelId": "other"}}
    assert session_state("s", both).choices == {"model": MODELS}


@pytest.mark.parametrize(
    "result",
    [
        None,
        [],
        "text",
        {},
        {"configOptions": 5, "models": 5, "modes": []},
        {"configOptions": [{"id": "model", "type": "slider"}], "models": None},
    ],
    ids=str,
)
def test_a_session_may_tell_nothing_of_models_and_modes(result: Any) -> None:
    state = session_state("s", result)
    assert (state.id, state.choices) == ("s", {})


def test_a_list_without_members_is_a_choice_of_nothing() -> None:
    state = session_state("s", {"models": {"availableModels": 5}, "modes": {"currentModeId": 7}})
    assert state.choices == {"model": Choices(), "mode": Choices()}


@pytest.mark.parametrize(
    ("result", "ended"),
    [
        ({"stopReason": "end_turn"}, TurnEnded("end_turn")),
        (
            {"stopReason": "refusal", "usage": {"inputTokens": 1, "totalTokens": "x"}},
            TurnEnded("refusal", Usage(1, None, None)),
        ),
        ({"stopReason": "odd", "usage": 5}, TurnEnded("odd")),
        (None, TurnEnded("unknown")),
        ([], TurnEnded("unknown")),
        ({"stopReason": None}, TurnEnded("unknown")),
    ],
    ids=str,
)
def test_a_turn_ends_with_any_reason(result: Any, ended: TurnEnded) -> None:
    assert turn_ended(result) == ended


# -- whatever comes

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
KINDS = [
    *ROLES,
    *("tool_call", "tool_call_update", "plan", "available_commands_update"),
    *("current_mode_update", "config_option_update", "session_info_update", "usage_update"),
    *("notice", "plan_update", "plan_removed", "compaction_update"),
]
FIELDS = [
    *("content", "toolCallId", "title", "kind", "status", "locations", "rawInput", "rawOutput"),
    *("entries", "availableCommands", "currentModeId", "configOptions", "used", "size", "cost"),
    *("type", "text", "data", "resource", "path", "oldText", "newText", "line", "options"),
    *("optionId", "name", "id", "category", "amount", "currency", "_meta", "messageId"),
    *("agy.security.warning", "input", "description", "severity", "toolCall", "models", "modes"),
    *("availableModels", "availableModes", "usage", "stopReason", "value", "sessionUpdate"),
]
OBJECTS = st.recursive(
    st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=5),
    lambda inner: st.dictionaries(
        st.sampled_from(FIELDS), inner | st.lists(inner | ANYTHING, max_size=3), max_size=5
    ),
    max_leaves=8,
)
UPDATES = st.builds(
    lambda kind, fields: {**fields, "sessionUpdate": kind}, st.sampled_from(KINDS), OBJECTS
)
THOROUGH = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@THOROUGH
@given(st.lists(UPDATES | OBJECTS, max_size=6))
@example([{"sessionUpdate": "usage_update", "cost": {"amount": 10**400}}])
@example([{"sessionUpdate": "usage_update", "cost": {"amount": float("nan")}}])
def test_no_update_raises_and_every_one_can_be_folded(updates: list[dict[str, Any]]) -> None:
    transcript = Transcript()
    for update in updates:
        transcript = fold(transcript, update_event(update))
    fold(transcript, TurnEnded("end_turn"))


@THOROUGH
@given(OBJECTS)
def test_no_permission_request_and_no_result_raises(fields: dict[str, Any]) -> None:
    asked = question(fields)
    fold(Transcript(), Asked(asked))
    assert asked.is_choice in (True, False)
    session_state("s", fields)
    turn_ended(fields)
