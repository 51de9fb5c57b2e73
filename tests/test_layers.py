"""Who imports whom: a layer knows only the layers below it (docs/architecture.md)."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import agy_kernel

ROOT = Path(agy_kernel.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

BASE = {
    "abilities",
    "errors",
    "events",
    "files",
    "forms",
    "mcp",
    "questions",
    "rules",
    "secrets",
    "text",
}
MAY_IMPORT = {
    "abilities": set[str](),
    "text": set[str](),
    "errors": {"text"},
    "forms": set[str](),
    "questions": {"events", "forms", "rules"},  # events for types only: one speaks of the other
    "events": {"questions"},
    "files": set[str](),
    "mcp": set[str](),
    "rules": set[str](),
    "secrets": set[str](),
    "settings": {"mcp", "rules"},
    "acp": BASE,
    "agents": {*BASE, "acp"},
    "conversation": BASE,
    "display": {*BASE, "conversation"},
    "prompt": {*BASE, "conversation"},
}
"""The layers, and what each may import besides itself; any other module is a front door."""


def layer(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Full name of every module that a file imports, wherever it does, and whether it is ours."""
    package = ("agy_kernel", *path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*start, *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" for alias in node.names] if node.level else [base]
        else:
            continue
        yield from ((name, name.split(".")[0] == "agy_kernel") for name in names)


def our_layers(path: Path) -> set[str]:
    """The layers that a file imports from."""
    parts = (name.split(".") for name, is_ours in imports(path) if is_ours)
    found = {part[1] for part in parts if len(part) > 1}
    return {name for name in found if (ROOT / name).is_dir() or (ROOT / f"{name}.py").exists()}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", [p for p in FILES if layer(p) in MAY_IMPORT], ids=name)
def test_a_layer_imports_only_from_those_below_it(path: Path) -> None:
    assert our_layers(path) <= MAY_IMPORT[layer(path)] | {layer(path)}


@pytest.mark.parametrize("path", [p for p in FILES if layer(p) in ("acp", *BASE)], ids=name)
def test_the_client_needs_the_standard_library_only(path: Path) -> None:
    others = {module.split(".")[0] for module, is_ours in imports(path) if not is_ours}
    assert others <= set(sys.stdlib_module_names)


def test_nothing_imports_a_front_door_but_front_doors() -> None:
    doors = {layer(p) for p in FILES} - set(MAY_IMPORT) - {"__init__"}
    assert {"host", "kernel", "magics", "commands", "completion", "cli", "doctor"} <= doors
    for path in FILES:
        if layer(path) in MAY_IMPORT:
            assert not our_layers(path) & doors


def test_the_reader_of_imports_reads_them() -> None:
    assert our_layers(ROOT / "host.py") >= {"conversation", "display", "settings"}
    assert "acp" in our_layers(ROOT / "agents" / "catalogue.py")


def test_the_package_itself_is_cheap_to_import() -> None:
    code = "import sys, agy_kernel; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"ipykernel", "IPython", "pydantic"} & set(done.stdout.split())


def test_a_kernel_loads_later_what_it_needs_later() -> None:
    code = "import sys, agy_kernel.kernel; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    later = {"markdown_it", "pydantic", "PIL", "ipywidgets", "nbformat"}
    assert not later & set(done.stdout.split())
