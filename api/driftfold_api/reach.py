"""Whether the job store can be reached: while it cannot, hardly anybody waits for it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from driftfold_workers.jobs.store import StoreError, StoreRefuses, StoreUnreachable

T = TypeVar("T")

WITHIN = 5.0  # seconds: longer than a busy machine takes, for what is recorded may be older
AGAIN = 0.5  # seconds until it is asked again


class Reach:
    """Asks the job store, and once it did not answer only one at a time, now and then.

    Before the first call, and whenever the store was away, `check` is called: it raises
    `StoreUnreachable` where the store is not the right one.
    """

    def __init__(
        self,
        within: float = WITHIN,
        again: float = AGAIN,
        check: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._within = within
        self._check = check
        self._checked = check is None
        self._pause = again
        self._away = ""
        self._trying = False
        self._next = 0.0

    @property
    def lost(self) -> bool:
        """Whether it did not answer the last time."""
        return bool(self._away)

    def doubt(self) -> None:
        """Check the store again before it is asked anything: it may be another one."""
        self._checked = self._check is None

    async def ask(self, call: Callable[[], Awaitable[T]], wait: float = 0.0) -> T:
        """Return what a call returns; it may take `wait` seconds of its own.

        Raises `StoreUnreachable` at once while the store is known to be away.
        """
        clock = asyncio.get_running_loop().time
        if self._away and (self._trying or clock() < self._next):
            raise StoreUnreachable(self._away)
        self._trying = self.lost
        try:
            async with asyncio.timeout(self._within + wait):
                if not self._checked and self._check is not None:
                    await self._check()
                    self._checked = True
                answer = await call()
        except (StoreUnreachable, TimeoutError) as error:
            if isinstance(error, StoreRefuses):  # it answers
                self._away = ""
                raise
            told = str(error) or f"the job store gave no answer for {self._within:g} s"
            self._away, self._next = told, clock() + self._pause
            self.doubt()
            raise StoreUnreachable(told) from error
        except StoreError:
            self._away = ""
            raise
        finally:
            self._trying = False
        self._away = ""
        return answer
