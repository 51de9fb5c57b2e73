"""Write the table of builds and gates into docs/builds.md, from the verdicts in tests/evidence.

``make tapes`` runs it; tests/test_docs.py fails when the page is not what would be written.
"""

from __future__ import annotations

from pathlib import Path

from agy_kernel.probes.show import MARKS
from agy_kernel.probes.verdicts import FILE, GATE_NAMES, GATES, RC01, Verdicts, load

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "builds.md"
EVIDENCE = ROOT / "tests" / "evidence"
BEGIN, END = "<!-- begin: make tapes writes what follows -->", "<!-- end -->"
SIMULATOR = "simulator"


def written(page: str) -> str:
    """The page with the verdicts as they are now.

    Args:
        page: the page's text, with both marks.
    """
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    builds = [load(path.parent) for path in sorted(EVIDENCE.glob(f"*/{FILE}"))]
    real = [build for build in builds if SIMULATOR not in build.title]
    simulated = [build for build in builds if SIMULATOR in build.title]
    tables = [_gates(real, RC01), _probes(real), _gates(simulated, None), _probes(simulated)]
    heads = ("## Agents", "### Every probe", "## The simulator", "### Every probe of it")
    parts = "\n\n".join(f"{head}\n\n{table}" for head, table in zip(heads, tables, strict=True))
    return f"{before}{BEGIN}\n\n{parts}\n\n{END}{after}"


def _gates(builds: list[Verdicts], seed: dict[str, str] | None) -> str:
    rows = []
    for gate in GATES:
        told = [build.gates().get(gate, "") for build in builds]
        cells = [_cell(verdict) for verdict in told] + ([seed[gate]] if seed else [])
        rows.append([f"{gate}: {GATE_NAMES[gate]}", *cells])
    heads = [_name(build) for build in builds]
    return _table(["gate", *heads, *(["RC01 (the seed's)"] if seed else [])], rows)


def _probes(builds: list[Verdicts]) -> str:
    names = dict.fromkeys(
        (suite, probe)
        for build in builds
        for suite, probes in build.suites.items()
        for probe in probes
    )
    rows = [
        [f"`{suite}` {probe}", *(_verdict(build, suite, probe) for build in builds)]
        for suite, probe in names
    ]
    return _table(["probe", *(_name(build) for build in builds)], rows)


def _verdict(build: Verdicts, suite: str, probe: str) -> str:
    return _cell(str(build.suites.get(suite, {}).get(probe, {}).get("verdict", "")))


def _cell(verdict: str) -> str:
    return f"{MARKS[verdict]} {verdict}" if verdict else ""


def _name(build: Verdicts) -> str:
    _, _, flags = build.agent.partition("simulate")
    return f"simulator `{flags.strip()}`" if flags.strip() else build.title


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, [":--"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
