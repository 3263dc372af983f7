"""Proxies between a store and its server: one loses replies, one stalls, one keeps one back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit


class Losing:
    """Passes everything on, but breaks the connection instead of passing the next reply on.

    `lose` says how many replies are still to be lost; only those to scripts count.
    """

    def __init__(self, url: str) -> None:
        self._server = urlsplit(url)
        self.lose = 0
        self.lost = 0
        self.port = 0

    @property
    def url(self) -> str:
        """The address of the server, by way of the proxy."""
        return f"redis://:{self._server.password}@127.0.0.1:{self.port}/0"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        there = await asyncio.open_connection(self._server.hostname, self._server.port)
        script = False

        async def ask() -> None:
            nonlocal script
            while data := await reader.read(65536):
                script = b"EVAL" in data  # or EVALSHA
                there[1].write(data)
            there[1].close()

        asking = asyncio.create_task(ask())
        with suppress(ConnectionError):
            while data := await there[0].read(65536):
                if script and self.lose and not data.startswith(b"-NOSCRIPT"):
                    self.lose -= 1
                    self.lost += 1
                    break
                writer.write(data)
        asking.cancel()
        writer.close()
        there[1].close()


class Stalling:
    """Passes everything on, except while `flows` is not set: then it holds all back."""

    def __init__(self, url: str) -> None:
        self._server = urlsplit(url)
        self.flows = asyncio.Event()
        self.flows.set()
        self.port = 0

    @property
    def url(self) -> str:
        """The address of the server, by way of the proxy."""
        return f"redis://:{self._server.password}@127.0.0.1:{self.port}/0"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        there = await asyncio.open_connection(self._server.hostname, self._server.port)
        await asyncio.gather(self._pass(reader, there[1]), self._pass(there[0], writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                await self.flows.wait()
                writer.write(data)
        writer.close()


class Withholding:
    """Passes everything on but the reply to a script that has `word` among its arguments.

    `withheld` is set once it has come: the server has done what was asked, and who asked waits.
    """

    def __init__(self, url: str, word: str) -> None:
        self._server = urlsplit(url)
        self._argument = f"${len(word)}\r\n{word}\r\n".encode()
        self.withheld = asyncio.Event()
        self.port = 0

    @property
    def url(self) -> str:
        """The address of the server, by way of the proxy."""
        return f"redis://:{self._server.password}@127.0.0.1:{self.port}/0"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        there = await asyncio.open_connection(self._server.hostname, self._server.port)
        asked = False

        async def ask() -> None:
            nonlocal asked
            while data := await reader.read(1 << 20):
                asked = self._argument in data
                there[1].write(data)
            there[1].close()

        asking = asyncio.create_task(ask())
        with suppress(ConnectionError):
            while data := await there[0].read(65536):
                if asked and not data.startswith(b"-NOSCRIPT"):
                    self.withheld.set()
                else:
                    writer.write(data)
        asking.cancel()
        writer.close()


@asynccontextmanager
async def stalling(url: str) -> AsyncIterator[Stalling]:
    """A proxy before the server at `url`, until all its connections are closed."""
    proxy = Stalling(url)
    listening = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield proxy
        proxy.flows.set()


@asynccontextmanager
async def withholding(url: str, word: str) -> AsyncIterator[Withholding]:
    """A proxy before the server at `url`."""
    proxy = Withholding(url, word)
    listening = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield proxy


@asynccontextmanager
async def losing(url: str) -> AsyncIterator[Losing]:
    """A proxy before the server at `url`."""
    proxy = Losing(url)
    listening = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield proxy
