"""Many who watch: bare connections to streams, read by one loop that costs little itself."""

import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

GET = "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"
BATCH = 200  # connections that are opened before the first of them must be answered
CHUNK = 2**18


@dataclass(eq=False)
class Watcher:
    """One stream: how often its mark has come, and the bytes read."""

    socket: socket.socket
    mark: bytes
    seen: int = 0
    size: int = 0
    rest: bytes = b""

    def take(self) -> None:
        """Read what is there."""
        got = self.socket.recv(CHUNK)
        assert got, "the server ended the stream"
        text = self.rest + got
        self.seen += text.count(self.mark)
        self.size += len(got)
        # A mark may be cut in two; one that is whole is not kept, to be counted once.
        tail = text[-(len(self.mark) - 1) :]
        self.rest = b"" if self.mark in tail else tail


class Crowd:
    """Watchers of some streams."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self.watchers = watchers
        self._selector = selectors.DefaultSelector()
        for watcher in watchers:
            self._selector.register(watcher.socket, selectors.EVENT_READ, watcher)

    def until(self, seen: int) -> int:
        """Read until each has seen its mark so often; return the most that one was behind another.

        Whoever has seen more than another one was served before it: events, not time.
        """
        behind = [watcher for watcher in self.watchers if watcher.seen < seen]
        worst = 0
        while behind:
            for key, _ in self._selector.select():
                key.data.take()
            behind = [watcher for watcher in behind if watcher.seen < seen]
            if behind:
                told = [watcher.seen for watcher in self.watchers]
                worst = max(worst, max(told) - min(told))
        return worst

    @property
    def size(self) -> int:
        """Bytes read by all."""
        return sum(watcher.size for watcher in self.watchers)


@contextmanager
def crowd(port: int, paths: Sequence[str], mark: bytes = b"\nid: ") -> Iterator[Crowd]:
    """Open a stream for each path."""
    watchers: list[Watcher] = []
    try:
        for first in range(0, len(paths), BATCH):
            asked = [(path, _ask(port, path)) for path in paths[first : first + BATCH]]
            watchers += [_watch(port, path, one, mark) for path, one in asked]
        yield Crowd(watchers)
    finally:
        for watcher in watchers:
            watcher.socket.close()


@contextmanager
def stalled(port: int, paths: Sequence[str]) -> Iterator[None]:
    """Have clients that ask for streams and read nothing; their windows are small."""
    sockets = []
    try:
        for path in paths:
            sockets.append(one := socket.socket())
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.connect(("127.0.0.1", port))
            one.sendall(GET.format(path=path).encode())
        yield
    finally:
        for one in sockets:
            with suppress(OSError):
                one.close()


def _ask(port: int, path: str) -> socket.socket:
    one = socket.create_connection(("127.0.0.1", port))
    one.sendall(GET.format(path=path).encode())
    return one


def _watch(port: int, path: str, one: socket.socket, mark: bytes) -> Watcher:
    """Return a watcher whose stream has begun; a service that is busy is asked again."""
    watcher = Watcher(one, mark)
    while True:
        head = one.recv(12, socket.MSG_PEEK | socket.MSG_WAITALL)
        if head.endswith(b"200"):
            watcher.take()
            return watcher
        assert head.endswith(b"503"), head
        one.close()
        time.sleep(0.5)
        watcher.socket = one = _ask(port, path)
