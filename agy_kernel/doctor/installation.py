"""What is installed: the kernelspecs, the versions, and the settings."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from pathlib import Path

from .. import __version__, kernelspecs
from ..configuration import Configuration
from ..kernelspecs import Spec
from .checks import Check, Section

PACKAGES = ("ipykernel", "ipython", "jupyter_client", "ipywidgets")
FRONT_ENDS = ("jupyterlab", "notebook")
INSTALL = "agy-kernel install --user"


def kernelspec() -> Section:
    """Which kernelspec wins, the Python that it runs, and those that it hides."""
    specs = kernelspecs.installed()
    if not specs:
        todo = f"`{INSTALL}` lets every Jupyter of yours find it."
        missing = Check("wins", "fail", "Jupyter finds no kernel named antigravity.", todo)
        return Section("Kernelspec", (missing,))
    first, *others = specs
    return Section("Kernelspec", (_winner(first), *(_hidden(spec) for spec in others)))


def _winner(spec: Spec) -> Check:
    why, version = kernelspecs.examined(spec)
    if why:
        todo = f"Remove it (jupyter kernelspec remove {kernelspecs.NAME}), or run `{INSTALL}`."
        return Check("wins", "fail", f"{spec.folder}: {why}", todo)
    what = f"{spec.folder} runs {spec.python}"
    if spec.runs_this:
        return Check("wins", "ok", what)
    said = f"{what}, which is not this Python, and has agy-kernel {version}"
    todo = f"`{INSTALL}` lets it run this one."
    return Check("wins", "info" if version == __version__ else "warn", said, todo)


def _hidden(spec: Spec) -> Check:
    why = kernelspecs.stale(spec)
    said = f"{spec.folder}: {why}" if why else f"{spec.folder} runs {spec.python}"
    todo = f"Remove the folder {spec.folder}." if why else ""
    return Check("hidden by it", "warn" if why else "info", said, todo)


def versions() -> Section:
    """Of agy-kernel, of what it stands on, and of the machine."""
    found = {name: _version(name) for name in (*PACKAGES, *FRONT_ENDS)}
    checks = [Check("agy-kernel", "ok", f"{__version__} in {Path(__file__).parent.parent}")]
    checks.append(Check("python", "ok", f"{platform.python_version()}, {sys.executable}"))
    checks.append(Check("platform", "ok", platform.platform()))
    for name in PACKAGES:
        missing = Check(name, "fail", "not installed", "pip install --upgrade agy-kernel")
        checks.append(Check(name, "ok", found[name]) if found[name] else missing)
    checks += [Check(name, "info", found[name] or "not in this environment") for name in FRONT_ENDS]
    return Section("Versions", tuple(checks))


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def settings(configuration: Configuration) -> Section:
    """Those that were set, where each comes from, and what is wrong with them."""
    wrong = [Check("problem", "warn", said) for said in configuration.problems]
    told = [
        Check(name, "info", f"{value} ({source})")
        for name, value, source in configuration.rows()
        if source != "default"
    ]
    said = f"{configuration.file} {'is read' if configuration.file.exists() else 'does not exist'}"
    where = Check("file", "info", f"{said}; what is not listed has its default")
    return Section("Settings", (where, *wrong, *told))
