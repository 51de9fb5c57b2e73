"""Who answers a question when no person does, by which rule, and the record of all answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Literal

from ..questions import Answer, Permission, Question
from ..rules import Facts, Rule, find, same_again
from .toolcalls import ToolCall

Policy = Literal["ask", "deny", "allow"]

KEPT = 500
HOW_TO_ALLOW = "AGY_PERMISSIONS=allow, set before the kernel starts, would allow it"
NOBODY = "nobody can answer here (the front end takes no input)"
NOT_ONCE = "the agent offers no way to allow it once"
FOR_A_PERSON = f"this is a question for a person, and {NOBODY}"


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer that was given about a tool call.

    Args:
        facts: what was known of the call.
        title: what the agent calls it.
        answer: what was answered, by whom or what, and why.
    """

    facts: Facts
    title: str
    answer: Answer


class Permissions:
    """The rules of one kernel, and what was decided by them and by people.

    Args:
        policy: the answer where no rule fits, and why it is that.
        rules: the user's rules.
        facts: what a call is about.
    """

    def __init__(
        self,
        policy: Callable[[], tuple[Policy, str]],
        rules: Callable[[], Sequence[Rule]],
        facts: Callable[[ToolCall], Facts],
    ) -> None:
        self._policy, self._rules, self._facts = policy, rules, facts
        self.session: list[Rule] = []
        self.audit: deque[Decision] = deque(maxlen=KEPT)

    def decide(self, question: Question, call: ToolCall | None, human: bool) -> Answer | None:
        """The answer that needs no person, or None when a person has to be asked.

        Args:
            call: what is known of the call that leave is asked for.
            human: whether anybody is there to answer (``allow_stdin`` of the request).
        """
        if not isinstance(question, Permission):
            return None if human else Answer(None, by="nobody", why=FOR_A_PERSON, declined=True)
        facts = self._facts(call) if call is not None else Facts()
        question.reply.add_done_callback(partial(self._answered, question, facts))
        if question.is_choice:
            return None if human else Answer(None, by="nobody", why=FOR_A_PERSON)
        question.again = same_again("allow", facts)
        return self._decide(question, facts, human)

    def _decide(self, question: Permission, facts: Facts, human: bool) -> Answer | None:
        rule = find((*self.session, *self._rules()), facts)
        verdict, why = self._policy()
        if rule is not None:
            verdict, why = rule.do, f"by the rule: {rule}"
        # Allowed only once: a machine must not make a choice for good.
        once = question.offered("allow_once")
        if verdict == "allow" and once is not None:
            return Answer(once, by="policy", why=why)
        if verdict == "deny":
            return _refusal(question, "policy", why)
        if human:
            return None
        if once is None:
            return _refusal(question, "nobody", f"{NOT_ONCE}, and {NOBODY}")
        how = HOW_TO_ALLOW if rule is None else why
        return _refusal(question, "nobody", f"{NOBODY}; {how}")

    def _answered(self, question: Permission, facts: Facts, reply: Future[Answer]) -> None:
        answer = reply.result()
        self.audit.append(Decision(facts, question.call.title or question.call.id, answer))
        if answer.again and answer.option is not None:
            do: Policy = "allow" if answer.allowed else "deny"
            if (rule := same_again(do, facts)) is not None:
                self.session.append(rule)


def _refusal(question: Permission, by: str, why: str) -> Answer:
    return Answer(question.offered("reject_once", "reject_always"), by=by, why=why)
