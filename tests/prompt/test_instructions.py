"""What is said once, at the beginning of a session."""

import os
from pathlib import Path

import pytest

from agy_kernel.prompt.instructions import instructions


def test_what_kind_of_notebook_it_is() -> None:
    prompts, python = instructions(True, ()), instructions(False, ())
    assert "each cell is one prompt" in prompts
    assert "You cannot run code in their kernel" in python
    for text in (prompts, python):
        assert text.startswith("<notebook-instructions>\n")
        assert text.endswith("\n</notebook-instructions>")
        assert "#older-cells" in text


def test_the_users_and_the_folders_files_in_order(tmp_path: Path) -> None:
    files = [tmp_path / "user" / "AGENTS.md", tmp_path / "AGENTS.md"]
    files[0].parent.mkdir()
    files[0].write_text("Use polars.\n")
    files[1].write_text("\ufeffUse tabs. \x80", "utf-8")
    text = instructions(True, files)
    first = f"From AGENTS.md in {tmp_path / 'user'}:\nUse polars.\n\n"
    assert first + f"From AGENTS.md in {tmp_path}:\nUse tabs." in text
    assert instructions(True, files) == text


@pytest.mark.parametrize("kind", ["missing", "folder", "fifo", "empty", "binary", "huge"])
def test_what_cannot_be_read_is_passed_over(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    match kind:
        case "folder":
            file.mkdir()
        case "fifo":
            os.mkfifo(file)
        case "empty":
            file.write_text(" \n")
        case "binary":
            file.write_bytes(b"\0")
        case "huge":
            file.write_bytes(b"x" * 2_000_001)
    assert instructions(True, [file]) == instructions(True, ())
