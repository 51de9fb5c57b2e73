"""This program's own standard input and output, in the form that a ``Peer`` wants."""

from __future__ import annotations

import asyncio
import os
import threading

STDIN, STDOUT = 0, 1
READ_SIZE = 256 * 1024


class Stdin:
    """Standard input, read by a thread: the one way that also works for files and on Windows."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stream = asyncio.StreamReader()
        threading.Thread(target=self._pump, name="stdin", daemon=True).start()

    async def read(self, n: int, /) -> bytes:
        """Some bytes; ``b""`` is the end."""
        return await self._stream.read(n)

    def _pump(self) -> None:
        try:
            while data := os.read(STDIN, READ_SIZE):
                self._loop.call_soon_threadsafe(self._stream.feed_data, data)
            self._loop.call_soon_threadsafe(self._stream.feed_eof)
        except RuntimeError:
            pass  # the loop is closed: the program ends


class Stdout:
    """Standard output; a write waits until the client has room for it, which holds us back."""

    def __init__(self) -> None:
        self._broken = asyncio.Event()

    def write(self, data: bytes, /) -> None:
        """Write all of it; to a client that is gone it goes nowhere."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(STDOUT, rest) :]
        except OSError:
            self._broken.set()

    async def wait_closed(self) -> None:
        """Wait until the client has stopped reading."""
        await self._broken.wait()
