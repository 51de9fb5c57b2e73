"""Who answers a question when no person does, and what is said about it."""

from __future__ import annotations

from typing import Literal

from ..events import Answer, Question

Policy = Literal["ask", "deny", "allow"]

HOW_TO_ALLOW = "AGY_PERMISSIONS=allow, set before the kernel starts, would allow it"


def decide(question: Question, policy: Policy, human: bool) -> Answer | None:
    """The answer that needs no person, or None when a person has to be asked.

    Args:
        policy: what the user set.
        human: whether anybody is there to answer (``allow_stdin`` of the request).
    """
    # Allowed only once: a machine must not make a choice for good.
    once = question.offered("allow_once")
    if question.is_permission and policy == "allow" and once is not None:
        return Answer(once, by="policy", why="AGY_PERMISSIONS is allow")
    if question.is_permission and policy == "deny":
        return _refusal(question, "policy", "AGY_PERMISSIONS is deny")
    if not human:
        return _nobody(question)
    return None


def _nobody(question: Question) -> Answer:
    nobody = "nobody can answer here (the front end takes no input)"
    if not question.is_permission:
        return Answer(None, by="nobody", why=f"this is a question for a person, and {nobody}")
    return _refusal(question, "nobody", f"{nobody}; {HOW_TO_ALLOW}")


def _refusal(question: Question, by: str, why: str) -> Answer:
    return Answer(question.offered("reject_once", "reject_always"), by=by, why=why)
