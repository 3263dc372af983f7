"""The server of the API: uvicorn, which ends streams when it is told to stop."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI

from driftfold_api.errors import RequestError
from driftfold_api.feeds import Feeds
from driftfold_workers.stopping import stopped

BACKLOG = 2048  # connections that wait to be accepted
STOP_WITHIN = 10  # seconds for requests that are being answered
END_WITHIN = 0.3  # seconds for clients to take what is on its way to them when streams end


class Server(uvicorn.Server):
    """Serves an app of `create_app`.

    By itself uvicorn waits for open streams until the last client has left.
    """

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to whoever runs the event loop: uvicorn would raise them again later."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all streams, then stop."""
        app: FastAPI = self.config.app  # type: ignore[assignment]
        app.state.service.close()
        leaving = asyncio.create_task(self._leave(app.state.service.feeds))
        try:
            await super().shutdown(sockets)
        finally:
            await stopped(leaving)

    async def _leave(self, feeds: Feeds) -> None:
        """Leave those who take nothing: once they are back they ask for what they have not."""
        while True:
            await asyncio.sleep(END_WITHIN)
            stalled = feeds.stalled()
            connections: set[Any] = self.server_state.connections
            for connection in [one for one in connections if one.client in stalled]:
                connection.transport.abort()


def server_of(app: FastAPI, *, log_level: str = "warning") -> Server:
    """Return a server for an app; give its `serve` a socket from `listen`."""
    config = uvicorn.Config(
        app,
        log_config=None,  # whoever runs the process says where to
        log_level=log_level,
        access_log=False,  # see observing.py
        lifespan="on",
        backlog=BACKLOG,
        timeout_graceful_shutdown=STOP_WITHIN,
        ws="none",
        server_header=False,
    )
    return Server(config)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address; port 0 takes a free one.

    Raises
    ------
    RequestError
        The address cannot be had.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(address)
            listening.listen(BACKLOG)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        raise RequestError(
            f"cannot listen at {host}, port {port}: {(error.strerror or str(error)).lower()}; "
            "choose another --port (0 takes a free one) or --host"
        ) from None
    return listening


def url_of(listening: socket.socket) -> str:
    """Return the address that a client of this machine uses."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
