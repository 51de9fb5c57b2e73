"""Time as it passes where nothing else is to be done: what the limits of tests are about.

Linux tells for how long some process has waited for a processor, a disk or memory. That time
counts here neither against what is measured nor for it; on an idle machine there is next to none.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

MOST = 40.0  # seconds that do not count, at most: what hangs on a busy machine hangs


class Stopwatch:
    """Runs from the moment at which it is made."""

    def __init__(self) -> None:
        self._begin, self._waited = time.monotonic(), _waited()

    @property
    def seconds(self) -> float:
        """Seconds so far, without those in which the machine was too busy."""
        busy = min(_waited() - self._waited, MOST)
        return max(0.0, time.monotonic() - self._begin - busy)


def _waited() -> float:
    files = Path("/proc/pressure").glob("*")
    found = (re.search(r"^some .*total=(\d+)", file.read_text()) for file in files)
    return sum(int(some[1]) for some in found if some) / 1e6
