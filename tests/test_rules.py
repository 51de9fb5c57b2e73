"""Permission rules: which of them decides about a call."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

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


def test_a_rule_can_be_read() -> None:
    assert str(Rule("allow", kind="edit", path="/w")) == "allow (kind: edit, path: /w)"
