"""The wheel alone makes the kernel appear, and its removal makes it go."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
LOGOS = {"logo-32x32.png", "logo-64x64.png", "logo-svg.svg"}


class Environment:
    """A fresh virtual environment that borrows the libraries of ours, but not our package."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder)
        self.python = folder / "bin" / "python"

    def pip(self, *arguments: str) -> None:
        _run(sys.executable, "-m", "pip", "--python", str(self.python), *arguments)

    def run(self, *arguments: str) -> str:
        # An editable install hangs on a .pth file, and PYTHONPATH reads none.
        borrowed = {
            "PYTHONPATH": sysconfig.get_path("purelib"),
            "HOME": str(self.folder),
            "JUPYTER_PREFER_ENV_PATH": "1",
        }
        own = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
        return _run(str(self.python), *arguments, env=own | borrowed, cwd=self.folder)

    def kernelspecs(self) -> dict[str, dict[str, str]]:
        listing = self.run("-m", "jupyter_client.kernelspecapp", "list", "--json")
        specs: dict[str, dict[str, str]] = json.loads(listing)["kernelspecs"]
        return specs


def _run(*command: str, env: dict[str, str] | None = None, cwd: Path = PROJECT) -> str:
    done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), "."]
    _run(sys.executable, "-m", "pip", *build)
    (built,) = folder.glob("agy_kernel-*.whl")
    return built


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path / "venv")


def test_wheel_brings_the_kernel_and_uninstall_takes_it_away(
    wheel: Path, environment: Environment
) -> None:
    assert "antigravity" not in environment.kernelspecs()

    environment.pip("install", "--no-deps", str(wheel))
    home = Path(environment.kernelspecs()["antigravity"]["resource_dir"])
    assert home.is_relative_to(environment.folder)
    assert {path.name for path in home.iterdir()} == LOGOS | {"kernel.json"}

    environment.pip("uninstall", "--yes", "agy-kernel")
    assert "antigravity" not in environment.kernelspecs()
    assert not home.exists()


def test_kernel_of_the_wheel_is_put_into_another_jupyter(
    wheel: Path, environment: Environment, tmp_path: Path
) -> None:
    environment.pip("install", "--no-deps", str(wheel))
    other = tmp_path / "other"
    environment.run(
        str(environment.python.with_name("agy-kernel")), "install", "--prefix", str(other)
    )
    put = other / "share" / "jupyter" / "kernels" / "antigravity"
    assert {path.name for path in put.iterdir()} == LOGOS | {"kernel.json"}
    assert json.loads((put / "kernel.json").read_text())["argv"][0] == str(environment.python)


def test_kernel_of_the_wheel_starts(wheel: Path, environment: Environment) -> None:
    environment.pip("install", "--no-deps", str(wheel))
    language, package = json.loads(environment.run("-c", ASK_FOR_KERNEL_INFO))
    assert language == "antigravity"
    assert Path(package).is_relative_to(environment.folder)


def test_probes_of_the_wheel_run_from_anywhere(wheel: Path, environment: Environment) -> None:
    environment.pip("install", "--no-deps", str(wheel))
    program = str(environment.python.with_name("agy-kernel"))
    said = environment.run(program, "probe", "handshake", "--agent", "simulator")
    assert "6 pass" in said
    assert (environment.folder / "probes" / "report.html").is_file()


ASK_FOR_KERNEL_INFO = """
import json
import agy_kernel
from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name="antigravity", startup_timeout=60)
try:
    info = client.kernel_info(reply=True, timeout=60)["content"]
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
print(json.dumps([info["language_info"]["name"], agy_kernel.__file__]))
"""
