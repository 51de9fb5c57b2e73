"""What holds for every test: where nothing may be skipped, and a clean environment."""

import os
import shutil
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.agents.real import MORE_NODE_MODULES, NODE_MODULES
from tests.support.lab import CHROMIUM

pytest_plugins = ["tests.support.kernels"]

SKIPS_ARE_FAILURES = os.environ.get("CI") == "true" or os.environ.get("AGY_NO_SKIPS") == "1"


@pytest.fixture(autouse=True)
def _no_agy_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AGY_")]:
        monkeypatch.delenv(name)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ipykernel", type=Path, help="the folder of another ipykernel for kernels")


def pytest_configure(config: pytest.Config) -> None:
    if folder := config.getoption("--ipykernel"):
        first = [str(folder.resolve()), os.environ.get("PYTHONPATH", "")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, first))  # what kernels inherit


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("browser") and not Path(CHROMIUM).exists():
        pytest.skip(f"there is no {CHROMIUM}")
    if item.get_closest_marker("real_agent") and not _has_agents(item):
        pytest.skip("the pinned npm agents are not installed")


def _has_agents(item: pytest.Item) -> bool:
    installed = MORE_NODE_MODULES if item.get_closest_marker("more") else NODE_MODULES
    return installed.exists() and shutil.which("node") is not None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    by_reason = defaultdict(list)
    for report in terminalreporter.getreports("skipped"):
        by_reason[_reason(report)].append(report.nodeid)
    for reason, names in sorted(by_reason.items()):
        terminalreporter.section(f"{len(names)} skipped: {reason}")
        for name in names:
            terminalreporter.line(name)


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if SKIPS_ARE_FAILURES and report.skipped and not hasattr(report, "wasxfail"):
        report.longrepr = f"{report.nodeid} was skipped where nothing may be: {_reason(report)}"
        report.outcome = "failed"


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    return str(report.longrepr)
