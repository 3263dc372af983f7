"""Waking those who wait: a channel says that something changed, the store says what."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from redis.exceptions import RedisError

from driftfold_workers.redis.link import PAUSE, RedisLink
from driftfold_workers.stopping import stopped

RECHECK = 5.0  # seconds: bounds the wait even where a broken connection goes unnoticed


class Waiter:
    """One who waits; looks at the store, then waits for a signal, and so on until `seconds` end."""

    def __init__(self, seconds: float) -> None:
        self._clock = asyncio.get_running_loop().time
        self._end = self._clock() + seconds
        self.event = asyncio.Event()

    async def again(self) -> bool:
        """Wait until it is worth another look; False when the time is over.

        What was signalled since the last call counts, so nothing is missed in between.
        """
        rest = self._end - self._clock()
        if rest <= 0:
            return False
        with suppress(TimeoutError):
            async with asyncio.timeout(min(rest, RECHECK)):
                await self.event.wait()
        self.event.clear()
        return True


class Signals:
    """Listens to one channel of Redis, on a connection of its own, once somebody waits.

    A signal can be missed (while the connection is renewed, say), so nobody relies on it alone:
    every new subscription wakes all, and whoever waits looks at the store before and after.
    """

    def __init__(self, link: RedisLink, channel: str) -> None:
        self._link = link
        self._channel = channel
        self._waiting: dict[str, set[Waiter]] = {}
        self._task: asyncio.Task[None] | None = None

    async def aclose(self) -> None:
        """Stop listening."""
        if self._task is not None:
            await stopped(self._task)

    @contextmanager
    def listen(self, topic: str, seconds: float) -> Iterator[Waiter]:
        """Hear of a topic, or with "" of every one, from now on."""
        if self._task is None:
            self._task = asyncio.create_task(self._listen(), name=f"signals of {self._channel}")
        waiter = Waiter(seconds)
        self._waiting.setdefault(topic, set()).add(waiter)
        try:
            yield waiter
        finally:
            self._waiting[topic].discard(waiter)
            if not self._waiting[topic]:
                del self._waiting[topic]

    async def _listen(self) -> None:
        client = self._link.listener()
        try:
            while True:
                with suppress(RedisError, OSError):
                    async with client.pubsub() as channel:
                        await channel.subscribe(self._channel)
                        while True:
                            message = await channel.get_message(timeout=None)
                            if message is not None:
                                self._wake(message["type"], message["data"])
                await asyncio.sleep(PAUSE)
        finally:
            await client.aclose()

    def _wake(self, kind: str, data: bytes) -> None:
        if kind == "message":
            woken = [*self._waiting.get(data.decode(), ()), *self._waiting.get("", ())]
        else:
            woken = [waiter for waiters in self._waiting.values() for waiter in waiters]
        for waiter in woken:
            waiter.event.set()
