"""The network between a worker and the job store: a proxy that can stall and break connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Self
from urllib.parse import urlsplit

from driftfold_workers.stopping import stopped


class Network:
    """Passes everything on, unless it is stalled; breaks all connections when told to."""

    def __init__(self, url: str) -> None:
        self._server = urlsplit(url)
        self._flows = asyncio.Event()
        self._flows.set()
        self._lines: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[None]] = set()
        self._port = 0

    @classmethod
    @asynccontextmanager
    async def before(cls, url: str) -> AsyncIterator[Self]:
        """A network before the server at `url`."""
        network = cls(url)
        listening = await asyncio.start_server(network._serve, "127.0.0.1", 0)
        network._port = listening.sockets[0].getsockname()[1]
        try:
            yield network
        finally:
            listening.close()
            network.flow()
            network.reset()
            await stopped(*network._serving)

    @property
    def url(self) -> str:
        """The address of the server, by way of this network."""
        return f"redis://:{self._server.password}@127.0.0.1:{self._port}/0"

    def stall(self) -> None:
        """Hold everything back from now on."""
        self._flows.clear()

    def flow(self) -> None:
        """Let everything pass that was held back."""
        self._flows.set()

    def reset(self) -> int:
        """Break all connections, with what is on its way; how many there were."""
        lines = list(self._lines)
        for line in lines:
            line.transport.abort()
        return len(lines)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        # Streams of Python 3.11 report a cancellation as if it were a failure.
        with suppress(OSError, asyncio.CancelledError):
            there = await asyncio.open_connection(self._server.hostname, self._server.port)
            self._lines |= {writer, there[1]}
            try:
                passing = (self._pass(reader, there[1]), self._pass(there[0], writer))
                await asyncio.gather(*passing)
            finally:
                self._lines -= {writer, there[1]}
                there[1].close()
        writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                await self._flows.wait()
                writer.write(data)
        writer.close()
