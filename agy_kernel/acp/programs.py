"""What keeps a file from being started as a program, in words instead of an error number.

The system says "No such file or directory" of a script whose interpreter is missing, and "Exec
format error" of a text and of a program for another processor.
"""

from __future__ import annotations

import os
import platform
import shutil
import struct
from pathlib import Path
from typing import Literal

ELF, SCRIPT = b"\x7fELF", b"#!"
MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
OTHER_SYSTEMS = {
    b"MZ": "Windows",
    b"\xcf\xfa\xed\xfe": "macOS",
    b"\xca\xfe\xba\xbe": "macOS",
}
ALIASES = {"amd64": "x86_64", "arm64": "aarch64", "i686": "i386", "armv7l": "arm"}
HEAD_BYTES = 4096
LOADER = 3  # PT_INTERP, of the program headers of an ELF file


def fault(program: str, system: str = "", machine: str = "") -> str:
    """What is wrong with a program; empty where nothing is to be seen.

    Args:
        program: its path, or a name that is looked for on PATH.
        system: as ``platform.system`` has it; empty for this one's.
        machine: as ``platform.machine`` has it; empty for this one's.
    """
    path = Path(shutil.which(program) or program)
    if not path.exists():
        if path.is_symlink():
            return f"is a broken link: there is no {path.readlink()}"
        return "does not exist"
    if path.is_dir():
        return "is a folder, and no program"
    if not os.access(path, os.X_OK):
        return _not_executable(path)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return ""  # one that may be started, but not be read
    return _wrong_content(head, system or platform.system(), machine or platform.machine())


def _not_executable(path: Path) -> str:
    no_exec = getattr(os, "ST_NOEXEC", 0)
    if no_exec and os.statvfs(path).f_flag & no_exec:
        return "is on a file system from which no programs may be started (mounted noexec)"
    return f"is not executable (chmod +x {path} makes it so)"


def _wrong_content(head: bytes, system: str, machine: str) -> str:
    if head.startswith(SCRIPT):
        return _without_interpreter(head)
    if head.startswith(ELF):
        if system != "Linux":
            return f"is a program for Linux, and this is {system}"
        return _of_another_machine(head, machine) or _without_loader(head)
    for magic, other in OTHER_SYSTEMS.items():
        if head.startswith(magic):
            own = {"Darwin": "macOS"}.get(system, system)
            return "" if own == other else f"is a program for {other}, and this is {own}"
    if not head:
        return "is empty"
    return "" if b"\0" in head else "is a text, and no program (its first line is no #! line)"


def _without_interpreter(head: bytes) -> str:
    words = head[len(SCRIPT) :].partition(b"\n")[0].decode("utf-8", "replace").split()
    if not words:
        return "begins with #!, and names no program behind it"
    if not Path(words[0]).exists():
        return f"is a script for {words[0]}, which does not exist"
    is_env = Path(words[0]).name == "env" and len(words) > 1 and words[1][0] != "-"
    if is_env and shutil.which(words[1]) is None:
        return f"is a script for {words[1]}, which is not on PATH"
    return ""


def _of_another_machine(head: bytes, machine: str) -> str:
    built_for = MACHINES.get(int.from_bytes(head[18:20], _order(head)), "")
    here = ALIASES.get(machine.lower(), machine.lower())
    runs = {here, "i386"} if here == "x86_64" else {here, "arm"} if here == "aarch64" else {here}
    if not built_for or built_for in runs:
        return ""
    return f"is a program for {built_for}, and this machine is {machine}"


def _without_loader(head: bytes) -> str:
    loader = _loader(head)
    if loader and not Path(loader).exists():
        return (
            f"needs the loader {loader}, which this system does not have: "
            "it is a program for another kind of Linux (glibc, musl, NixOS)"
        )
    return ""


def _loader(head: bytes) -> str:
    """The dynamic loader that a 64-bit ELF file names; empty where it names none."""
    if head[4] != 2:
        return ""
    end = "<" if _order(head) == "little" else ">"
    try:
        (start,) = struct.unpack_from(f"{end}Q", head, 32)
        size, count = struct.unpack_from(f"{end}HH", head, 54)
        for at in range(start, start + size * count, size):
            if struct.unpack_from(f"{end}I", head, at)[0] == LOADER:
                offset, length = (struct.unpack_from(f"{end}Q", head, at + n)[0] for n in (8, 32))
                return head[offset : offset + length].rstrip(b"\0").decode("utf-8", "replace")
    except (struct.error, ValueError):
        pass
    return ""


def _order(head: bytes) -> Literal["little", "big"]:
    return "big" if head[5:6] == b"\2" else "little"
