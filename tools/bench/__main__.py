"""``python -m tools.bench``: print the tables of docs/performance.md, line by line as measured.

Arguments name the parts to measure: start, turns, client, notebooks, person, browser.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from tests.support.lab import CHROMIUM

from . import table

PARTS = ("start", "turns", "client", "person", "notebooks")


def main(parts: list[str]) -> None:
    """Print the tables."""
    has_browser = Path(CHROMIUM).exists()
    tables = [[part for part in PARTS if part in parts or not parts]]
    if "browser" in parts or (has_browser and not parts):
        tables.append(["browser"])
    for names in filter(None, tables):
        print(f"\n{table.head()}")
        for name in names:
            for figure in import_module(f".{name}", __package__).figures():
                print(table.line(figure), flush=True)
    if not has_browser:
        print(f"\nno browser: there is no {CHROMIUM}")


if __name__ == "__main__":
    main(sys.argv[1:])
