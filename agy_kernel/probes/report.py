"""The report: builds and gates in one table, and below it what each probe has found."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..errors import AgyError
from ..text import clean
from .builds import builds_in
from .show import MARKS
from .verdicts import GATE_NAMES, GATES, RC01, Verdicts, load

REPORT = "report.html"
STYLE = """\
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; }
th, td { border-bottom: 1px solid #8885; padding: .35rem .6rem; }
th, td { text-align: left; vertical-align: top; }
td.pass { color: light-dark(#116329, #56d364); } td.fail { color: light-dark(#a40e26, #ff7b72); }
td.fallback { color: light-dark(#7d4e00, #e3b341); } td.absent, td.skipped { opacity: .75; }
td[class] { white-space: nowrap; } .faint { opacity: .7; } code { font-size: .92em; }
"""


def write(folder: Path) -> Path:
    """Write the report on every build in a folder; returns its path.

    Args:
        folder: it has a folder with ``verdicts.json`` for each build.

    Raises:
        AgyError: it cannot be written.
    """
    told, unread = [], []
    for build in builds_in(folder):
        try:
            told.append((build.name, load(build)))
        except AgyError as error:
            unread.append(str(error))
    path = folder / REPORT
    try:
        with open(path, "w", encoding="utf-8", opener=_private) as file:
            file.write(render(told, unread))
    except OSError as error:
        raise AgyError(f"{path} cannot be written: {error.strerror}") from None
    return path


def render(builds: Sequence[tuple[str, Verdicts]], unread: Sequence[str] = ()) -> str:
    """The page.

    Args:
        builds: the folder's name, and the verdicts in it.
        unread: what is wrong with those that cannot be read.
    """
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        '<meta name=viewport content="width=device-width">',
        f"<title>Agent builds, probed</title><style>{STYLE}</style>",
        "<h1>Agent builds, probed</h1>",
        _gates(builds),
        *(f"<p>{_text(words)}</p>" for words in unread),
        *(_build(folder, verdicts) for folder, verdicts in builds),
        "</html>\n",
    ]
    return "\n".join(parts)


def _gates(builds: Sequence[tuple[str, Verdicts]]) -> str:
    titles = [verdicts.title for _, verdicts in builds]
    head = "".join(_head(each, titles.count(each[1].title) == 1) for each in builds)
    gates_of = [verdicts.gates() for _, verdicts in builds]
    rows = "".join(
        f"<tr><th>{gate}: {GATE_NAMES[gate]}</th>"
        + "".join(_verdict(gates.get(gate, "")) for gates in gates_of)
        + f"<td>{_text(RC01[gate])}</td></tr>"
        for gate in GATES
    )
    return (
        f"<table><tr><th>gate</th>{head}<th>RC01, as seen by others</th></tr>{rows}</table>"
        "<p class=faint>A gate has the worst verdict of the probes that decide it. The last "
        "column is no run of these probes: it is what was published of Google's build "
        "agy_acp_server_20260818_01_RC01 on 2026-09-03. Verdicts on a simulator test the "
        "prober.</p>"
    )


def _head(build: tuple[str, Verdicts], is_only: bool) -> str:
    """A column's head; builds that call themselves the same differ by command and folder."""
    folder, verdicts = build
    more = f"<br><small><code>{_text(verdicts.agent)}</code><br>{_text(folder)}</small>"
    return f"<th>{_text(verdicts.title)}{'' if is_only else more}</th>"


def _build(folder: str, verdicts: Verdicts) -> str:
    about = ", ".join(_text(f"{name} {value}") for name, value in verdicts.about.items())
    suites = "".join(_suite(folder, name, probes) for name, probes in verdicts.suites.items())
    place = f"<code>{_text(verdicts.agent)}</code>; in {_text(folder)}"
    return f"<h2>{_text(verdicts.title)}</h2><p class=faint>{place}; {about}</p>{suites}"


def _suite(folder: str, name: str, probes: Mapping[str, Mapping[str, Any]]) -> str:
    place = quote(f"{folder}/{name}")
    links = f'<a href="{place}.ipynb">notebook</a>, <a href="{place}.jsonl">tape</a>'
    rows = "".join(
        f"<tr><td><code>{_text(probe)}</code></td><td>{_text(str(record.get('gate', '')))}</td>"
        f"{_verdict(str(record.get('verdict', '')))}<td>{_text(str(record.get('question', '')))}"
        f"<br>{_text(str(record.get('words', '')))}</td></tr>"
        for probe, record in probes.items()
    )
    return f"<h3>{_text(name)} <small>({links})</small></h3><table>{rows}</table>"


def _verdict(verdict: str) -> str:
    if verdict not in MARKS:
        return "<td class=faint>not asked</td>"
    return f"<td class={verdict}>{MARKS[verdict]} {verdict}</td>"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _text(words: str) -> str:
    return html.escape(clean(words))


def counted(verdicts: Iterable[str]) -> str:
    """How many of each: "5 pass, 1 fail"."""
    told = list(verdicts)
    return ", ".join(f"{told.count(v)} {v}" for v in MARKS if v in told)
