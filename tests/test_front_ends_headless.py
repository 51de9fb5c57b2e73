"""Notebooks that run without a person: ``jupyter execute``, papermill, ``nbconvert --execute``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agy_kernel.display.footer import RECORD_TYPE
from tests.support import saved
from tests.support.kernels import isolated, sim
from tests.support.starts import one_start_at_a_time

HOW_TO_ALLOW = "AGY_PERMISSIONS=allow, set before the kernel starts, would allow it"
REFUSAL = sim({"text": "half an answer"}, {"stop": "refusal"})
COMMANDS = {
    "nbclient": ["jupyter-execute", "in.ipynb", "--output=out.ipynb"],
    "papermill": ["papermill", "in.ipynb", "out.ipynb", "--no-progress-bar"],
    "nbconvert": [
        "jupyter-nbconvert",
        "--execute",
        "--to=notebook",
        "in.ipynb",
        "--output=out.ipynb",
    ],
}
RUNS = pytest.mark.parametrize("tool", COMMANDS)


class Folder:
    """A folder with a notebook ``in.ipynb``, in which a tool runs it to ``out.ipynb``."""

    def __init__(self, path: Path) -> None:
        self.path = path / "notebook"
        self.path.mkdir()
        self._env = isolated(path) | {"AGY_AGENT": "simulator"}

    def write(self, *cells: str, kernel: str = "antigravity") -> None:
        saved.write(self.path / "in.ipynb", cells, kernel)

    def run(self, *command: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a program of this environment, with more variables."""
        with one_start_at_a_time():
            return subprocess.run(
                [Path(sys.executable).parent / command[0], *command[1:]],
                cwd=self.path,
                env=self._env | env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@RUNS
def test_permission_is_refused_at_once_and_it_is_said_how_to_allow(
    folder: Folder, tool: str
) -> None:
    folder.write("Say hello", "Create headless.py that greets", "%%py\n6 * 7")
    done = folder.run(*COMMANDS[tool])
    assert done.returncode == 0, done.stderr
    hello, create, python = saved.read(folder.path / "out.ipynb")
    assert [cell.execution_count for cell in (hello, create, python)] == [1, 2, 3]
    assert "I stand in for Antigravity" in saved.text(hello)
    refused = saved.text(create)
    assert "edit · headless.py" in refused
    assert "“Deny” without asking: nobody can answer here" in refused
    assert HOW_TO_ALLOW in refused
    assert create.outputs[-1].data[RECORD_TYPE]["permissions"][0]["by"] == "nobody"
    assert saved.text(python) == "42"
    assert not (folder.path / "headless.py").exists()


@RUNS
def test_permission_is_given_where_the_environment_gives_it(folder: Folder, tool: str) -> None:
    folder.write(
        "%load_ext agy_kernel", "%agy Create headless.py that greets", "6 * 7", kernel="python3"
    )
    done = folder.run(*COMMANDS[tool], AGY_PERMISSIONS="allow")
    assert done.returncode == 0, done.stderr
    _, create, python = saved.read(folder.path / "out.ipynb")
    assert (create.execution_count, python.execution_count) == (2, 3)
    assert "“Allow”" in saved.text(create)
    assert (folder.path / "headless.py").exists()


@pytest.mark.parametrize("tool", ["nbclient", "nbconvert"])
def test_failed_turn_stops_the_run(folder: Folder, tool: str) -> None:
    folder.write("Say hello", REFUSAL, "Create never.py that greets")
    done = folder.run(*COMMANDS[tool], AGY_PERMISSIONS="allow")
    assert done.returncode != 0
    assert "TurnFailed: The agent refused to go on." in done.stderr
    assert not (folder.path / "never.py").exists()


def test_failed_turn_stops_papermill_and_is_in_the_notebook_that_it_leaves(folder: Folder) -> None:
    folder.write("%load_ext agy_kernel", f"%%agy\n{REFUSAL}", "6 * 7", kernel="python3")
    done = folder.run(*COMMANDS["papermill"])
    assert done.returncode != 0
    assert "TurnFailed: The agent refused to go on." in done.stderr
    _, failed, never = saved.read(folder.path / "out.ipynb")
    assert "half an answer" in saved.text(failed)
    assert failed.outputs[-1].ename == "TurnFailed"
    assert never.execution_count is None


def test_run_goes_on_where_errors_are_allowed(folder: Folder) -> None:
    folder.write(REFUSAL, "Say hello")
    done = folder.run(*COMMANDS["nbconvert"], "--allow-errors")
    assert done.returncode == 0, done.stderr
    refused, hello = saved.read(folder.path / "out.ipynb")
    assert refused.outputs[-1].ename == "TurnFailed"
    assert hello.execution_count == 2
    assert "Hello!" in saved.text(hello)


@pytest.mark.parametrize(
    ("to", "shown"),
    [
        ("html", ["<strong>This is the Antigravity simulator.</strong>", "+ def greet"]),
        ("markdown", ["**This is the Antigravity simulator.**", "+ def greet"]),
        ("script", ["Say hello", "Create shown.py that greets"]),  # of any kernel: no outputs
    ],
)
def test_reply_is_in_what_nbconvert_makes(folder: Folder, to: str, shown: list[str]) -> None:
    folder.write("Say hello", "Create shown.py that greets")
    done = folder.run(
        *("jupyter-nbconvert", "--execute", f"--to={to}", "in.ipynb", "--output=out"),
        AGY_PERMISSIONS="allow",
    )
    assert done.returncode == 0, done.stderr
    (out,) = folder.path.glob("out*")
    for part in shown:
        assert part in out.read_text()


def test_parameters_of_papermill_are_variables_and_no_prompt(folder: Folder) -> None:
    default = '%%py\ncity, years = "Bern", []  # parameters'
    folder.write(default, f"{sim({'echo': True})}\n@years", "%%py\n(city, years, share)")
    values = ["-p", "city", 'Zürich "1"\n%%agy', "-y", "{years: [1, 2], share: 0.5}"]
    done = folder.run(*COMMANDS["papermill"], *values)
    assert done.returncode == 0, done.stderr
    _, injected, prompt, python = saved.read(folder.path / "out.ipynb")
    assert injected.source.startswith("%%py\n# Parameters\n")
    assert injected.outputs == []
    assert "years: list, 2 items [1, 2]" in saved.text(prompt)
    assert saved.text(python) == """('Zürich "1"\\n%%agy', [1, 2], 0.5)"""


def test_parameters_that_papermill_finds(folder: Folder) -> None:
    folder.write('%%py\ncity: str = "Bern"\n# parameters', "Say hello")
    done = folder.run("papermill", "--help-notebook", "in.ipynb")
    assert 'city: str (default "Bern")' in done.stdout
