"""Which session belongs to which notebook, for all kernels of a person."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agy_kernel.conversation import store as module
from agy_kernel.conversation.store import Home, Saved, Store, Told

HOME = Home("acp", "antigravity", "/folder", "/folder/a.ipynb")
SAVED = Saved(HOME, "s1", "A title", Told(True, {"c1": "f1"}))


class Kept:
    """A store in a folder, and what it warned of."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "deep" / "sessions.json"
        self.warnings: list[str] = []
        self.clock = 1_000.0

    def open(self) -> Store:
        """The store, as another kernel opens it."""
        return Store(self.path, self.warnings.append, lambda: self.clock)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def test_a_session_is_found_by_another_kernel(kept: Kept) -> None:
    kept.open().remember(SAVED)
    assert kept.open().at(HOME) == [replace(SAVED, used=1_000.0)]
    assert kept.open().find("acp", "antigravity", "s1") == replace(SAVED, used=1_000.0)
    assert not kept.warnings
    assert kept.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "other",
    [
        replace(HOME, engine="stream-json"),
        replace(HOME, agent="gemini"),
        replace(HOME, folder="/other"),
        replace(HOME, notebook="/folder/b.ipynb"),
    ],
)
def test_conversations_of_different_places_never_meet(kept: Kept, other: Home) -> None:
    store = kept.open()
    store.remember(SAVED)
    store.remember(Saved(other, "s1"))  # ids are the agent's own, and may be the same
    assert [saved.title for saved in store.at(HOME)] == ["A title"]
    assert [saved.title for saved in store.at(other)] == [""]


def test_without_a_notebook_nothing_is_resumed_unasked(kept: Kept) -> None:
    store = kept.open()
    nowhere = replace(HOME, notebook="")
    store.remember(Saved(nowhere, "s9"))
    assert store.at(nowhere) == []
    assert [s.session_id for s in store.sessions("acp", "antigravity", "/folder")] == ["s9"]


def test_the_last_used_comes_first_even_when_the_clock_goes_back(kept: Kept) -> None:
    store = kept.open()
    for clock, session in ((2_000.0, "a"), (1_000.0, "b"), (1_500.0, "a")):
        kept.clock = clock
        store.remember(replace(SAVED, session_id=session))
    kept.clock = 0.0
    store.remember(replace(SAVED, session_id="c"))
    found = store.sessions("acp", "antigravity", "/folder")
    assert [s.session_id for s in found] == ["c", "a", "b"]
    assert store.at(HOME)[0].session_id == "c"


def test_what_stops_which_build_is_known_to_all_kernels(kept: Kept) -> None:
    kept.open().remember(SAVED, {"agent 1": "SIGTERM"})
    kept.open().remember(SAVED, {"agent 2": "session/cancel"})
    kept.open().forget("acp", "antigravity", "s1")
    assert kept.open().rungs == {"agent 1": "SIGTERM", "agent 2": "session/cancel"}


def test_what_is_forgotten_is_gone(kept: Kept) -> None:
    store = kept.open()
    store.remember(SAVED)
    store.forget("acp", "antigravity", "s1")
    assert store.at(HOME) == []


@pytest.mark.parametrize("other", [replace(HOME, engine="x"), replace(HOME, agent="gemini")])
def test_what_is_forgotten_of_one_agent_is_kept_of_another(kept: Kept, other: Home) -> None:
    store = kept.open()
    store.remember(SAVED)
    store.remember(Saved(other, "s1"))
    store.forget(HOME.engine, HOME.agent, "s1")
    assert store.at(HOME) == []
    assert [saved.session_id for saved in store.at(other)] == ["s1"]
    assert store.find(HOME.engine, HOME.agent, "s1") is None


def test_it_does_not_grow_for_ever(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 3)
    monkeypatch.setattr(module, "KEPT_CELLS", 2)
    store = kept.open()
    for n in range(5):
        cells = {f"c{i}": "f" for i in range(4)}
        store.remember(Saved(HOME, f"s{n}", told=Told(cells=cells)))
    found = store.sessions("acp", "antigravity", "/folder")
    assert [s.session_id for s in found] == ["s4", "s3", "s2"]
    assert list(found[0].told.cells) == ["c2", "c3"]


@pytest.mark.parametrize(
    "damage", ["", "not JSON", "[]", '{"version": 1}', '{"version": 1, "version": 1}', "\xff"]
)
def test_a_damaged_file_is_set_aside_and_said_once(kept: Kept, damage: str) -> None:
    kept.path.parent.mkdir()
    kept.path.write_text(damage, encoding="latin-1")
    store = kept.open()
    assert store.at(HOME) == []
    store.remember(SAVED)
    assert store.find("acp", "antigravity", "s1") is not None
    (aside,) = kept.path.parent.glob("*.damaged-*")
    assert aside.read_text(encoding="latin-1") == damage
    (warning,) = kept.warnings
    assert str(aside) in warning


def test_bad_members_are_passed_over(kept: Kept) -> None:
    kept.open().remember(SAVED)
    raw = json.loads(kept.path.read_text())
    raw["sessions"] += [5, {}, {**raw["sessions"][0], "session": None}]
    raw["sessions"][0]["told"] = "nothing"
    kept.path.write_text(json.dumps(raw))
    assert [s.told for s in kept.open().sessions("acp", "antigravity", "/folder")] == [Told()]


def test_a_file_of_a_newer_version_is_left_alone(kept: Kept) -> None:
    kept.path.parent.mkdir()
    kept.path.write_text('{"version": 99, "anything": []}')
    store = kept.open()
    store.remember(SAVED)
    assert store.at(HOME) == []
    assert json.loads(kept.path.read_text()) == {"version": 99, "anything": []}
    (warning,) = kept.warnings
    assert "newer agy-kernel" in warning


def test_a_folder_in_its_place_is_said_and_loses_nothing_else(kept: Kept) -> None:
    kept.path.mkdir(parents=True)
    store = kept.open()
    store.remember(SAVED)
    assert store.at(HOME) == []
    assert len(kept.warnings) == 2
    assert all("directory" in warning for warning in kept.warnings)


def test_a_full_disk_leaves_what_was_there(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.open().remember(SAVED)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    store = kept.open()
    store.remember(replace(SAVED, session_id="s2"))
    assert store.find("acp", "antigravity", "s1") is not None
    assert kept.warnings == [
        f"Sessions cannot be remembered in {kept.path}: No space left on device."
    ]
    assert {path.name for path in kept.path.parent.iterdir()} == {
        "sessions.json",
        "sessions.json.lock",
    }


WRITER = """
import sys
from pathlib import Path
from agy_kernel.conversation.store import Home, Saved, Store
store = Store(Path(sys.argv[1]), lambda warning: sys.exit(warning))
for n in range(20):
    store.remember(Saved(Home("acp", "a", "/w", sys.argv[2]), f"{sys.argv[2]}-{n}"))
"""


def test_kernels_that_write_at_once_lose_nothing(kept: Kept) -> None:
    names = ["x", "y", "z"]
    command = [sys.executable, "-c", WRITER, str(kept.path)]
    writers = [subprocess.Popen([*command, name]) for name in names]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    found = {saved.session_id for saved in kept.open().sessions("acp", "a", "/w")}
    assert found == {f"{name}-{n}" for name in names for n in range(20)}
