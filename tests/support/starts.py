"""One start at a time, of whatever listens on ports that are chosen before they are bound."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def one_start_at_a_time() -> Iterator[None]:
    """Let nobody else start a kernel or a server meanwhile; not to be used within itself."""
    with (Path(tempfile.gettempdir()) / "agy-kernel-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
