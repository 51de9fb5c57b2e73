"""Who answers a question when no person does, and what is said about it."""

from __future__ import annotations

from typing import Literal

from ..questions import Answer, Permission, Question

Policy = Literal["ask", "deny", "allow"]

HOW_TO_ALLOW = "AGY_PERMISSIONS=allow, set before the kernel starts, would allow it"
NOBODY = "nobody can answer here (the front end takes no input)"
FOR_A_PERSON = f"this is a question for a person, and {NOBODY}"


def decide(question: Question, policy: Policy, human: bool) -> Answer | None:
    """The answer that needs no person, or None when a person has to be asked.

    Args:
        policy: what the user set.
        human: whether anybody is there to answer (``allow_stdin`` of the request).
    """
    if isinstance(question, Permission):
        return _decide_permission(question, policy, human)
    return None if human else Answer(None, by="nobody", why=FOR_A_PERSON, declined=True)


def _decide_permission(question: Permission, policy: Policy, human: bool) -> Answer | None:
    if question.is_choice:
        return None if human else Answer(None, by="nobody", why=FOR_A_PERSON)
    # Allowed only once: a machine must not make a choice for good.
    once = question.offered("allow_once")
    if policy == "allow" and once is not None:
        return Answer(once, by="policy", why="AGY_PERMISSIONS is allow")
    if policy == "deny":
        return _refusal(question, "policy", "AGY_PERMISSIONS is deny")
    return None if human else _refusal(question, "nobody", f"{NOBODY}; {HOW_TO_ALLOW}")


def _refusal(question: Permission, by: str, why: str) -> Answer:
    return Answer(question.offered("reject_once", "reject_always"), by=by, why=why)
