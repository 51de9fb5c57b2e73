"""Kernels run on the ipykernel that the tests say they run on (``make test`` takes several)."""

from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.support.kernels import StartKernel

WHICH = "import ipykernel; print(ipykernel.__version__, ipykernel.__file__)"


@pytest.mark.parametrize(("name", "code"), [("antigravity", f"%%py\n{WHICH}"), ("python3", WHICH)])
def test_kernel_runs_on_the_ipykernel_that_was_asked_for(
    start_kernel: StartKernel, pytestconfig: pytest.Config, name: str, code: str
) -> None:
    installed = Path(str(distribution("ipykernel").locate_file("")))
    folder = (pytestconfig.getoption("--ipykernel") or installed).resolve()
    version, place = start_kernel(name=name).run(code).text.split()
    assert Path(place).resolve().is_relative_to(folder)
    assert [*folder.glob(f"ipykernel-{version}.dist-info")]
