"""Group commit: what several ask for at once is one transaction, and one wait for the disk."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

from driftfold_workers.store import StoreError

T = TypeVar("T")

MOST = 100  # requests in one transaction


class Together:
    """Carries out what comes in while a transaction is on its way in the next one, together.

    A piece of work may refuse by a `StoreError` before it has written anything; the others are
    done all the same. Work whose caller has left is done, too.
    """

    def __init__(
        self, transaction: Callable[[], AbstractAsyncContextManager[AsyncConnection]]
    ) -> None:
        self._transaction = transaction
        self._waiting: list[
            tuple[Callable[[AsyncConnection], Awaitable[Any]], asyncio.Future[Any]]
        ] = []
        self._running: asyncio.Task[None] | None = None

    async def do(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """Return what work returns, once it is committed."""
        outcome: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append((work, outcome))
        if self._running is None:
            self._running = asyncio.create_task(self._run(), name="group commit")
        return await outcome

    async def done(self) -> None:
        """Wait until nothing is left to do."""
        if self._running is not None:
            await self._running

    async def _run(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
                results = await self._commit([work for work, _ in batch])
                for (_, outcome), result in zip(batch, results, strict=True):
                    if outcome.done():  # its caller has left
                        continue
                    if isinstance(result, BaseException):
                        outcome.set_exception(result)
                    else:
                        outcome.set_result(result)
        finally:
            self._running = None

    async def _commit(self, batch: list[Callable[[AsyncConnection], Awaitable[Any]]]) -> list[Any]:
        results: list[Any] = []
        try:
            async with self._transaction() as connection:
                for work in batch:
                    try:
                        results.append(await work(connection))
                    except StoreError as refusal:
                        results.append(refusal)
        except Exception as error:
            return [error] * len(batch)  # nothing of it was committed
        return results
