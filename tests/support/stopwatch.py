"""Time as it passes where nothing else is to be done: what the limits of tests are about.

Linux tells for how long some process has waited for a processor, a disk or memory. That time does
not count here; on an idle machine there is next to none.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

MOST = 4.0  # times as slow as an idle machine: what hangs on a busy one is found there too


class Stopwatch:
    """Runs from the moment at which it is made."""

    def __init__(self) -> None:
        self._begin, self._waited = time.monotonic(), _waited()

    @property
    def seconds(self) -> float:
        """Seconds so far, without those in which the machine was too busy."""
        passed = time.monotonic() - self._begin
        return max(passed / MOST, passed - (_waited() - self._waited))


def _waited() -> float:
    files = Path("/proc/pressure").glob("*")
    found = (re.search(r"^some .*total=(\d+)", file.read_text()) for file in files)
    return sum(int(some[1]) for some in found if some) / 1e6
