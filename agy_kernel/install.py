"""``agy-kernel install`` and ``uninstall``: our kernelspec in the Jupyter of another environment.

``pip install`` brings a spec for the Jupyter of its own environment. Another Jupyter needs one that
names this environment's Python by its path.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_core.paths import jupyter_data_dir

from .errors import AgyError
from .kernelspecs import NAME, SOURCE, installed, read, stale

ARGV = [sys.executable, "-m", "agy_kernel", "-f", "{connection_file}"]


def install(prefix: str | None) -> list[str]:
    """Put our kernelspec into an environment; returns what to say of it.

    Args:
        prefix: the environment's folder; None for the user's own folder, which every Jupyter of
            the user reads.

    Raises:
        AgyError: it cannot be written.
    """
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / NAME
        shutil.copytree(SOURCE, source)
        spec = json.loads((source / "kernel.json").read_text("utf-8"))
        (source / "kernel.json").write_text(json.dumps({**spec, "argv": ARGV}, indent=1), "utf-8")
        try:
            KernelSpecManager().install_kernel_spec(
                str(source), NAME, user=prefix is None, prefix=prefix
            )
        except OSError as error:
            raise AgyError(
                f"{place(prefix)} cannot be written: {error.strerror or error}."
            ) from None
    return [f"Installed {place(prefix)}, which runs {sys.executable}.", *_shadows(place(prefix))]


def uninstall(prefix: str | None) -> list[str]:
    """Take our kernelspec out of an environment again; returns what to say of it.

    Args:
        prefix: as for ``install``.

    Raises:
        AgyError: there is none, it is not ours, or it cannot be removed.
    """
    folder = place(prefix)
    if not (folder / "kernel.json").exists():
        raise AgyError(f"there is no {folder}.")
    spec = read(folder)
    if not spec.is_ours:
        raise AgyError(f"{folder} does not start agy-kernel, and is left alone.")
    if spec.argv[0] == "python":
        raise AgyError(f"{folder} came with the package: `pip uninstall agy-kernel` removes it.")
    try:
        folder.unlink() if folder.is_symlink() else shutil.rmtree(folder)
    except OSError as error:
        raise AgyError(f"{folder} cannot be removed: {error.strerror or error}.") from None
    return [f"Removed {folder}."]


def place(prefix: str | None) -> Path:
    """Where our kernelspec is in an environment; None for the user's own folder."""
    data = Path(jupyter_data_dir()) if prefix is None else Path(prefix) / "share" / "jupyter"
    return data / "kernels" / NAME


def _shadows(wanted: Path) -> list[str]:
    """A warning where another spec, which cannot start our kernel, comes before this one."""
    for spec in installed():
        if spec.folder == wanted:
            break
        if why := stale(spec):
            hides = f"{spec.folder} comes before it on Jupyter's path, and {why}"
            return [f"Warning: {hides}. Remove it: jupyter kernelspec remove {NAME}"]
    return []
