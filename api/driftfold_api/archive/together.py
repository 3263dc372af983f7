"""Group commit: what several ask for at once is one transaction, and one wait for the disk."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from sqlalchemy import Connection

from driftfold_api.archive.database import Work
from driftfold_workers.jobs.store import StoreError

T = TypeVar("T")

MOST = 100  # requests in one transaction


class Together:
    """Carries out what comes in while a transaction is on its way in the next one, together.

    A piece of work may refuse by a `StoreError` before it has written anything; the others are
    done all the same. Where one fails otherwise each has a transaction of its own, unless that is
    `trouble` of the database, which all have. Work whose caller has left is done, too.
    """

    def __init__(
        self,
        transact: Callable[[Work[Any]], Awaitable[Any]],
        trouble: Callable[[Exception], bool],
    ) -> None:
        self._transact = transact
        self._trouble = trouble
        self._waiting: list[tuple[Work[Any], asyncio.Future[Any]]] = []
        self._running: asyncio.Task[None] | None = None

    async def do(self, work: Work[T]) -> T:
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

    async def _commit(self, batch: list[Work[Any]]) -> list[Any]:
        def all_of_them(connection: Connection) -> list[Any]:
            results: list[Any] = []
            for work in batch:
                try:
                    results.append(work(connection))
                except StoreError as refusal:
                    results.append(refusal)
            return results

        try:
            done: list[Any] = await self._transact(all_of_them)
            return done
        except Exception as error:
            # Nothing of it was committed. In trouble of the database nothing would be one by one.
            if len(batch) == 1 or isinstance(error, StoreError) or self._trouble(error):
                return [error] * len(batch)
            return [(await self._commit([work]))[0] for work in batch]
