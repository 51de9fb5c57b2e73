"""The notebooks that people are shown run on the simulator, without anybody there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from agy_kernel.display.footer import RECORD_TYPE
from tests.support.saved import check_plain, text

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"


def execute(name: str, kernel: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    for variable in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(variable, str(folder / variable.lower()))
    monkeypatch.setenv("AGY_AGENT", "simulator")
    notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name=kernel,
        timeout=60,
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=ERROR"],
    )
    client.execute()
    check_plain(notebook)
    return {cell.id: cell for cell in notebook.cells if cell.cell_type == "code"}


def record(cell: Any) -> dict[str, Any]:
    (found,) = (o.data[RECORD_TYPE] for o in cell.outputs if RECORD_TYPE in o.get("data", {}))
    return dict(found)


@pytest.mark.report(27, 74)
def test_tour_refuses_what_nobody_allows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = execute("tour.ipynb", "antigravity", tmp_path, monkeypatch)
    assert "This is the Antigravity simulator." in text(cells["hello"])
    (decision,) = record(cells["create"])["permissions"]
    assert (decision["by"], decision["kind"]) == ("nobody", "reject_once")
    assert "AGY_PERMISSIONS=allow" in text(cells["create"])
    assert not (tmp_path / "hello.py").exists()
    assert "random walk" in text(cells["answer"])
    assert text(cells["python"]) == "['a', 'g', 'y']"


def test_tour_with_permissions_writes_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGY_PERMISSIONS", "allow")
    cells = execute("tour.ipynb", "antigravity", tmp_path, monkeypatch)
    assert "def greet(name" in (tmp_path / "hello.py").read_text()
    assert record(cells["ask"])["permissions"][0]["by"] == "nobody"
    calls = record(cells["edit"])["tool_calls"]
    assert [call["superseded"] for call in calls[:2]] == [True, False]


def test_magics_send_what_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = execute("magics.ipynb", "python3", tmp_path, monkeypatch)
    shown = text(cells["show"])
    assert "default_rng(7)" in shown
    assert "this stays here" not in shown
    assert "1 image" in record(cells["picture"])["sent"]
    assert "1 cell" in record(cells["fix"])["sent"]
    assert "2 variables" in record(cells["reply"])["sent"]
    assert "['python'], 'end_turn'" in text(cells["object"])
    assert "I stand in for Antigravity" in text(cells["python"])
