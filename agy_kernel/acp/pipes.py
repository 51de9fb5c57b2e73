"""The pipes of a child process, and the news of its end.

asyncio's own ``Process.wait`` waits until every pipe is closed too, and a descendant that lives on
can hold them open for ever; so the end of the process is an event of its own here.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import cast

from .framing import FrameSplitter, Line

STREAM_LIMIT = 4 * 1024 * 1024
STDERR_BYTES = 64 * 1024
STDERR_LINE = 1024 * 1024
MOST_UNREAD = 256 * 1024 * 1024
STDIN, STDOUT, STDERR = 0, 1, 2


class Pipes(asyncio.SubprocessProtocol):
    """The parent's side of stdin, stdout and stderr; writes like a ``Peer`` wants it.

    Args:
        on_stderr: called with each line of stderr; the last of it is kept here.
    """

    def __init__(self, on_stderr: Callable[[bytes], None]) -> None:
        self._on_stderr = on_stderr
        self._lines = FrameSplitter(STDERR_LINE)
        self._stderr: deque[bytes] = deque()
        self._stderr_size = 0
        self._discarding = False
        self._transport: asyncio.SubprocessTransport
        self._deaf = asyncio.Event()
        self.stdout = asyncio.StreamReader(limit=STREAM_LIMIT)
        self.exited = asyncio.Event()
        self.stderr_ended = asyncio.Event()
        self.closed = asyncio.Event()

    # -- for the parent

    def write(self, data: bytes, /) -> None:
        """Write to stdin; one that is never read is closed: we cannot keep everything."""
        if self._stdin.is_closing():
            return
        self._stdin.write(data)
        if self._stdin.get_write_buffer_size() > MOST_UNREAD:
            self._stdin.abort()

    async def wait_closed(self) -> None:
        """Wait until nobody reads stdin: it was closed, or the process has ended."""
        await self._deaf.wait()

    def close_stdin(self) -> None:
        """Close stdin when all that was written has gone out."""
        self._stdin.close()

    def discard_output(self) -> None:
        """Throw away what comes on stdout: a process that nobody listens to could not end."""
        self._discarding = True
        cast(asyncio.ReadTransport, self._transport.get_pipe_transport(STDOUT)).resume_reading()

    def stderr_tail(self) -> bytes:
        """The last bytes of stderr."""
        return b"".join(self._stderr)

    @property
    def _stdin(self) -> asyncio.WriteTransport:
        return cast(asyncio.WriteTransport, self._transport.get_pipe_transport(STDIN))

    def close(self) -> None:
        """Close every pipe, whoever else holds its other end."""
        if self._stdin.get_write_buffer_size():
            self._stdin.abort()
        self._transport.close()

    # -- for asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process was started."""
        self._transport = cast(asyncio.SubprocessTransport, transport)
        stdout = self._transport.get_pipe_transport(STDOUT)
        self.stdout.set_transport(cast(asyncio.ReadTransport, stdout))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """The process has written."""
        if fd == STDERR:
            self._keep(data)
            for line in self._lines.feed(data):
                self._tell(line)
        elif not self._discarding:
            self.stdout.feed_data(data)

    def pipe_connection_lost(self, fd: int, _: Exception | None) -> None:
        """A pipe is closed."""
        if fd == STDIN:
            self._deaf.set()
        elif fd == STDOUT:
            self.stdout.feed_eof()
        else:
            self._tell(self._lines.rest())
            self.stderr_ended.set()

    def process_exited(self) -> None:
        """The process has ended; its descendants may still hold the pipes."""
        self.exited.set()
        self._deaf.set()

    def connection_lost(self, _: Exception | None) -> None:
        """The process has ended and every pipe is closed."""
        self.closed.set()

    def _tell(self, line: Line) -> None:
        if data := line if isinstance(line, bytes) else line.head:
            self._on_stderr(data)

    def _keep(self, data: bytes) -> None:
        self._stderr.append(data[-STDERR_BYTES:])
        self._stderr_size += len(self._stderr[-1])
        while self._stderr_size > STDERR_BYTES and len(self._stderr) > 1:
            self._stderr_size -= len(self._stderr.popleft())
