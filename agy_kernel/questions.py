"""What has to be known before it goes on: questions, each with its reply inside.

Question
├── Permission   leave for a tool call, or a choice that the agent puts in that form
├── Form         values that the person types or chooses (``elicitation/create``, mode form)
├── Link         an address that the person is to visit (``elicitation/create``, mode url)
├── SignInPage   a page at which the person signs in, while the agent listens for the outcome
└── Confirmation leave for something that we would do ourselves, such as signing out

Everything else in the program is a value; a question is the one object, since its reply may be
given from any thread, once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .forms import Field, Value
from .rules import Rule

if TYPE_CHECKING:
    from .events import ToolCallUpdate


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
    """What a question was answered with; without option, values and refusal it is cancelled.

    Cancelled is an ordinary answer.

    Args:
        option: the chosen option of a permission.
        by: who or what decided: ``you``, ``policy``, ``nobody``, ``stop``, ``agent``.
        why: a sentence for the person when a machine decided.
        values: of a form that was filled in, by field; empty for a link that was accepted.
        declined: whether the person (or nobody) does not want to answer a form or a link.
        again: whether the same is to be answered like this for the rest of the session.
    """

    option: Option | None
    by: str
    why: str = ""
    values: Mapping[str, Value] | None = None
    declined: bool = False
    again: bool = False

    @property
    def allowed(self) -> bool:
        """Whether the answer lets the tool run."""
        return self.option is not None and not self.option.kind.startswith("reject")

    @property
    def accepted(self) -> bool:
        """Whether a question that is no permission was answered with yes, or with values."""
        return self.values is not None


class Question:
    """Something that the agent waits for; see the kinds."""

    def __init__(self) -> None:
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


class Permission(Question):
    """A ``session/request_permission``.

    Args:
        call: the tool call that the question is about, as the request told it.
        options: the offered answers, in the offered order.
        warning: a security warning about the whole request.
    """

    def __init__(
        self, call: ToolCallUpdate, options: tuple[Option, ...], warning: str = ""
    ) -> None:
        super().__init__()
        self.call, self.options, self.warning = call, options, warning
        self.again: Rule | None = None
        """The rule about calls like this one that the person may make on answering."""

    @property
    def is_choice(self) -> bool:
        """Whether this asks for the person's choice, rather than for leave for a tool call.

        Antigravity asks its questions in permission form, each answer an ``allow_once`` option
        and the id ``interaction_...``; no policy may answer those for the person.
        """
        kinds = [option.kind for option in self.options]
        no_way_out = not any(kind.startswith("reject") for kind in kinds)
        several = kinds.count("allow_once") > 1
        return self.call.id.startswith("interaction_") or several or no_way_out

    def offered(self, *kinds: str) -> Option | None:
        """The first option of the first of ``kinds`` that is offered at all."""
        return next((o for kind in kinds for o in self.options if o.kind == kind), None)


class Form(Question):
    """A form to be filled in.

    Args:
        message: what the agent asks.
        fields: what is to be filled in, in order.
        title: of the form; may be empty.
        description: more about it; may be empty.
        call_id: id of the tool call that needs the values; empty where none was named.
    """

    def __init__(
        self,
        message: str,
        fields: tuple[Field, ...],
        title: str = "",
        description: str = "",
        call_id: str = "",
    ) -> None:
        super().__init__()
        self.message, self.fields = message, fields
        self.title, self.description, self.call_id = title, description, call_id


class Link(Question):
    """An address to be visited; what is entered there goes past us, and is none of our business.

    Args:
        message: what the agent asks.
        url: the address, http or https.
        id: names it in ``elicitation/complete``.
        call_id: id of the tool call that needs it; empty where none was named.
    """

    def __init__(self, message: str, url: str, link_id: str = "", call_id: str = "") -> None:
        super().__init__()
        self.message, self.url, self.id, self.call_id = message, url, link_id, call_id


class SignInPage(Question):
    """A page at which the person signs in; the agent listens for where that leads to.

    Args:
        url: the page; https, or http on this machine.
        seconds: how long the agent listens, 300 for Antigravity.
        listener: host and port that the agent listens at; empty where nothing can be handed over.
        refusal: what is wrong, in words, with an address that was pasted; empty when nothing is.
    """

    def __init__(
        self,
        url: str,
        seconds: float,
        listener: str = "",
        refusal: Callable[[str], str] = lambda _: "",
    ) -> None:
        super().__init__()
        self.url, self.listener, self._refusal = url, listener, refusal
        self.until = time.monotonic() + seconds
        self.pasted = ""
        """Where signing in has led to. A secret: it is handed over, and kept nowhere else."""

    @property
    def seconds_left(self) -> float:
        """For how long the agent still listens."""
        return max(0.0, self.until - time.monotonic())

    def paste(self, address: str) -> str:
        """Take the address at which the person's browser has ended up.

        Returns:
            What is wrong with it, in words; empty when it is taken.
        """
        problem = self._refusal(address)
        if not problem:
            self.pasted = address.strip()
        return problem


class Confirmation(Question):
    """Leave for something that cannot be taken back, or concerns more than this notebook.

    Args:
        message: what would be done.
        details: more about it, a sentence each.
        yes: what the button says that does it.
    """

    def __init__(self, message: str, details: tuple[str, ...] = (), yes: str = "Go on") -> None:
        super().__init__()
        self.message, self.details, self.yes = message, details, yes
