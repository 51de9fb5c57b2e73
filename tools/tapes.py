"""Record the evidence that the probes' tests replay: tapes and verdicts, a folder for each build.

Each build runs in a home folder of its own, against the scripted model where it needs one. What
is written to tests/evidence names no folder of this machine. Beside other work, agents that start
slowly fail at times that they keep otherwise. ``python -m tools.tapes [NAME ...]``.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agy_kernel.probes import Prober
from agy_kernel.probes.compare import compare
from agy_kernel.probes.probe import thresholds_of
from agy_kernel.probes.report import counted
from agy_kernel.probes.suites import NAMES, find_suite
from agy_kernel.probes.verdicts import load
from tests.agents import real
from tests.agents.model_endpoint import ModelEndpoint

ROOT = Path(__file__).parent.parent
EVIDENCE = ROOT / "tests" / "evidence"
SMALL = {"lines": 300.0}
"""Thresholds that keep a tape small, for the suites that have them."""
KEPT = ("PATH", "LANG", "PYTHONPATH")
"""Variables that builds take over; what else is set here is nobody's business."""

Prepare = Callable[[Path, ModelEndpoint], Mapping[str, str]]


@dataclass(frozen=True)
class Build:
    """A build that is put to the probes.

    Args:
        command: as the verdicts name it; its program is looked for on PATH.
        prepare: settles it in its home, and returns the variables that it needs.
        thresholds: others than the probes' own.
        suites: what is asked.
    """

    command: str
    prepare: Prepare = lambda *_: {}
    thresholds: Mapping[str, float] = field(default_factory=lambda: SMALL)
    suites: Sequence[str] = NAMES


def _codex(home: Path, endpoint: ModelEndpoint) -> Mapping[str, str]:
    return real.codex(home, endpoint).env


def _gemini(home: Path, endpoint: ModelEndpoint) -> Mapping[str, str]:
    return real.gemini(home, endpoint).env


def _sdk_example(home: Path, _: ModelEndpoint) -> Mapping[str, str]:
    program = home / "bin" / SDK_EXAMPLE
    program.write_text(f'#!/bin/sh\nexec {" ".join(real.sdk_example().argv)} "$@"\n')
    program.chmod(0o755)
    return {}


SDK_EXAMPLE = "acp-sdk-example-agent"
ENDS = ("handshake", "cancel", "lifecycle", "parity")
FLAVOURS: dict[str, Sequence[str]] = {
    "--cancel ignored": ENDS,
    "--cancel with-id": ENDS,
    "--cancel leaks": ENDS,
    "--usage": ("handshake", "streaming", "parity"),
    "--whole-text": ("handshake", "streaming", "cancel"),
    "--keep-config": ("handshake", "options", "lifecycle"),
    "--signed-out": NAMES,
}
"""Flags of the simulator, and the suites in which they tell: all would be many megabytes."""
BUILDS = {
    "simulator": Build("agy-kernel simulate", thresholds={}),
    **{
        re.sub(r"\W+", "-", f"simulator {flags}"): Build(
            f"agy-kernel simulate {flags}", suites=suites
        )
        for flags, suites in FLAVOURS.items()
    },
    "codex-acp": Build("codex-acp", _codex),
    "gemini-cli": Build("gemini --acp --model gemini-2.5-flash", _gemini),
    "sdk-example": Build(SDK_EXAMPLE, _sdk_example),
}


def main(names: list[str]) -> int:
    """Record the builds of these names, or all."""
    if unknown := [name for name in names if name not in BUILDS]:
        print(f"no such builds: {', '.join(unknown)}; there are {', '.join(BUILDS)}")
        return 2
    for name in names or BUILDS:
        print(f"{name}:", flush=True)
        for line in record(name, BUILDS[name]):
            print(f"  {line}", flush=True)
    size = sum(file.stat().st_size for file in EVIDENCE.rglob("*") if file.is_file())
    print(f"{EVIDENCE.relative_to(ROOT)} holds {size / 1e6:.1f} MB")
    return 0


def record(name: str, build: Build) -> Iterator[str]:
    """Put its suites to a build; yields what there is to tell, and what has changed."""
    kept = EVIDENCE / name
    with tempfile.TemporaryDirectory(prefix="tapes-") as folder, ModelEndpoint() as endpoint:
        place = Path(folder).resolve()
        with _living_in(place / "home") as home:
            os.environ.update(build.prepare(home, endpoint))
            if not _is_there(name, build):
                yield "not installed, skipped"
                return
            out = place / name
            for suite in build.suites:
                limits = _limits(suite, build)
                with Prober(suite, build.command, out, True, "", limits) as prober:
                    told = [result.finding.verdict for result in prober.ask_all()]
                yield f"{suite}: {counted(told)}"
        _scrub(out, place)
        yield from _departures(out)
        if kept.is_dir():
            yield from compare(kept, out, print) or ["nothing has changed"]
            shutil.rmtree(kept)
        shutil.copytree(out, kept, ignore=shutil.ignore_patterns("*.lock"))


def _limits(suite: str, build: Build) -> dict[str, Any]:
    known = thresholds_of(find_suite(suite))
    return {name: value for name, value in build.thresholds.items() if name in known}


def _is_there(name: str, build: Build) -> bool:
    if name == "sdk-example" and not Path(real.sdk_example().argv[-1]).is_file():
        return False
    return shutil.which(build.command.split()[0]) is not None


@contextmanager
def _living_in(home: Path) -> Iterator[Path]:
    """Everything that is started finds its home, and its temporary files, in a folder."""
    for folder in (home, home / "bin", home / "scratch"):
        folder.mkdir()
    before = dict(os.environ)
    programs = (home / "bin", Path(sys.executable).parent, real.NODE_MODULES / ".bin")
    path = os.pathsep.join([*map(str, programs), before.get("PATH", os.defpath)])
    kept = {key: before[key] for key in KEPT if key in before}
    temporary = {"TMPDIR": str(home / "scratch"), "JUPYTER_CONFIG_DIR": str(home / ".jupyter")}
    os.environ.clear()
    os.environ.update({**kept, "HOME": str(home), "PATH": path, **temporary})
    tempfile.tempdir = None  # it is looked up anew
    try:
        yield home
    finally:
        os.environ.clear()
        os.environ.update(before)
        tempfile.tempdir = None


def _scrub(out: Path, place: Path) -> None:
    """Replace what tells of this machine in all that was recorded."""
    node = Path(shutil.which("node") or "/usr/bin/node").resolve()
    names = {
        str(place / "home"): "<home>",
        str(place): "<home>",
        str(real.NODE_MODULES.resolve()): "/repo/tests/agents/npm/node_modules",
        str(ROOT): "/repo",
        str(Path(sys.executable).parent): "/usr/bin",
        str(Path(sys.executable).resolve().parent): "/usr/bin",
        sys.prefix: "/usr",
        str(node.parent): "/usr/bin",
        platform.platform(): platform.system(),
    }
    longest_first = sorted(names, key=len, reverse=True)
    for file in out.iterdir():
        text = file.read_text("utf-8")
        for name in longest_first:
            text = text.replace(name, names[name])
        file.write_text(re.sub(r"agy-probe-\w{1,8}", "agy-probe", text), "utf-8")
        file.chmod(0o644)


def _departures(out: Path) -> Iterator[str]:
    """What a replay of the new tapes finds otherwise."""
    for tape in sorted(out.glob("*.jsonl")):
        for difference in departures(tape):
            yield f"! {tape.stem} replayed: {difference}"


def departures(tape: Path) -> list[str]:
    """Where the probes, put to a tape, find something else than the verdicts beside it say."""
    kept = load(tape.parent).suites[tape.stem]
    with Prober(tape.stem, replay=tape) as prober:
        found = {result.probe.name: result.record() for result in prober.ask_all()}
    return [
        f"{name}: {key}: {found.get(name, {}).get(key)!r}, not {kept.get(name, {}).get(key)!r}"
        for name in dict.fromkeys([*kept, *found])
        for key in ("verdict", "words", "facts")
        if found.get(name, {}).get(key) != kept.get(name, {}).get(key)
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
