"""``agy-kernel probe`` and the notebooks: run as a person would, in a process of their own."""

from __future__ import annotations

import json
import os
import shlex
import signal
import stat
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest

from agy_kernel.cli import main
from agy_kernel.probes.headless import notebook_of
from agy_kernel.probes.probe import probes_of
from agy_kernel.probes.suites import NAMES, find_suite
from agy_kernel.probes.verdicts import load
from tests.agents import scripted
from tests.agents.scripted import hello, hold
from tests.support import saved
from tests.support.processes import happens_within
from tools.tapes import EVIDENCE

pytestmark = pytest.mark.timeout(300)
PARAMETERS = ("agent", "out", "live", "replay", "thresholds")


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))


def run(*words: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "agy_kernel.cli", "probe", *words]
    env = {**os.environ, **(env or {})}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


def outputs(path: Path) -> list[str]:
    """What every cell of an executed notebook shows."""
    return [saved.text(cell) for cell in saved.read(path)]


# -- the notebooks


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_puts_every_probe_of_its_suite_once(name: str) -> None:
    notebook = nbformat.read(notebook_of(name), as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    module = name.replace("-", "_")
    asked = [cell.source for cell in code if cell.source.startswith("prober.ask(")]
    wanted = [f"prober.ask({module}.{probe.name})" for probe in probes_of(find_suite(name))]
    assert asked == wanted
    parameters: dict[str, Any] = {}
    exec(code[0].source, parameters)  # our own
    assert {key for key in parameters if not key.startswith("__")} == set(PARAMETERS)
    assert code[0].metadata["tags"] == ["parameters"]
    assert code[-2].source == "prober.table()"
    assert code[-1].source == "prober.close()"
    assert not any(cell.outputs or cell.execution_count for cell in code)
    assert len(notebook.cells) - len(code) == len(wanted) + 2  # a title, a word on each, an end


@pytest.mark.parametrize("name", NAMES)
def test_the_first_cell_names_the_thresholds_with_their_values(name: str) -> None:
    cells = nbformat.read(notebook_of(name), as_version=4).cells
    (first,) = (cell.source for cell in cells if cell.metadata.get("tags") == ["parameters"])
    for probe in probes_of(find_suite(name)):
        for threshold, value in probe.thresholds.items():
            assert f'"{threshold}": {value:g}' in first


# -- the command


def test_a_run_leaves_notebooks_tapes_verdicts_and_a_report_and_replays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    patient = ("--set", "start_seconds=100", "--set", "cancel_seconds=60")
    done = run("handshake", "cancel", "--agent", "simulator", "--out", str(out), *patient)
    assert done.returncode == 0, done.stderr
    first, second, *_ = done.stdout.splitlines()
    prompts = sum(probe.prompts for probe in probes_of(find_suite("cancel")))
    assert first.endswith("probes of 2 suites are put to simulator.")
    assert (
        second == f"They send {prompts} prompts at most, which cost nothing: it is the simulator."
    )
    assert "[1/2] handshake  ✔" in done.stdout
    (build,) = (path for path in out.iterdir() if path.is_dir())
    assert build.name.startswith("antigravity-acp-simulator-")
    kept = load(build)
    assert list(kept.suites) == ["handshake", "cancel"]
    assert f"Gates: D {kept.gates()['D']}, E pass." in done.stdout
    assert kept.title in (out / "report.html").read_text(encoding="utf-8")
    assert {stat.S_IMODE(path.stat().st_mode) for path in build.glob("*.jsonl")} == {0o600}
    cells = outputs(build / "cancel.ipynb")
    assert any(cell.startswith("pass: Is a turn ended by session/cancel") for cell in cells)
    assert str(tmp_path) not in (build / "cancel.ipynb").read_text()

    again = run("handshake", "cancel", "--replay", str(build), "--out", str(tmp_path / "again"))
    assert again.returncode == 0, again.stderr
    replayed = tmp_path / "again" / build.name
    assert load(replayed).suites == kept.suites
    for name in ("handshake", "cancel"):
        # The second cell says what it is put to; all others are the same.
        assert outputs(replayed / f"{name}.ipynb")[3:] == outputs(build / f"{name}.ipynb")[3:]
    assert main(["probe", "compare", str(build), str(replayed)]) == 0


def test_without_live_what_sends_prompts_is_skipped_and_counted(tmp_path: Path) -> None:
    agent = shlex.join(scripted.command(*hello(), hold()))
    done = run("cancel", "--agent", agent, "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    probes = probes_of(find_suite("cancel"))
    prompts = sum(probe.prompts for probe in probes)
    said = f"{len(probes)} of them send prompts ({prompts} in all), and are skipped: no --live."
    assert done.stdout.splitlines()[1] == said
    assert f"{len(probes)} skipped" in done.stdout
    live = run("cancel", "--agent", "/no/such/agent --acp", "--out", str(tmp_path), "--live")
    said = f"They send {prompts} prompts at most. Each spends the quota of the agent's model."
    assert live.stdout.splitlines()[1] == said
    assert f"{len(probes)} fail" in live.stdout


def test_thresholds_are_set_where_they_are_known(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run(
        *("handshake", "cancel", "--agent", "simulator", "--out", str(out)),
        *("--set", "start_seconds=0"),
    )
    assert done.returncode == 0, done.stderr
    (build,) = (path for path in out.iterdir() if path.is_dir())
    assert load(build).suites["handshake"]["start_time"]["verdict"] == "fail"
    no_number = run("handshake", "--set", "start_seconds", "--out", str(out))
    assert "'start_seconds' is not THRESHOLD=NUMBER" in no_number.stderr
    wrong = run("handshake", "--agent", "simulator", "--set", "starts=0", "--out", str(out))
    assert wrong.returncode == 1
    assert "there is no threshold 'starts': there are memory_mb, start_seconds" in wrong.stderr


def test_a_kernel_that_dies_leaves_the_others_and_a_report(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    code = (
        "import agy_kernel.probes.prober as prober, os\n"
        "ask = prober.Prober.ask\n"
        "def dies(self, probe):\n"
        "    if probe.name == 'start_time': os._exit(9)\n"
        "    return ask(self, probe)\n"
        "prober.Prober.ask = dies\n"
    )
    (site / "sitecustomize.py").write_text(code)
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    out = tmp_path / "out"
    words = ("handshake", "cancel", "--agent", "simulator", "--out", str(out))
    done = run(*words, env={"PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    assert "[1/2] handshake  ✔ ✔ ✔  broke off: Kernel died" in done.stdout
    (build,) = (path for path in out.iterdir() if path.is_dir())
    asked = {name: told["verdict"] for name, told in load(build).suites["handshake"].items()}
    assert asked == {
        **dict.fromkeys(("minimal", "newer_version", "only_frames"), "pass"),
        **dict.fromkeys(("start_time", "memory_taken", "sign_in_methods"), "skipped"),
    }
    assert "its notebook broke off: Kernel died" in (out / "report.html").read_text("utf-8")
    assert len(load(build).suites["cancel"]) == len(probes_of(find_suite("cancel")))
    assert (out / "report.html").exists()


def test_ctrl_c_keeps_what_was_found_and_ends_the_kernel(tmp_path: Path) -> None:
    words = ("handshake", "streaming", "--agent", "simulator", "--out", str(tmp_path / "out"))
    # Where this runs in a shell's background, SIGINT is ignored from the start.
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    code += "from agy_kernel.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", code, "probe", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        seen = ""
        while "streaming  " not in seen.partition("[2/2]")[2] or not seen.endswith("✔"):
            seen += process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped" in out
    assert not err
    (build,) = (path for path in (tmp_path / "out").iterdir() if path.is_dir())
    assert list(load(build).suites) == ["handshake"]
    assert not list(build.glob("streaming.*"))
    assert (tmp_path / "out" / "report.html").exists()
    # A kernel's agents are ended by their watchdogs.
    assert happens_within(60, lambda: not any(_is_in(p, tmp_path) for p in _processes()))


def _processes() -> Iterable[Any]:
    yield from psutil.process_iter(["environ"])


def _is_in(process: Any, folder: Path) -> bool:
    """Whether a process lives in a home that this test has made."""
    is_other = process.pid != os.getpid()
    return is_other and (process.info["environ"] or {}).get("HOME") == str(folder / "home")


def test_a_folder_without_tapes_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = run("--replay", str(tmp_path / "empty"), "--out", str(tmp_path / "out"))
    assert done.returncode == 1
    assert "has no tapes of probes" in done.stderr
    (tmp_path / "cancel.jsonl").touch()
    of_file = run(
        "cancel", "--replay", str(tmp_path / "cancel.jsonl"), "--out", str(tmp_path / "out")
    )
    assert of_file.returncode == 1
    assert "is a file: --replay takes the folder that the tapes are in" in of_file.stderr
    assert not (tmp_path / "out").exists()


def test_googles_server_is_found_where_the_settings_say(tmp_path: Path) -> None:
    server = tmp_path / "agy_acp_server.par"
    simulator = shlex.join([sys.executable, "-m", "agy_kernel.agents.simulator"])
    server.write_text(f"#!/bin/sh\nexec {simulator}\n")
    server.chmod(0o755)
    env = {"AGY_ACP_BIN": str(server)}
    done = run("handshake", "--agent", "antigravity", "--out", str(tmp_path / "out"), env=env)
    assert done.returncode == 0, done.stderr
    assert "6 probes of 1 suites are put to antigravity." in done.stdout
    missing = run("handshake", "--agent", "antigravity", "--out", str(tmp_path / "none"))
    assert missing.returncode == 1
    assert "These places were tried" in missing.stderr
    assert not (tmp_path / "none").exists()


def test_a_secret_in_the_command_line_is_kept_nowhere(tmp_path: Path) -> None:
    agent = f"{sys.executable} -m agy_kernel.agents.simulator --state {tmp_path}/home/state"
    out = tmp_path / "out"
    script = tmp_path / "home" / "agent.sh"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"exec {agent}\n")
    words = f"sh {script} --api-key hunter2hunter2"
    done = run("handshake", "--agent", words, "--out", str(out))
    assert done.returncode == 0, done.stderr
    kept = "".join(p.read_text("utf-8") for p in out.rglob("*") if p.is_file()) + done.stdout
    assert "hunter2" not in kept
    assert str(script) not in kept
    assert "<home>/agent.sh" in kept


def test_what_was_not_asked_again_is_still_there(tmp_path: Path) -> None:
    for suite in ("handshake", "session"):
        assert run(suite, "--agent", "simulator", "--out", str(tmp_path)).returncode == 0
    (build,) = (path for path in tmp_path.iterdir() if (path / "verdicts.json").exists())
    assert list(load(build).suites) == ["handshake", "session"]


def test_a_tape_that_cannot_be_used_is_told_in_the_report_and_the_others_are_played(
    tmp_path: Path,
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in ("handshake", "cancel"):
        text = (EVIDENCE / "simulator" / f"{name}.jsonl").read_text("utf-8")
        newer = text.replace('"tape": 1', '"tape": 9')
        (source / f"{name}.jsonl").write_text(newer if name == "cancel" else text)
    done = run("--replay", str(source), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "broke off: TapeError: the tape is of format 9" in done.stdout
    (build,) = (path for path in (tmp_path / "out").iterdir() if path.is_dir())
    told = load(build).suites
    assert {record["verdict"] for record in told["cancel"].values()} == {"skipped"}
    assert {record["verdict"] for record in told["handshake"].values()} == {"pass"}
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "its notebook broke off: TapeError: the tape is of format 9" in page


def test_papermill_sets_the_parameters(tmp_path: Path) -> None:
    parameters = ["-p", "agent", "simulator", "-p", "out", ".", "-y"]
    command = [sys.executable, "-m", "papermill", str(notebook_of("handshake")), "out.ipynb"]
    done = subprocess.run(
        [*command, *parameters, "thresholds: {start_seconds: 0}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kept = json.loads((tmp_path / "verdicts.json").read_text())
    assert kept["suites"]["handshake"]["start_time"]["verdict"] == "fail"
    assert kept["suites"]["handshake"]["minimal"]["verdict"] == "pass"
