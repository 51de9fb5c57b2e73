"""The SHA-256 that was recorded beside an agent's files, against the files.

A record is what ``sha256sum`` writes: ``SHA256SUMS`` for any files of its folder, or
``NAME.sha256`` for one, which may hold the sum alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from ..agents.catalogue import HARNESS, SERVER
from .checks import Check

SUMS = "SHA256SUMS"
FILES = f"{SERVER} {HARNESS}"
LINE = re.compile(r"([0-9a-fA-F]{64})(?:[ \t]+\*?(.+))?")


def checksums(program: Path, is_expected: bool) -> list[Check]:
    """Check the files in the folder of a program that have a record.

    Args:
        program: its path; where it is a link, the folder of the real file counts.
        is_expected: whether to remark that there is no record.
    """
    folder = program.resolve().parent
    recorded = dict(_records(folder))
    checks = [_compared(folder / name, told) for name, told in recorded.items()]
    if not checks and is_expected:
        todo = f"After installing: cd {folder} && sha256sum {FILES} > {SUMS}"
        said = f"there is no {SUMS} in {folder}, so a damaged or changed file is not noticed"
        checks.append(Check("sha-256", "info", said, todo))
    return checks


def _records(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and sum of each recorded file; an archive that was not kept is none of ours."""
    for path in sorted({folder / SUMS, *folder.glob("*.sha256")}):
        for line in _lines(path):
            if found := LINE.fullmatch(line.strip()):
                name = Path(found[2] or path.stem).name
                if path.name == SUMS or (folder / name).exists():
                    yield name, found[1].lower()


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []


def _compared(file: Path, told: str) -> Check:
    name = f"sha-256 of {file.name}"
    todo = "Install the agent anew, from the archive of its publisher."
    try:
        with file.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
    except FileNotFoundError:
        return Check(name, "fail", f"{file} is missing, and was recorded as {told}", todo)
    except OSError as error:
        return Check(name, "warn", f"{file} cannot be read: {error.strerror}")
    if found == told:
        return Check(name, "ok", f"as recorded, {found}")
    return Check(name, "fail", f"recorded as {told}, but it is {found}", todo)
