"""Which session belongs to which notebook, engine, agent and folder, across kernels.

A file of JSON that all kernels of a person share. What cannot be read is never overwritten: a
damaged file is set aside, one of a newer version is left alone. Without the store everything
works, but for what has to outlive the kernel; so every trouble is a sentence, told once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..files import Damaged, locked, read_object, set_aside, write_object

VERSION = 1
KEPT = 500
KEPT_CELLS = 2_000
KEPT_BUILDS = 50


@dataclass(frozen=True, slots=True)
class Home:
    """Where a conversation lives: two that differ in anything never meet.

    Args:
        engine: which engine (``acp``); their sessions mean nothing to each other.
        agent: the agent's name or command line.
        folder: absolute path of the folder that it works in.
        notebook: absolute path of the notebook; empty where it is not known.
    """

    engine: str
    agent: str
    folder: str
    notebook: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """What a session was told: whether it had the instructions, and cell id to fingerprint."""

    instructions: bool = False
    cells: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Saved:
    """A session, as it is remembered.

    Args:
        home: where it belongs.
        session_id: the agent's id.
        title: what the agent calls it; may be empty.
        told: what of the notebook it has been told.
        wishes: what the user wanted to be chosen in it: id of the choice by what it is of.
        used: when it was used last, in seconds since 1970.
        kernel: names the kernel that used it last; empty where that is not known.
    """

    home: Home
    session_id: str
    title: str = ""
    told: Told = Told()
    wishes: Mapping[str, str] = field(default_factory=dict)
    used: float = 0.0
    kernel: str = ""


@dataclass(frozen=True, slots=True)
class _Kept:
    """All that is in the file: sessions, the last used one first, and rungs by agent build."""

    sessions: list[Saved]
    rungs: Mapping[str, str]


class Store:
    """The sessions of one person, and which rung of the ladder stops which build of an agent.

    Args:
        path: the file; made when there is something to remember.
        warn: called with a sentence when something cannot be kept; once for each trouble.
        now: the time, in seconds since 1970.
    """

    def __init__(
        self, path: Path, warn: Callable[[str], None], now: Callable[[], float] = time.time
    ) -> None:
        self._path, self._warn, self._now = path, warn, now
        self._warned: set[str] = set()

    def at(self, home: Home) -> list[Saved]:
        """The sessions of a home, the last used one first; none without a notebook to know it."""
        if not home.notebook:
            return []
        return [saved for saved in self._read().sessions if saved.home == home]

    def find(self, engine: str, agent: str, session_id: str) -> Saved | None:
        """The session with this id, which is the agent's own: another's may have the same."""
        wanted = (engine, agent, session_id)
        return next((s for s in self._read().sessions if _key(s) == wanted), None)

    def sessions(self, engine: str, agent: str, folder: str) -> list[Saved]:
        """The sessions of an agent in a folder, the last used one first."""
        wanted = (engine, agent, folder)
        return [
            saved
            for saved in self._read().sessions
            if (saved.home.engine, saved.home.agent, saved.home.folder) == wanted
        ]

    @property
    def rungs(self) -> Mapping[str, str]:
        """By agent build, the rung that was needed to stop it."""
        return self._read().rungs

    def remember(self, saved: Saved, rungs: Mapping[str, str] | None = None) -> None:
        """Remember a session as the last used one of its home, and what was learned of builds."""

        def change(kept: _Kept) -> _Kept:
            sessions = [replace(saved, used=self._now()), *_others(kept.sessions, saved)]
            return _Kept(sessions, {**kept.rungs, **(rungs or {})})

        self._change(change)

    def forget(self, engine: str, agent: str, session_id: str) -> None:
        """Forget a session of an agent's, wherever it was used."""

        def change(kept: _Kept) -> _Kept:
            gone = (engine, agent, session_id)
            return replace(kept, sessions=[s for s in kept.sessions if _key(s) != gone])

        self._change(change)

    # -- the file; the last used session stands first, whatever the clock says

    def _change(self, change: Callable[[_Kept], _Kept]) -> None:
        try:
            with locked(self._path):
                kept = self._read_or_set_aside()
                if kept is not None:
                    write_object(self._path, _dump(change(kept)))
        except OSError as error:
            self._tell(f"Sessions cannot be remembered in {self._path}: {error.strerror or error}.")

    def _read(self) -> _Kept:
        try:
            return self._parse(read_object(self._path)) or NOTHING
        except Damaged:
            self._change(lambda kept: kept)  # where nobody else is just writing it
        except OSError as error:
            self._tell(f"Remembered sessions cannot be read: {error.strerror or error}.")
        return NOTHING

    def _read_or_set_aside(self) -> _Kept | None:
        """The sessions; None where the file is not for us."""
        try:
            return self._parse(read_object(self._path))
        except Damaged as damage:
            aside = set_aside(self._path)
            self._tell(
                f"The file of remembered sessions was damaged: {damage}. It is now {aside}, and "
                "sessions are remembered anew."
            )
            return NOTHING

    def _parse(self, raw: dict[str, Any] | None) -> _Kept | None:
        if raw is None:
            return NOTHING
        if isinstance(version := raw.get("version"), int) and version > VERSION:
            self._tell(
                f"The remembered sessions in {self._path} were written by a newer agy-kernel. "
                "They are left alone, and none is remembered now."
            )
            return None
        items = raw.get("sessions")
        if version != VERSION or not isinstance(items, list):
            raise Damaged("it does not hold sessions")
        sessions = [saved for saved in map(_load, items) if saved is not None]
        return _Kept(sessions, _texts(raw.get("rungs")))

    def _tell(self, sentence: str) -> None:
        if sentence not in self._warned:
            self._warned.add(sentence)
            self._warn(sentence)


NOTHING = _Kept([], {})


def _key(saved: Saved) -> tuple[str, str, str]:
    return saved.home.engine, saved.home.agent, saved.session_id


def _others(sessions: list[Saved], saved: Saved) -> list[Saved]:
    key = (saved.home, saved.session_id)
    return [other for other in sessions if (other.home, other.session_id) != key]


def _dump(kept: _Kept) -> dict[str, Any]:
    sessions = [_dump_one(saved) for saved in kept.sessions[:KEPT]]
    rungs = dict(list(kept.rungs.items())[-KEPT_BUILDS:])
    return {"version": VERSION, "sessions": sessions, "rungs": rungs}


def _dump_one(saved: Saved) -> dict[str, Any]:
    home, told = saved.home, saved.told
    cells = dict(list(told.cells.items())[-KEPT_CELLS:])
    return {
        "engine": home.engine,
        "agent": home.agent,
        "folder": home.folder,
        "notebook": home.notebook,
        "session": saved.session_id,
        "title": saved.title,
        "told": {"instructions": told.instructions, "cells": cells},
        "wishes": dict(saved.wishes),
        "used": saved.used,
        "kernel": saved.kernel,
    }


def _load(raw: Any) -> Saved | None:
    """A session as it was written; None for what is none."""
    names = ("engine", "agent", "folder", "notebook", "session", "title")
    if not isinstance(raw, dict) or not all(isinstance(raw.get(name), str) for name in names):
        return None
    home = Home(*(raw[name] for name in names[:4]))
    used = raw.get("used")
    return Saved(
        home,
        raw["session"],
        raw["title"],
        _load_told(raw.get("told")),
        _texts(raw.get("wishes")),
        float(used) if isinstance(used, (int, float)) else 0.0,
        str(raw.get("kernel", "")),
    )


def _load_told(raw: Any) -> Told:
    told = raw if isinstance(raw, dict) else {}
    return Told(told.get("instructions") is True, _texts(told.get("cells")))


def _texts(raw: Any) -> dict[str, str]:
    items = raw.items() if isinstance(raw, dict) else ()
    return {key: value for key, value in items if isinstance(value, str)}
