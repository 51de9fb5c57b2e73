"""JupyterLab in headless chromium, as a person uses it: open, run a cell, click, look.

Whether the kernel is ready is asked of the server: the page says "idle" before there is a kernel.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.support.starts import one_start_at_a_time

CHROMIUM = "/usr/bin/chromium"
# No sandbox (CI runs as root), no GPU, and nothing in the background that wants a network.
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
START_TIMEOUT = 60
PATIENCE = 30_000  # milliseconds
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}


class Lab:
    """A JupyterLab server with folders of its own; use as a context manager.

    Args:
        root: the folder that it serves.
        scratch: a folder for its configuration, data and log.
        env: variables for the server, and so for its kernels.
        theme: ``light`` or ``dark``.
    """

    module = "jupyterlab"

    def __init__(
        self, root: Path, scratch: Path, env: Mapping[str, str], theme: str = "light"
    ) -> None:
        self.root, self._scratch = root, scratch
        self._env = _own_folders(scratch) | dict(env)
        self._theme = theme
        self.url = ""
        self._process: subprocess.Popen[str]

    def __enter__(self) -> Lab:
        self._write_settings()
        with one_start_at_a_time():
            self._start(_free_port())
        return self

    def _start(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen(
            [sys.executable, "-m", self.module, *_options(port, self.root)],
            env=os.environ | self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._wait_until_up()

    def __exit__(self, *_: object) -> None:
        for kernel in self.api("kernels"):
            request = urllib.request.Request(
                f"{self.url}/api/kernels/{kernel['id']}", method="DELETE"
            )
            urllib.request.urlopen(request, timeout=20).close()
        os.killpg(self._process.pid, signal.SIGTERM)
        self._process.communicate(timeout=20)

    def address(self, name: str) -> str:
        """Where a notebook is opened."""
        return f"{self.url}/lab/tree/{name}?reset"

    def api(self, what: str) -> Any:
        """What the server's REST API says."""
        with urllib.request.urlopen(f"{self.url}/api/{what}", timeout=10) as reply:
            return json.load(reply)

    def write(self, name: str, cells: Sequence[str], kernel: str = "antigravity") -> None:
        """Put a notebook into the served folder."""
        notebook = {
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"c{i}",
                    "metadata": {},
                    "source": source,
                    "outputs": [],
                    "execution_count": None,
                }
                for i, source in enumerate(cells)
            ],
            "metadata": {"kernelspec": {"name": kernel, "display_name": kernel}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        (self.root / name).write_text(json.dumps(notebook))

    def saved(self, name: str) -> Any:
        """A notebook as it lies on disk."""
        return json.loads((self.root / name).read_text())

    def _write_settings(self) -> None:
        folder = self._scratch / "settings" / "@jupyterlab" / "apputils-extension"
        folder.mkdir(parents=True, exist_ok=True)
        news = {"fetchNews": "false", "checkForUpdates": False}
        (folder / "notification.jupyterlab-settings").write_text(json.dumps(news))
        theme = {"theme": THEMES[self._theme]}
        (folder / "themes.jupyterlab-settings").write_text(json.dumps(theme))

    def _wait_until_up(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if "is running at" in line:
                break
        else:
            raise RuntimeError(f"{self.module} did not start")
        threading.Thread(target=self._process.stdout.read, name="lab log", daemon=True).start()


def _own_folders(scratch: Path) -> dict[str, str]:
    names = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    }
    return {variable: str(scratch / name) for variable, name in names.items()}


def _options(port: int, root: Path) -> list[str]:
    return [
        "--allow-root",
        "--no-browser",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        "--ServerApp.password=",
        "--ServerApp.disable_check_xsrf=True",
        f"--ServerApp.root_dir={root}",
        "--LabApp.extension_manager=readonly",
        "--LabApp.news_url=",
    ]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, headless=True, args=list(CHROMIUM_FLAGS)
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def page_without_errors(browser: Browser, known: Collection[str] = ()) -> Iterator[Page]:
    """A page of a person's size; at its end no error was thrown in it but those `known`."""
    page = browser.new_page(viewport={"width": 1200, "height": 1000})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    page.close()
    assert set(errors) <= set(known)


class Notebook:
    """An open notebook in a page.

    Args:
        page: a fresh browser page.
        lab: the server.
        name: the notebook's file name.
    """

    def __init__(self, page: Page, lab: Lab, name: str) -> None:
        self.page, self._lab, self.name = page, lab, name

    def open(self) -> Notebook:
        """Open it, and wait until its kernel is idle and connected."""
        with one_start_at_a_time():
            self.page.goto(self._lab.address(self.name), wait_until="domcontentloaded")
            return self.wait_ready()

    def wait_ready(self, state: str = "idle") -> Notebook:
        """Wait until the kernel is in a state, and the page shows the notebook."""
        self.page.locator(".jp-Notebook:visible").wait_for(timeout=PATIENCE)
        deadline = time.monotonic() + PATIENCE / 1000
        while not self._kernel_is(state):
            assert time.monotonic() < deadline, f"the kernel of {self.name} is not {state}"
            self.page.wait_for_timeout(50)
        indicator = self.page.locator(".jp-Notebook-ExecutionIndicator:visible")
        expect(indicator).to_have_attribute(
            "data-status", re.compile("idle|busy"), timeout=PATIENCE
        )
        return self

    def _kernel_is(self, state: str) -> bool:
        mine = (s["kernel"] for s in self._lab.api("sessions") if s["path"] == self.name)
        return any(k["execution_state"] == state and k["connections"] >= 1 for k in mine)

    def cell(self, index: int) -> Locator:
        """A cell."""
        return self.page.locator(
            f".jp-Notebook:visible .jp-Cell[data-windowed-list-index='{index}']"
        )

    def output(self, index: int) -> Locator:
        """A cell's output area."""
        return self.cell(index).locator(".jp-OutputArea").first

    def run(self, index: int) -> Locator:
        """Run a cell; returns its output area at once."""
        self.cell(index).locator(".cm-content").click()
        self.page.keyboard.press("Shift+Enter")
        return self.output(index)

    def expect_done(self, index: int, count: int) -> None:
        """Wait until a cell has run, as the ``count``-th of its kernel."""
        prompt = self.cell(index).locator(".jp-InputPrompt")
        expect(prompt).to_have_text(f"[{count}]:", timeout=PATIENCE)

    def button(self, index: int, name: str) -> Locator:
        """A button of an open question."""
        return self.output(index).locator("button.jupyter-button", has_text=name)

    def stop(self) -> None:
        """Press Stop in the toolbar."""
        self.page.locator(
            ".jp-NotebookPanel:visible [data-command='notebook:interrupt-kernel']"
        ).first.click()

    def save(self) -> Any:
        """Save, and return the notebook as it lies on disk."""
        self.page.keyboard.press("Escape")
        with self.page.expect_response(
            lambda r: "/api/contents/" in r.url and r.request.method == "PUT"
        ):
            self.page.keyboard.press("Control+s")
        return self._lab.saved(self.name)
