"""Permission rules: which of them decides about a call."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.conversation.toolcalls import ToolCall
from agy_kernel.events import Diff, Location
from agy_kernel.policy import facts_of
from agy_kernel.rules import Facts, Rule, find, same_again

RUN = Facts("execute", command="git status")
EDIT = Facts("edit", paths=("/w/src/a.py",))
MCP = Facts("other", tool="query", server="db")


@pytest.mark.parametrize(
    ("rule", "facts", "fits"),
    [
        (Rule("allow", kind="edit"), EDIT, True),
        (Rule("allow", kind="edit"), RUN, False),
        (Rule("allow", command="git status"), RUN, True),
        (Rule("allow", command="git"), RUN, False),
        (Rule("allow", command="git *"), RUN, False),
        (Rule("allow", command="git status"), Facts(command="git status; rm -rf /"), False),
        (Rule("allow", command="git status"), Facts(command="git status "), False),
        (Rule("allow", server="db"), MCP, True),
        (Rule("allow", server="db", tool="query"), MCP, True),
        (Rule("allow", server="db", tool="drop"), MCP, False),
        (Rule("allow", tool="query"), RUN, False),
        (Rule("allow", path="/w/src"), EDIT, True),
        (Rule("allow", path="/w/src/a.py"), EDIT, True),
        (Rule("allow", path="/w/sr"), EDIT, False),
        (Rule("allow", path="/w/src"), RUN, False),
        (Rule("allow", kind="edit", path="/w"), Facts("edit", paths=("/w/../etc/passwd",)), False),
        (Rule("allow", path="/w"), Facts("edit", paths=("/w/a\0b",)), False),
        (Rule("allow"), EDIT, False),
        (Rule("deny"), EDIT, False),
    ],
)
def test_all_that_a_rule_names_must_fit(rule: Rule, facts: Facts, fits: bool) -> None:
    assert rule.fits(facts) is fits


def test_a_path_allows_only_what_lies_in_it_altogether() -> None:
    both = Facts("edit", paths=("/w/a", "/etc/b"))
    assert not Rule("allow", path="/w").fits(both)
    assert Rule("deny", path="/w").fits(both)
    assert Rule("ask", path="/w").fits(both)


def test_links_are_followed_on_both_sides(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    (tmp_path / "alias").symlink_to(inside)
    escaping = Facts("edit", paths=(str(inside / "link" / "new.py"),))
    assert not Rule("allow", path=str(inside)).fits(escaping)
    assert Rule("deny", path=str(outside)).fits(escaping)
    ordinary = Facts("edit", paths=(str(inside / "a.py"),))
    assert Rule("allow", path=str(tmp_path / "alias")).fits(ordinary)


def test_home_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    assert Rule("allow", path="~/w").fits(Facts(paths=("/home/someone/w/a",)))


RULES = [
    Rule("allow", kind="edit"),
    Rule("ask", path="/w/src"),
    Rule("deny", path="/w/src/a.py"),
]


@pytest.mark.parametrize("rules", list(itertools.permutations(RULES)))
def test_deny_comes_before_ask_before_allow(rules: tuple[Rule, ...]) -> None:
    deny, ask, allow = (next(r for r in rules if r.do == do) for do in ("deny", "ask", "allow"))
    assert find(rules, EDIT) == deny
    assert find(rules, Facts("edit", paths=("/w/src/b.py",))) == ask
    assert find(rules, Facts("edit", paths=("/w/c.py",))) == allow
    assert find(rules, RUN) is None


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        (RUN, Rule("allow", command="git status")),
        (EDIT, Rule("allow", kind="edit", path="/w/src/a.py")),
        (MCP, Rule("allow", tool="query", server="db")),
        (Facts("fetch"), None),
        (Facts("edit", paths=("/a", "/b")), None),
        (Facts(tool="query"), None),
    ],
)
def test_the_same_again_is_as_narrow_as_can_be(facts: Facts, rule: Rule | None) -> None:
    assert same_again("allow", facts) == rule
    assert rule is None or rule.fits(facts)


@pytest.mark.parametrize(
    ("command", "fits"),
    [
        ("git status", True),
        (["git", "status"], True),
        (["/bin/bash", "-lc", "git status"], True),
        ("bash -c 'git status'", True),
        (["ssh", "-c", "git status"], False),
        (["/tmp/evil.sh", "-c", "git status"], False),
        (["./sh", "-c", "git status"], False),
        ("ssh -c 'git status'", False),
        (["git status"], False),
    ],
)
def test_a_command_is_that_of_a_shell_and_of_no_other_program(command: Any, fits: bool) -> None:
    call = ToolCall("c", kind="execute", raw_input={"command": command})
    assert Rule("allow", command="git status").fits(facts_of(call, "/w")) is fits


def test_words_that_a_program_takes_as_they_are_allow_no_shell_to_expand_them() -> None:
    told = ToolCall("c", kind="execute", raw_input={"command": ["echo", "$(reboot)"]})
    rule = same_again("allow", facts_of(told, "/w"))
    assert rule == Rule("allow", command="echo '$(reboot)'")
    assert not rule.fits(Facts("execute", command="echo $(reboot)"))


@pytest.mark.parametrize(
    "call",
    [
        ToolCall("c", kind="edit", raw_input={"file_path": "/home/x/.bashrc"}),
        ToolCall("c", kind="edit", raw_input={"path": "a.py", "TargetFile": "/home/x/.bashrc"}),
        ToolCall("c", kind="edit", raw_input={"from": "/home/x/.bashrc", "to": "a.py"}),
        ToolCall("c", kind="edit", changes=(Diff("a.py", "", "", moved_from="/home/x/.bashrc"),)),
    ],
)
def test_a_file_counts_wherever_a_call_names_it(call: ToolCall) -> None:
    facts = facts_of(replace(call, locations=(Location("/w/a.py"),)), "/w")
    assert not Rule("allow", kind="edit", path="/w").fits(facts)
    assert Rule("deny", path="/home/x").fits(facts)


def test_who_a_letter_goes_to_is_no_file() -> None:
    letter = ToolCall("c", kind="other", raw_input={"from": "alice", "to": "bob"})
    assert facts_of(letter, "/w").paths == ()
    moves = ToolCall("c", kind="move", raw_input={"from": "a", "to": "/home/b"})
    assert facts_of(moves, "/w").paths == ("/w/a", "/home/b")


def test_a_file_that_is_named_twice_is_one_file() -> None:
    call = ToolCall("c", kind="edit", raw_input={"path": "a.py"}, locations=(Location("/w/a.py"),))
    assert facts_of(call, "/w").paths == ("/w/a.py",)


def test_a_rule_can_be_read() -> None:
    assert str(Rule("allow", kind="edit", path="/w")) == "allow (kind: edit, path: /w)"
