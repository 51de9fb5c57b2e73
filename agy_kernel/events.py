"""What happens in a turn, as frozen values: the vocabulary that every layer shares.

An engine turns whatever its wire says into these; the transcript folds them; the display draws
the transcript. Nothing here knows a wire, a notebook or a thread, but for ``Question``: it carries
its own reply, which may be given from any thread, once.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any, Literal

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
        raw: the block as received.
    """

    type: str
    text: str = ""
    data: str = ""
    mime_type: str = ""
    uri: str = ""
    name: str = ""
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
    """A file before and after; ``old`` is None for a file that does not exist yet."""

    path: str
    old: str | None
    new: str
    deleted: bool = False


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
    """The whole plan, replacing the one before."""

    entries: tuple[PlanEntry, ...]


# -- what the agent asks


@dataclass(frozen=True, slots=True)
class Option:
    """One answer that the agent offers.

    Args:
        id: to be sent back as it is.
        name: what the person reads.
        kind: ``allow_once``, ``allow_always``, ``reject_once``, ``reject_always``, or unknown.
        warning: a security warning that the agent attached to this option.
    """

    id: str
    name: str
    kind: str = ""
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question was answered with; no option means cancelled, an ordinary answer.

    Args:
        option: the chosen option, None for cancelled.
        by: who or what decided: ``you``, ``policy``, ``nobody``, ``stop``, ``agent``.
        why: a sentence for the person when a machine decided.
    """

    option: Option | None
    by: str
    why: str = ""

    @property
    def allowed(self) -> bool:
        """Whether the answer lets the tool run."""
        return self.option is not None and not self.option.kind.startswith("reject")


class Question:
    """Something that the agent wants to know before it goes on, with its reply inside.

    Args:
        call: the tool call that the question is about, as the request told it.
        options: the offered answers, in the offered order.
        warning: a security warning about the whole request.
    """

    def __init__(
        self, call: ToolCallUpdate, options: tuple[Option, ...], warning: str = ""
    ) -> None:
        self.call, self.options, self.warning = call, options, warning
        self.reply: Future[Answer] = Future()

    @property
    def open(self) -> bool:
        """Whether nobody has answered yet."""
        return not self.reply.done()

    def answer(self, answer: Answer) -> bool:
        """Answer, once; from any thread. False when it was answered before (too late)."""
        try:
            self.reply.set_result(answer)
        except InvalidStateError:
            return False
        return True

    @property
    def is_permission(self) -> bool:
        """Whether this asks leave for a tool call, rather than for the person's choice.

        Antigravity asks its questions in permission form, each answer an ``allow_once`` option
        and the id ``interaction_...``; no policy may answer those for the person.
        """
        kinds = [option.kind for option in self.options]
        is_choice = kinds.count("allow_once") > 1 or not any(k.startswith("reject") for k in kinds)
        return not self.call.id.startswith("interaction_") and not is_choice

    def offered(self, *kinds: str) -> Option | None:
        """The first option of the first of ``kinds`` that is offered at all."""
        return next((o for kind in kinds for o in self.options if o.kind == kind), None)


@dataclass(frozen=True, slots=True)
class Asked:
    """The agent asks, and waits for ``question.reply``."""

    question: Question


@dataclass(frozen=True, slots=True)
class Answered:
    """A question was answered."""

    question: Question
    answer: Answer


# -- the session

Selector = Literal["model", "mode"]


@dataclass(frozen=True, slots=True)
class Choice:
    """A model or a mode that can be chosen."""

    id: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be chosen, and what is; ``option_id`` names the config option behind it, if any."""

    current: str = ""
    available: tuple[Choice, ...] = ()
    option_id: str | None = None

    def name(self) -> str:
        """The name of the current choice, its id where it has none."""
        return next((c.name for c in self.available if c.id == self.current), self.current)


@dataclass(frozen=True, slots=True)
class SessionState:
    """A session as the agent last described it; None is 'not told'."""

    id: str
    models: Choices | None = None
    modes: Choices | None = None


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """A new session exists, or an old one has been loaded: history ends here."""

    state: SessionState


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """The session is in another mode now."""

    mode_id: str


@dataclass(frozen=True, slots=True)
class ConfigChanged:
    """Models or modes changed; None means that this frame did not speak of them."""

    models: Choices | None = None
    modes: Choices | None = None


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
    | UnknownUpdate
)
Event = Update | SessionOpened | Asked | Answered | Progress | TurnEnded | TurnBroken


# -- the agent


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """Who the agent says it is."""

    name: str = ""
    title: str = ""
    version: str = ""

    @property
    def label(self) -> str:
        """What a person calls it."""
        return self.title or self.name or "agent"


@dataclass(frozen=True, slots=True)
class AuthMethod:
    """A way to sign in; ``variables`` are the environment variables that it needs, if told."""

    id: str
    name: str
    description: str = ""
    variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the agent says it can do."""

    load_session: bool = False
    image: bool = False
    audio: bool = False
    embedded_context: bool = False
