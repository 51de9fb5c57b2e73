"""``agy-kernel probe``: suites put to an agent without a person, and a report on what was found."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..agents import catalogue
from ..errors import CommandError
from . import report
from .aim import at_agent
from .builds import broke_off, leave_out, new_folder, put_away
from .compare import compare
from .headless import execute
from .probe import probes_of, thresholds_of
from .show import MARKS
from .suites import NAMES, find_suite
from .verdicts import load

STOPPED = 130  # as shells say it
USAGE = """agy-kernel probe [NAME ...] [--agent AGENT] [--out DIR] [--live] [--set THRESHOLD=VALUE]
       agy-kernel probe [NAME ...] --replay BUILD_DIR [--out DIR]
       agy-kernel probe compare BUILD_DIR BUILD_DIR"""


def probe(words: list[str]) -> int:
    """Run ``agy-kernel probe``; returns the exit status.

    It is 0 once the report is whole, whatever the verdicts, 1 where nothing was found, and 130
    after Ctrl-C; of ``compare`` 1 where builds differ.
    """
    if words[:1] == ["compare"]:
        return _compare(words[1:])
    return _run(_parser().parse_args(words))


def _parser() -> argparse.ArgumentParser:
    said = "Put probes to an agent, and write notebooks, tapes, verdicts and a report."
    parser = argparse.ArgumentParser("agy-kernel probe", usage=USAGE, description=said)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)} (all)")
    parser.add_argument("--agent", default="", help="a name or a command line (the settings')")
    parser.add_argument("--out", type=Path, default=Path("probes"), metavar="DIR", help="(probes)")
    parser.add_argument(
        "--live", action="store_true", help="send prompts too, which spend a model's quota"
    )
    parser.add_argument(
        "--replay", type=Path, metavar="BUILD_DIR", help="play a build's tapes in place of an agent"
    )
    parser.add_argument(
        "--set",
        dest="thresholds",
        type=_threshold,
        action="append",
        default=[],
        metavar="THRESHOLD=VALUE",
        help="another threshold than the probes' own",
    )
    return parser


def _threshold(words: str) -> tuple[str, float]:
    name, _, value = words.partition("=")
    try:
        return name, float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{words!r} is not THRESHOLD=NUMBER") from None


def _run(wanted: argparse.Namespace) -> int:
    source: Path | None = wanted.replay
    taped = _taped_in(source) if source else list(NAMES)
    names = wanted.names or taped
    thresholds = _of_suites(names, dict(wanted.thresholds))
    if source is None:
        _announce(names, wanted.agent, wanted.live)
    out: Path = wanted.out.expanduser()
    run = new_folder(out)
    given = {"agent": wanted.agent, "out": ".", "live": wanted.live}
    status, broken = 0, dict[str, str]()
    try:
        for number, name in enumerate(names, 1):
            place = f"{number:>{len(str(len(names)))}}/{len(names)}"
            print(f"[{place}] {name:10} ", end="", flush=True)
            replay = {"replay": str((source / f"{name}.jsonl").resolve())} if source else {}
            parameters = {**given, **replay, "thresholds": thresholds[name]}
            if broke := _put(name, run, parameters):
                broken[name] = broke
    except KeyboardInterrupt:
        print(" stopped")
        leave_out(run, name)
        status = STOPPED
    for name, why in broken.items():
        broke_off(run, name, why)
    return _conclude(put_away(run, out, source), out) or status


def _taped_in(folder: Path) -> list[str]:
    """The suites whose tapes are in a folder."""
    if folder.is_file():
        raise CommandError(f"{folder} is a file: --replay takes the folder that the tapes are in")
    found = [name for name in NAMES if (folder / f"{name}.jsonl").is_file()]
    if not found:
        raise CommandError(f"{folder} has no tapes of probes")
    return found


def _announce(names: Sequence[str], agent: str, live: bool) -> None:
    aim = at_agent(agent, live, {}, "")
    probes = [probe for name in names for probe in probes_of(find_suite(name))]
    asking = [probe for probe in probes if probe.prompts]
    prompts = sum(probe.prompts for probe in asking)
    print(f"{len(probes)} probes of {len(names)} suites are put to {aim.agent}.")
    if catalogue.is_simulator(aim.launch):
        print(f"They send {prompts} prompts at most, which cost nothing: it is the simulator.")
    elif live:
        print(f"They send {prompts} prompts at most. Each spends the quota of the agent's model.")
    else:
        print(f"{len(asking)} of them send prompts ({prompts} in all), and are skipped: no --live.")


def _of_suites(names: Sequence[str], given: Mapping[str, float]) -> dict[str, dict[str, float]]:
    known = {name: thresholds_of(find_suite(name)) for name in names}
    for name in given:
        if not any(name in thresholds for thresholds in known.values()):
            told = ", ".join(sorted(set().union(*known.values())))
            raise CommandError(f"there is no threshold {name!r}: there are {told}")
    return {n: {t: v for t, v in given.items() if t in known[n]} for n in names}


def _put(name: str, folder: Path, parameters: Mapping[str, Any]) -> str:
    """Put a suite; returns what broke it off, empty where nothing has."""
    began, verdicts = time.monotonic(), list[str]()

    def on_verdict(verdict: str) -> None:
        verdicts.append(verdict)
        print(MARKS.get(verdict, "?"), end=" ", flush=True)

    broke = execute(name, folder, parameters, on_verdict)
    words = f"broke off: {broke}" if broke else report.counted(verdicts)
    print(f" {words} ({time.monotonic() - began:.1f} s)", flush=True)
    return broke


def _conclude(build: Path | None, out: Path) -> int:
    """Say what was found and where it is; returns the exit status."""
    if build is None:
        print("Nothing was found, so there is no report.", file=sys.stderr)
        return 1
    page, verdicts = report.write(out), load(build)
    gates = ", ".join(f"{gate} {verdict}" for gate, verdict in verdicts.gates().items())
    print(f"\n{verdicts.title}. Gates: {gates or 'none was asked about'}.")
    print(f"Notebooks, tapes and verdicts are in {build}. The report: {page}")
    return 0


def _compare(words: list[str]) -> int:
    parser = argparse.ArgumentParser("agy-kernel probe compare", description="Compare two builds.")
    for name in ("A", "B"):
        parser.add_argument(name, type=Path, help="a build's folder, with verdicts and tapes")
    wanted = parser.parse_args(words)
    lines = compare(wanted.A, wanted.B, lambda told: print(told, file=sys.stderr))
    print("\n".join(lines) if lines else "No verdict, fact or shape differs.")
    return 1 if lines else 0
