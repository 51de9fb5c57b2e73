"""Which questions are answered without a person, and how."""

from __future__ import annotations

import itertools
import threading

import pytest

from agy_kernel.conversation.permissions import HOW_TO_ALLOW, Permissions, Policy
from agy_kernel.conversation.toolcalls import ToolCall
from agy_kernel.events import ToolCallUpdate
from agy_kernel.questions import Answer, Form, Option, Permission, Question
from agy_kernel.rules import Facts, Rule

ALLOW, ALWAYS = Option("a", "Allow", "allow_once"), Option("aa", "Always", "allow_always")
DENY, NEVER = Option("r", "Deny", "reject_once"), Option("rr", "Never", "reject_always")


def ask(*options: Option, call_id: str = "call_1") -> Permission:
    return Permission(ToolCallUpdate(call_id, asked=True), options)


NOTHING_KNOWN = Facts()


def permissions(policy: Policy, *rules: Rule, facts: Facts = NOTHING_KNOWN) -> Permissions:
    return Permissions(
        lambda: (policy, f"AGY_PERMISSIONS is {policy}"), lambda: rules, lambda _: facts
    )


def decide(question: Question, policy: Policy, human: bool) -> Answer | None:
    return permissions(policy).decide(question, ToolCall("call_1"), human)


ORDINARY = (ALWAYS, ALLOW, NEVER, DENY)


@pytest.mark.parametrize(
    ("policy", "human", "options", "answer"),
    [
        ("ask", True, ORDINARY, None),
        ("allow", True, ORDINARY, Answer(ALLOW, "policy", "AGY_PERMISSIONS is allow")),
        ("allow", False, ORDINARY, Answer(ALLOW, "policy", "AGY_PERMISSIONS is allow")),
        ("deny", True, ORDINARY, Answer(DENY, "policy", "AGY_PERMISSIONS is deny")),
        ("deny", False, ORDINARY, Answer(DENY, "policy", "AGY_PERMISSIONS is deny")),
        ("deny", True, (ALLOW, NEVER), Answer(NEVER, "policy", "AGY_PERMISSIONS is deny")),
        ("deny", True, (), None),
    ],
)
def test_a_policy_answers_with_what_is_offered(
    policy: Policy, human: bool, options: tuple[Option, ...], answer: Answer | None
) -> None:
    assert decide(ask(*options), policy, human) == answer


def test_without_a_human_the_answer_is_no_and_says_how_to_allow() -> None:
    answer = decide(ask(*ORDINARY), "ask", human=False)
    assert answer is not None
    assert (answer.option, answer.by) == (DENY, "nobody")
    assert HOW_TO_ALLOW in answer.why
    assert not answer.allowed


def test_a_machine_allows_nothing_for_good() -> None:
    assert decide(ask(ALWAYS, DENY), "allow", human=True) is None
    answer = decide(ask(ALWAYS, DENY), "allow", human=False)
    assert answer is not None
    assert answer.option == DENY


QUESTIONS = [
    ask(ALLOW, DENY, call_id="interaction_7"),
    ask(Option("1", "Red", "allow_once"), Option("2", "Blue", "allow_once")),
    ask(Option("1", "Red", "allow_once"), Option("2", "Blue", "allow_once"), DENY),
    ask(Option("1", "Red"), Option("2", "Blue")),
]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("policy", ["ask", "deny", "allow"])
def test_a_question_for_a_person_is_never_answered_by_a_policy(
    question: Permission, policy: Policy
) -> None:
    assert question.is_choice
    assert decide(question, policy, human=True) is None
    answer = decide(question, policy, human=False)
    assert answer is not None
    assert answer.option is None


@pytest.mark.parametrize("order", list(itertools.permutations(ORDINARY, 3)))
def test_what_is_offered_decides_and_not_the_order(order: tuple[Option, ...]) -> None:
    for policy, human in itertools.product(("deny", "allow"), (True, False)):
        answer = decide(ask(*order), policy, human)  # type: ignore[arg-type]  # from a product
        if answer is not None:
            assert answer.option in (*order, None)
            assert answer.allowed is (policy == "allow" and ALLOW in order)


def test_a_question_is_answered_once_whoever_is_first() -> None:
    question = ask(ALLOW, DENY)
    barrier = threading.Barrier(8)
    results: list[bool] = []

    def answer(option: Option) -> None:
        barrier.wait()
        results.append(question.answer(Answer(option, "you")))

    threads = [threading.Thread(target=answer, args=([ALLOW, DENY][i % 2],)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False] * 7 + [True]
    assert not question.open


def test_a_form_is_declined_where_nobody_is_and_left_to_a_person_where_one_is() -> None:
    for policy in ("ask", "deny", "allow"):
        answer = decide(Form("Which?", ()), policy, human=False)
        assert answer is not None
        assert (answer.declined, answer.by) == (True, "nobody")
        assert decide(Form("Which?", ()), policy, human=True) is None


# -- rules

RUN = Facts("execute", command="git status")
READ_ALL, NO_GIT = Rule("allow", kind="read"), Rule("deny", command="git status")


@pytest.mark.parametrize(
    ("policy", "rules", "facts", "answer"),
    [
        ("ask", (READ_ALL,), Facts("read"), Answer(ALLOW, "policy", f"by the rule: {READ_ALL}")),
        ("ask", (READ_ALL,), RUN, None),
        ("allow", (NO_GIT,), RUN, Answer(DENY, "policy", f"by the rule: {NO_GIT}")),
        ("allow", (Rule("ask", kind="execute"),), RUN, None),
        ("deny", (Rule("ask", kind="execute"),), RUN, None),
    ],
)
@pytest.mark.report(33)
def test_a_rule_comes_before_the_policy_and_is_named(
    policy: Policy, rules: tuple[Rule, ...], facts: Facts, answer: Answer | None
) -> None:
    made = permissions(policy, *rules, facts=facts)
    assert made.decide(ask(*ORDINARY), ToolCall("call_1"), human=True) == answer


def test_a_rule_that_asks_finds_nobody_where_nobody_is() -> None:
    made = permissions("allow", Rule("ask", kind="execute"), facts=RUN)
    answer = made.decide(ask(*ORDINARY), ToolCall("call_1"), human=False)
    assert answer is not None
    assert (answer.option, answer.by) == (DENY, "nobody")
    assert answer.why.endswith("; by the rule: ask (kind: execute)")


def test_what_would_not_allow_it_is_not_said_to() -> None:
    policies: tuple[Policy, ...] = ("ask", "allow")
    for policy in policies:
        answer = decide(ask(ALWAYS, DENY), policy, human=False)
        assert answer is not None
        assert answer.why.startswith("the agent offers no way to allow it once")
        assert HOW_TO_ALLOW not in answer.why


def test_a_rule_answers_no_question_for_a_person() -> None:
    made = permissions("allow", Rule("allow", kind="execute"), facts=RUN)
    assert made.decide(ask(ALLOW, DENY, call_id="interaction_7"), ToolCall("c"), True) is None


@pytest.mark.parametrize(("option", "do"), [(ALLOW, "allow"), (DENY, "deny")])
@pytest.mark.report(33)
def test_the_same_is_not_asked_again_where_the_person_says_so(option: Option, do: str) -> None:
    made = permissions("ask", facts=RUN)
    question = ask(*ORDINARY)
    assert made.decide(question, ToolCall("call_1"), human=True) is None
    assert question.again == Rule("allow", command="git status")
    question.answer(Answer(option, "you", again=True))
    answer = made.decide(ask(*ORDINARY), ToolCall("call_2"), human=True)
    assert answer is not None
    assert answer.option == option
    assert answer.why == f"by the rule: {do} (command: git status)"


def test_every_answer_is_on_record() -> None:
    made = permissions("deny", facts=RUN)
    automatic, by_hand = ask(*ORDINARY), ask(ALLOW, DENY, call_id="interaction_7")
    answer = made.decide(automatic, ToolCall("call_1"), human=True)
    assert answer is not None
    automatic.answer(answer)
    made.decide(by_hand, ToolCall("interaction_7"), human=True)
    by_hand.answer(Answer(ALLOW, "you"))
    assert [(d.facts, d.answer.by) for d in made.audit] == [(RUN, "policy"), (RUN, "you")]
