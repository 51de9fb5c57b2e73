"""`agy-kernel install` and `uninstall`, and which kernelspec wins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.kernelspec import KernelSpecManager

from agy_kernel import __version__, cli, kernelspecs
from agy_kernel.install import place
from agy_kernel.kernelspecs import Spec, examined, installed, stale
from tests.support.starts import one_start_at_a_time

LOGOS = {"logo-32x32.png", "logo-64x64.png", "logo-svg.svg"}


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A fake home; Jupyter's path has the user's folder and one environment's."""
    environment = tmp_path / "env" / "share" / "jupyter"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("JUPYTER_PATH", raising=False)
    dirs = [str(folder / "kernels") for folder in (tmp_path / "data", environment)]
    monkeypatch.setattr(KernelSpecManager, "_kernel_dirs_default", lambda _: dirs)
    return tmp_path


def write(folder: Path, *argv: str) -> Path:
    """A kernelspec of our name."""
    folder = folder / "kernels" / kernelspecs.NAME
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "x"}))
    return folder


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = cli.main(list(words))
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def spec_in(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / "kernel.json").read_text())
    return told


def ways(home: Path) -> dict[str, tuple[list[str], Path]]:
    """Words of the command, and where the kernelspec is to be then."""
    other = home / "other"
    return {
        "user": (["--user"], home / "data" / "kernels" / "antigravity"),
        "prefix": (["--prefix", str(other)], other / "share/jupyter/kernels/antigravity"),
    }


@pytest.mark.parametrize("way", ["user", "prefix"])
def test_install_names_this_python_and_uninstall_leaves_nothing(
    home: Path, capsys: pytest.CaptureFixture[str], way: str
) -> None:
    words, folder = ways(home)[way]
    for _ in range(2):  # a second time is an update
        status, out, err = run(capsys, "install", *words)
        assert (status, err) == (0, "")
        assert out == f"Installed {folder}, which runs {sys.executable}.\n"
    spec = spec_in(folder)
    assert spec["argv"] == [sys.executable, "-m", "agy_kernel", "-f", "{connection_file}"]
    assert spec["display_name"] == "Antigravity"
    assert spec["interrupt_mode"] == "message"
    assert {path.name for path in folder.iterdir()} == LOGOS | {"kernel.json"}

    status, out, _ = run(capsys, "uninstall", *words)
    assert (status, out) == (0, f"Removed {folder}.\n")
    assert not folder.exists()
    status, out, err = run(capsys, "uninstall", *words)
    assert (status, out, err) == (1, "", f"agy-kernel: there is no {folder}.\n")


def test_sys_prefix_is_this_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "here"))
    folder = tmp_path / "here" / "share/jupyter/kernels/antigravity"
    assert run(capsys, "install", "--sys-prefix")[0] == 0
    assert spec_in(folder)["argv"][0] == sys.executable


def test_kernel_of_another_environment_starts_from_its_jupyter(home: Path) -> None:
    other = home / "venv"
    venv.create(other)
    assert cli.main(["install", "--prefix", str(other)]) == 0
    libraries = os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))
    own = {k: v for k, v in os.environ.items() if not k.startswith("JUPYTER")}
    environment = own | {"PYTHONPATH": libraries, "HOME": str(home), "JUPYTER_PREFER_ENV_PATH": "1"}
    with one_start_at_a_time():
        asked = subprocess.run(
            [str(other / "bin/python"), "-c", ASK_KERNEL],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    language, folder, python = json.loads(asked.stdout)
    assert language == "antigravity"
    assert Path(folder).is_relative_to(other)
    assert python == sys.executable


ASK_KERNEL = """
import json
from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name="antigravity", startup_timeout=60)
try:
    info = client.kernel_info(reply=True, timeout=60)["content"]
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
spec = manager.kernel_spec
print(json.dumps([info["language_info"]["name"], spec.resource_dir, spec.argv[0]]))
"""


@pytest.mark.parametrize("words", [[], ["--user", "--prefix", "x"], ["--sys-prefix", "--user"]])
@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_exactly_one_place_is_named(
    capsys: pytest.CaptureFixture[str], command: str, words: list[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([command, *words])
    assert ended.value.code == 2
    assert "--prefix" in capsys.readouterr().err


def test_what_is_not_ours_or_belongs_to_pip_is_left_alone(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = write(home / "data", "/opt/other", "-f", "{connection_file}")
    status, _, err = run(capsys, "uninstall", "--user")
    assert (status, err) == (
        1,
        f"agy-kernel: {theirs} does not start agy-kernel, and is left alone.\n",
    )
    pips = write(home / "pip/share/jupyter", "python", "-m", "agy_kernel", "-f", "x")
    status, _, err = run(capsys, "uninstall", "--prefix", str(home / "pip"))
    assert status == 1
    assert "pip uninstall agy-kernel" in err
    assert theirs.exists()
    assert pips.exists()


def test_a_place_that_cannot_be_written_is_named(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "file").write_text("")
    status, out, err = run(capsys, "install", "--prefix", str(home / "file"))
    assert (status, out) == (1, "")
    assert err.startswith(f"agy-kernel: {home}/file/share/jupyter/kernels/antigravity cannot be")


# -- stale specs


def test_a_stale_spec_that_comes_first_is_warned_of(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = write(home / "data", "/gone/python", "-m", "agy_kernel", "-f", "{connection_file}")
    status, out, _ = run(capsys, "install", "--prefix", str(home / "env"))
    assert status == 0
    assert f"Warning: {old} comes before it on Jupyter's path" in out
    assert "its Python /gone/python does not exist any more" in out
    assert "jupyter kernelspec remove antigravity" in out
    run(capsys, "install", "--user")
    assert "Warning" not in run(capsys, "install", "--prefix", str(home / "env"))[1]


def test_a_spec_is_stale_when_it_cannot_start_our_kernel(tmp_path: Path) -> None:
    empty = tmp_path / "python"
    empty.write_text("#!/bin/sh\nexit 1\n")
    empty.chmod(0o755)
    ours = ("-m", "agy_kernel", "-f", "{connection_file}")
    assert stale(Spec(tmp_path, (sys.executable, *ours))) == ""
    assert stale(Spec(tmp_path, ("python", *ours))) == ""
    assert stale(Spec(tmp_path, ())) == "its kernel.json cannot be read"
    assert stale(Spec(tmp_path, ("python", "-m", "ipykernel"))) == "it starts something else"
    assert stale(Spec(tmp_path, ("/no/python", *ours))).endswith("does not exist any more")
    assert stale(Spec(tmp_path, (str(empty), *ours))) == f"its Python {empty} has no agy-kernel"


def test_the_version_in_another_python_is_asked_for(tmp_path: Path) -> None:
    link = tmp_path / "python"
    link.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    link.chmod(0o755)
    spec = Spec(tmp_path, (str(link), "-m", "agy_kernel"))
    assert not spec.runs_this
    assert examined(spec) == ("", __version__)


def test_specs_are_found_in_the_order_of_jupyters_path(home: Path) -> None:
    second = write(home / "env/share/jupyter", "python", "-m", "agy_kernel")
    assert [spec.folder for spec in installed()] == [second]
    first = write(home / "data", "python", "-m", "agy_kernel")
    (first / "kernel.json").write_text("{")
    assert [(s.folder, s.argv) for s in installed()] == [
        (first, ()),
        (second, ("python", "-m", "agy_kernel")),
    ]


def test_the_users_folder_is_jupyters(home: Path) -> None:
    assert place(None) == home / "data" / "kernels" / "antigravity"


# -- the command line itself


def test_the_command_line_is_cheap_to_import_and_says_what_it_can() -> None:
    code = (
        "import sys, agy_kernel.cli as cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for word in ("doctor", "install", "uninstall", "simulate", "launcher"):
        assert word in done.stdout
    heavy = {"ipykernel", "IPython", "pydantic", "jupyter_client", "psutil", "asyncio"}
    assert not heavy & set(done.stdout.split())


def test_no_command_is_an_error_that_shows_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 2
    assert "doctor" in capsys.readouterr().err


def test_the_simulator_has_options_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["simulate", "--help"])
    assert "--chunk-delay" in capsys.readouterr().out
