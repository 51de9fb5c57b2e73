"""What happens in a turn, as frozen values: the vocabulary that every layer shares.

An engine turns whatever its wire says into these; the transcript folds them; the display draws
the transcript. Nothing here knows a wire, a notebook or a thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .questions import Answer, Question

Role = Literal["agent", "thought", "user"]


# -- what the agent says


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A piece of text, to be appended to what came before; it may split a word."""

    role: Role
    text: str
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """A content block: text, image, audio, resource_link, resource, or a type yet unknown.

    Args:
        type: the protocol's discriminator.
        text: text of a text block or an embedded text resource.
        data: base64 of an image, of audio, or of an embedded binary resource.
        mime_type: as the agent states it; never trusted.
        uri: of a resource or an image.
        name: what to call it.
        description: what the agent says of it.
        size: bytes, as the agent states them; never trusted.
        raw: the block as received.
    """

    type: str
    text: str = ""
    data: str = ""
    mime_type: str = ""
    uri: str = ""
    name: str = ""
    description: str = ""
    size: int | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class ContentChunk:
    """A content block other than text in the agent's message."""

    role: Role
    content: Content
    message_id: str | None = None


# -- what the agent does


@dataclass(frozen=True, slots=True)
class Diff:
    """A file before and after.

    Args:
        old: None for a file that does not exist yet.
        moved_from: its path before; empty where that is the same.
    """

    path: str
    old: str | None
    new: str
    deleted: bool = False
    moved_from: str = ""


@dataclass(frozen=True, slots=True)
class Terminal:
    """The output of a terminal that the agent names by id."""

    id: str
    output: str = ""


ToolContent = Content | Diff | Terminal


@dataclass(frozen=True, slots=True)
class Location:
    """A file that a tool call touches; ``line`` counts from 1."""

    path: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCallUpdate:
    """What one frame says of a tool call: None means unchanged, and lists replace lists.

    Args:
        id: the agent's opaque id.
        announces: whether the frame was a ``tool_call``, which an id's first frame should be.
        asked: whether the frame was a permission request.
        raw_output: whatever the tool returned, None when nothing was said.
        printed: what the call's terminal has printed since the last frame.
        exit_status: of the command in the terminal, once it has ended.
        meta: the frame's ``_meta``.
    """

    id: str
    title: str | None = None
    kind: str | None = None
    status: str | None = None
    content: tuple[ToolContent, ...] | None = None
    locations: tuple[Location, ...] | None = None
    raw_input: Any = None
    raw_output: Any = None
    printed: str = ""
    exit_status: int | None = None
    meta: Mapping[str, Any] = field(default_factory=dict, compare=False)
    announces: bool = False
    asked: bool = False


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """One step of the agent's plan."""

    content: str
    status: str = "pending"
    priority: str = "medium"


@dataclass(frozen=True, slots=True)
class PlanUpdate:
    """The whole plan, replacing the one before; without anything in it, the plan is dropped.

    Args:
        id: which plan, where the agent has several (protocol: ``plan_update``, unstable).
        text: a plan that is written in Markdown.
        uri: where a plan lies that is a file.
    """

    entries: tuple[PlanEntry, ...] = ()
    id: str = ""
    text: str = ""
    uri: str = ""


# -- what the agent asks


@dataclass(frozen=True, slots=True)
class Asked:
    """The agent asks, and waits for ``question.reply``."""

    question: Question


@dataclass(frozen=True, slots=True)
class Answered:
    """A question was answered."""

    question: Question
    answer: Answer


@dataclass(frozen=True, slots=True)
class LinkVisited:
    """What was to be done at the address of a ``Link`` is done (``elicitation/complete``)."""

    link_id: str


# -- the session

MODEL, MODE, EFFORT = "model", "mode", "effort"
"""What agents let one choose by whatever name; anything else goes by the agent's own."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A model, a mode or any other value that can be chosen."""

    id: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be chosen, and what is.

    Args:
        current: id of the choice; empty where it is not known.
        available: what is on offer.
        option_id: the config option behind it, if any.
        label: what the agent calls it.
        is_switch: whether the choices are ``on`` and ``off``, and go over the wire as a boolean.
    """

    current: str = ""
    available: tuple[Choice, ...] = ()
    option_id: str | None = None
    label: str = ""
    is_switch: bool = False

    def name(self) -> str:
        """The name of the current choice, its id where it has none."""
        return next((c.name for c in self.available if c.id == self.current), self.current)


@dataclass(frozen=True, slots=True)
class SessionState:
    """A session as the agent last described it; of ``choices``, what it spoke of."""

    id: str
    choices: Mapping[str, Choices] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session in the agent's list.

    Args:
        id: to be resumed by.
        folder: absolute path that it works in.
        title: may be empty.
        updated: when it was used last, as the agent writes it; may be empty.
    """

    id: str
    folder: str = ""
    title: str = ""
    updated: str = ""


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """A new session exists, or an old one has been loaded: history ends here."""

    state: SessionState


@dataclass(frozen=True, slots=True)
class Replayed:
    """What was said in a session before it was loaded, in order."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """The session is in another mode now."""

    mode_id: str


@dataclass(frozen=True, slots=True)
class ConfigChanged:
    """What is chosen or on offer has changed; holds what this frame spoke of."""

    choices: Mapping[str, Choices]


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command of the agent, to be sent as a prompt that begins with ``/name``."""

    name: str
    description: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class CommandsChanged:
    """The agent's slash commands, replacing those before."""

    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class SessionInfoChanged:
    """The session has another title; None clears it."""

    title: str | None


@dataclass(frozen=True, slots=True)
class UsageChanged:
    """Tokens in the context window, its size, and the cost so far as text (may be empty)."""

    used: int
    size: int
    cost: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the person, from the agent or from us; severity info, warning or error."""

    text: str
    severity: str = "info"


@dataclass(frozen=True, slots=True)
class Compaction:
    """The agent shortens what it remembers (protocol: ``compaction_update``, unstable)."""

    id: str
    status: str = "in_progress"


@dataclass(frozen=True, slots=True)
class NothingNew:
    """A valid update that tells nothing which is shown or kept."""


@dataclass(frozen=True, slots=True)
class UnknownUpdate:
    """An update of a kind that we do not know: kept, and shown as its name at most."""

    kind: str
    raw: Mapping[str, Any] = field(compare=False)


# -- the turn


@dataclass(frozen=True, slots=True)
class Progress:
    """What is being waited for; shown while nothing else is, and never kept."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one turn, as reported; None where the agent did not say."""

    input: int | None = None
    output: int | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The agent has answered the prompt: nothing of this turn comes in order after it."""

    stop_reason: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class TurnBroken:
    """The turn ended without an answer."""

    error: BaseException


Update = (
    TextChunk
    | ContentChunk
    | ToolCallUpdate
    | PlanUpdate
    | ModeChanged
    | ConfigChanged
    | CommandsChanged
    | SessionInfoChanged
    | UsageChanged
    | Notice
    | Compaction
    | NothingNew
    | UnknownUpdate
)
Event = (
    Update
    | SessionOpened
    | Replayed
    | Asked
    | Answered
    | LinkVisited
    | Progress
    | TurnEnded
    | TurnBroken
)
