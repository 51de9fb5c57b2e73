"""Where a run is put: beside what is there of its build, and never in place of anything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.probes import report
from agy_kernel.probes.builds import builds_in, leave_out, new_folder, put_away
from agy_kernel.probes.verdicts import load


def run_of(out: Path, name: str, *suites: str, agent: str = "an-agent", word: str = "new") -> Path:
    """The folder of a run, with a notebook and a tape for each suite."""
    folder = new_folder(out)
    for suite in suites:
        for kind in ("ipynb", "jsonl"):
            (folder / f"{suite}.{kind}").write_text(word)
    told: dict[str, Any] = {suite: {"a": {"verdict": "pass", "words": word}} for suite in suites}
    build = {"name": name, "version": "1"}
    kept = {"format": 1, "agent": agent, "build": build, "suites": told, "about": {}}
    (folder / "verdicts.json").write_text(json.dumps(kept))
    (folder / "verdicts.json.lock").touch()
    return folder


def files(folder: Path) -> dict[str, str]:
    return {p.name: p.read_text() for p in folder.iterdir() if p.name != "verdicts.json"}


def test_a_run_has_the_name_of_its_build_and_no_lock(tmp_path: Path) -> None:
    place = put_away(run_of(tmp_path, "an agent/x", "cancel"), tmp_path, None)
    assert place == tmp_path / "an-agent-x-1"
    assert set(files(place)) == {"cancel.ipynb", "cancel.jsonl"}
    assert list(tmp_path.iterdir()) == [place]


def test_suites_that_were_not_asked_again_stay(tmp_path: Path) -> None:
    put_away(run_of(tmp_path, "x", "cancel", "tools", word="old"), tmp_path, None)
    place = put_away(run_of(tmp_path, "x", "cancel", "mcp"), tmp_path, None)
    assert place is not None
    assert files(place) == {
        **{f"cancel.{kind}": "new" for kind in ("ipynb", "jsonl")},
        **{f"mcp.{kind}": "new" for kind in ("ipynb", "jsonl")},
        **{f"tools.{kind}": "old" for kind in ("ipynb", "jsonl")},
    }
    told = {suite: probes["a"]["words"] for suite, probes in load(place).suites.items()}
    assert told == {"cancel": "new", "tools": "old", "mcp": "new"}
    assert list(tmp_path.iterdir()) == [place]


def test_another_agent_of_the_same_name_and_version_has_a_folder_of_its_own(tmp_path: Path) -> None:
    first = put_away(run_of(tmp_path, "x", "cancel"), tmp_path, None)
    other = put_away(run_of(tmp_path, "x", "cancel", agent="x --usage"), tmp_path, None)
    again = put_away(run_of(tmp_path, "x", "tools", agent="x --usage"), tmp_path, None)
    assert (first, other, again) == (tmp_path / "x-1", tmp_path / "x-1-2", tmp_path / "x-1-2")
    assert builds_in(tmp_path) == [first, other]


def test_what_was_replayed_stays_as_it_was(tmp_path: Path) -> None:
    source = put_away(run_of(tmp_path, "x", "cancel", word="recorded"), tmp_path, None)
    assert source is not None
    place = put_away(run_of(tmp_path, "x", "cancel", word="replayed"), tmp_path, source)
    assert place == tmp_path / "x-1-2"
    assert set(files(source).values()) == {"recorded"}


@pytest.mark.parametrize("name", ["***", "..", "/", ".", "precious", "-", "report.html"])
def test_no_name_of_an_agent_leads_to_another_folder(tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    (out / "precious-1").mkdir(parents=True)
    thesis = out / "precious-1" / "thesis.txt"
    thesis.write_text("years of work")
    run = run_of(out, name, "cancel")
    place = put_away(run, out, None)
    assert place is not None
    assert place.parent == out
    assert thesis.read_text() == "years of work"
    assert set(files(place)) == {"cancel.ipynb", "cancel.jsonl"}
    assert not run.exists()


def test_a_run_that_found_nothing_leaves_nothing(tmp_path: Path) -> None:
    run = new_folder(tmp_path)
    assert put_away(run, tmp_path, None) is None
    assert not list(tmp_path.iterdir())


def test_a_suite_that_was_stopped_is_left_out(tmp_path: Path) -> None:
    run = run_of(tmp_path, "x", "cancel", "tools")
    leave_out(run, "tools")
    place = put_away(run, tmp_path, None)
    assert place is not None
    assert set(files(place)) == {"cancel.ipynb", "cancel.jsonl"}
    assert list(load(place).suites) == ["cancel"]
    only = run_of(tmp_path, "x", "tools")
    leave_out(only, "tools")
    assert put_away(only, tmp_path, None) is None


def test_the_report_has_what_can_be_read_and_names_what_cannot(tmp_path: Path) -> None:
    put_away(run_of(tmp_path, "x", "cancel"), tmp_path, None)
    run_of(tmp_path, "hidden", "cancel")  # of a run that was killed
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "verdicts.json").write_text('{"format": 0}')
    page = report.write(tmp_path).read_text(encoding="utf-8")
    assert "x 1" in page
    assert "holds no verdicts that this agy-kernel reads" in page
    assert "hidden" not in page
    assert (tmp_path / "report.html").stat().st_mode & 0o777 == 0o600
