"""Kernelspecs named ``antigravity``: which there are, which one wins, and which Python each runs.

Jupyter takes the first of its folders that has the name; the folder of the user comes before the
ones of an environment, so a spec that was left behind there hides every later one.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager

from . import __version__

NAME = "antigravity"
PACKED = Path(__file__).parent / "kernelspec"
SOURCE = PACKED if PACKED.is_dir() else Path(__file__).parent.parent / "kernelspec"
"""In the package where that is a wheel's, beside it in the project's own folder."""
ASK_VERSION = "import agy_kernel; print(agy_kernel.__version__)"
ASK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Spec:
    """An installed kernelspec.

    Args:
        folder: where it is.
        argv: the command that it starts; empty where it cannot be read.
    """

    folder: Path
    argv: tuple[str, ...]

    @property
    def is_ours(self) -> bool:
        """Whether it starts agy-kernel, of any installation."""
        return "agy_kernel" in self.argv

    @property
    def python(self) -> str:
        """The Python that it runs; "python" stands for the one that Jupyter itself runs in."""
        own = {"python", "python3", f"python3.{sys.version_info.minor}"}
        return sys.executable if self.argv[:1] and self.argv[0] in own else (*self.argv, "")[0]

    @property
    def runs_this(self) -> bool:
        """Whether it runs this Python, with this agy-kernel."""
        return self.is_ours and Path(self.python).absolute() == Path(sys.executable).absolute()


def installed() -> list[Spec]:
    """Every spec of our name on Jupyter's path; the first one wins."""
    folders = (Path(folder) / NAME for folder in KernelSpecManager().kernel_dirs)
    return [read(folder) for folder in folders if (folder / "kernel.json").exists()]


def read(folder: Path) -> Spec:
    """The spec in a folder."""
    try:
        argv = json.loads((folder / "kernel.json").read_text("utf-8"))["argv"]
        return Spec(folder, tuple(map(str, argv)))
    except (OSError, ValueError, KeyError, TypeError):
        return Spec(folder, ())


def stale(spec: Spec) -> str:
    """Why a spec cannot start our kernel; empty where it can."""
    return examined(spec)[0]


def examined(spec: Spec) -> tuple[str, str]:
    """Why a spec cannot start our kernel, else which version of agy-kernel it starts."""
    if not spec.argv:
        return "its kernel.json cannot be read", ""
    if not spec.is_ours:
        return "it starts something else", ""
    if spec.runs_this:
        return "", __version__
    if shutil.which(spec.python) is None:
        return f"its Python {spec.python} does not exist any more", ""
    if version := _version_in(spec):
        return "", version
    return f"its Python {spec.python} has no agy-kernel", ""


def _version_in(spec: Spec) -> str:
    try:
        asked = subprocess.run(
            [spec.python, "-c", ASK_VERSION],
            cwd=spec.folder,
            capture_output=True,
            text=True,
            timeout=ASK_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.strip()
