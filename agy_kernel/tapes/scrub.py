"""A tape cleaned once more, before it is sent to anybody."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from ..acp.privacy import Privacy
from ..acp.tape import private_file
from .reading import Entry, Header, TapeError, read


def scrub(source: Path, target: Path, on_cut: Callable[[str], None]) -> int:
    """Write a tape without what is private; returns how many lines were changed.

    Args:
        source: the tape.
        target: the new file; readable by its owner only.
        on_cut: told that the last line is cut.

    Raises:
        TapeError: the tape cannot be used, or both are the same file.
        SettingsError: the new file cannot be written.
    """
    if target.exists() and target.samefile(source):
        raise TapeError("a tape cannot be cleaned into itself: name another file")
    privacy = Privacy.of_this_machine()
    lines, changed = read(source, on_cut), 0
    first = next(lines)  # before anything is written: it may be no tape at all
    with private_file(target, "wb") as file:
        for line in chain([first], lines):
            if isinstance(line, Header) and not line.line:
                continue
            before = _object(line)
            after = _clean(privacy, before)
            changed += before != after
            file.write(json.dumps(after, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    return changed


def _object(line: Header | Entry) -> dict[str, Any]:
    if isinstance(line, Header):
        return line.about
    return {"t": line.t, "dir": line.direction, "msg": line.message}


def _clean(privacy: Privacy, line: dict[str, Any]) -> dict[str, Any]:
    if "msg" in line:
        is_text = isinstance(line["msg"], str)
        clean = privacy.text if is_text else privacy.frame
        return {**line, "msg": clean(line["msg"])}
    cleaned: dict[str, Any] = privacy.frame(line)
    agent = cleaned.get("agent")
    if isinstance(agent, dict) and isinstance(agent.get("command"), list):
        cleaned["agent"] = agent | {"command": privacy.command([*map(str, agent["command"])])}
    return cleaned
