"""The job store in Redis: queue, logs and window as one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

from driftfold_workers.queue.holding import RedisHolding
from driftfold_workers.queue.queue import RedisQueue
from driftfold_workers.redis.keys import Keys
from driftfold_workers.redis.link import RedisLink
from driftfold_workers.window.window import RedisWindow


class RedisJobStore(RedisQueue):
    """Jobs, leases and logs in a Redis or Valkey server.

    What a reply acknowledges survives a kill of the server (append-only file), and all but the
    last second of it a loss of power.
    """

    def __init__(self, link: RedisLink) -> None:
        super().__init__(link)
        self.window = RedisWindow(link)
        self.holding = RedisHolding(link)

    @classmethod
    @asynccontextmanager
    async def open(
        cls, url: str, *, prefix: str = "df", patience: float = 10.0
    ) -> AsyncIterator[Self]:
        """Open the store at a URL such as redis://host:6379/0 or unix:///path.

        While the server does not answer, calls wait for `patience` seconds before they raise
        `StoreUnreachable`. Nothing is sent before the first call.
        """
        store = cls(RedisLink(url, Keys(prefix), patience))
        try:
            yield store
        finally:
            await store._bell.aclose()
            await store._pulse.aclose()
            await store._link.aclose()
