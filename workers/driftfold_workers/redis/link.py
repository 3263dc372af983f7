"""The link to Redis: few connections, patience while the server restarts, our own errors."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    ClusterDownError,
    MasterDownError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from driftfold_workers.jobs.store import (
    Conflict,
    Fenced,
    StoreError,
    StoreRefuses,
    StoreUnreachable,
    UnknownJob,
)
from driftfold_workers.redis.keys import Keys
from driftfold_workers.redis.script import Script

T = TypeVar("T")
Argument = str | bytes | int | float

CONNECTIONS = 8
ANSWER_WITHIN = 5.0  # seconds, after which a silent server is asked again
PAUSE = 0.05  # seconds between two tries
UNREACHABLE = (RedisConnectionError, RedisTimeoutError, OSError)
# No room on its disk or in its memory, no replicas, a script that takes long, a change of masters.
NOT_NOW = ("MISCONF", "NOREPLICAS", "BUSY")
NOT_NOW_ERRORS = (ClusterDownError, MasterDownError, OutOfMemoryError, ReadOnlyError)
PLACE_IN_SCRIPT = re.compile(r"\.? script: ([0-9a-f]{40}, )?on @.*$", re.DOTALL)
REFUSALS = {"UNKNOWN": UnknownJob, "FENCED": Fenced, "CONFLICT": Conflict, "GAP": StoreError}


class RedisLink:
    """Sends commands and scripts; tries again for `patience` seconds while nobody answers.

    A call may therefore reach the server twice. Scripts know a repeated one by its nonce.
    """

    def __init__(self, url: str, keys: Keys, patience: float) -> None:
        self.keys = keys
        self._url = url
        self._patience = patience
        self._client = self._connect(ANSWER_WITHIN)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    def listener(self) -> Redis:
        """Return a client with connections of its own that may be silent for long."""
        return self._connect(None)

    async def script(self, script: Script, keys: Sequence[str], *args: Argument) -> Any:
        """Run a script on the keys it may touch; the errors it returns are raised as ours."""

        async def send(redis: Any) -> Any:
            try:
                return await redis.evalsha(script.digest, len(keys), *keys, *args)
            except NoScriptError:  # a new server, or one that was restarted
                return await redis.eval(script.source, len(keys), *keys, *args)

        return await self.call(send)

    async def call(self, send: Callable[[Any], Awaitable[T]]) -> T:
        """Return what `send` returns once the server answers.

        It is given the client of redis-py, whose own types are too wide to be of use.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._patience
        while True:
            try:
                return await heeding_cancel(send(self._client))
            except AuthenticationError as error:  # which redis-py takes for a lost connection
                raise StoreError(
                    f"the job store at {self._place()} wants another password: {error}; correct "
                    "REDIS_URL"
                ) from error
            except UNREACHABLE as error:
                if clock() >= deadline:
                    raise StoreUnreachable(
                        f"the job store at {self._place()} gave no answer for "
                        f"{self._patience:g} s ({error}); start it, or correct REDIS_URL"
                    ) from error
            except ResponseError as error:
                said = PLACE_IN_SCRIPT.sub("", str(error))
                code, _, message = said.partition(" ")
                if code in REFUSALS:
                    raise REFUSALS[code](message) from None
                if code in NOT_NOW or isinstance(error, NOT_NOW_ERRORS):
                    raise StoreRefuses(
                        f"the job store at {self._place()} takes no writes now: {said}; once that "
                        "is mended, work goes on by itself",
                        words=message if code.isupper() else said,
                    ) from error
                raise StoreError(f"the job store at {self._place()} refused: {said}") from error
            except RedisError as error:
                raise StoreError(f"the job store at {self._place()} failed: {error}") from error
            await asyncio.sleep(PAUSE)

    def _connect(self, answer_within: float | None) -> Redis:
        # A bounded pool whose callers queue: the usual one raises at its limit.
        try:
            pool = BlockingConnectionPool.from_url(
                self._url,
                max_connections=CONNECTIONS,
                timeout=None,
                socket_timeout=answer_within,
                socket_connect_timeout=ANSWER_WITHIN,
                protocol=2,
                retry=Retry(NoBackoff(), 0),  # `call` tries again, and says when it gives up
            )
        except ValueError as error:
            raise StoreError(
                f"{self._place()!r} is no address of a job store: {error}; correct REDIS_URL"
            ) from error
        return Redis.from_pool(pool)

    def _place(self) -> str:
        return place_of(self._url)


def place_of(url: str) -> str:
    """Return the address of a store without its password, and with what redis-py adds to it.

    >>> place_of("redis://:secret@queue.example/2"), place_of("redis://"), place_of("unix:///r.sock")
    ('redis://queue.example:6379/2', 'redis://localhost:6379', 'unix:///r.sock')
    """
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    if parts.scheme in ("redis", "rediss"):
        host, colon, port = place.rpartition(":")
        if not colon or "]" in port:  # no port: the colon is one of an address of IPv6
            host, port = place, ""
        place = f"{host or 'localhost'}:{port or 6379}"
    return f"{parts.scheme}://{place}{parts.path}"


async def heeding_cancel(call: Awaitable[T]) -> T:
    """Return what a call of redis-py gives; a cancellation that it dropped is raised.

    It sends through `asyncio.wait_for`, which in Python 3.11 drops one that comes in the moment in
    which the sending is done. The task knows how often it was canceled.
    """
    task = asyncio.current_task()
    assert task is not None
    before = task.cancelling()
    try:
        return await call
    finally:
        if task.cancelling() > before:
            raise asyncio.CancelledError


def to_ms(seconds: float) -> int:
    """Return whole milliseconds, at least one for any time at all."""
    return max(round(seconds * 1000), 1 if seconds > 0 else 0)
