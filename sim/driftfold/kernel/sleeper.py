"""A coroutine that does nothing but sleep: no task, and a third of the cost of one."""

import asyncio
from collections.abc import Coroutine
from contextvars import Context
from typing import TYPE_CHECKING, Any

from driftfold.kernel.handle import ReadyHandle

if TYPE_CHECKING:
    from driftfold.kernel.loop import VirtualLoop

_NO_CONTEXT = Context()


class Sleeper:
    """A coroutine stepped by the run loop itself, from one `kernel.sleep` to the next.

    It may await nothing else: there is no task that could wait for a future, and
    `asyncio.current_task` knows nothing of it. `launch` takes the first step at once, as an eager
    task does. What it raises later ends the run. The object is its own entry in the queue.

    Attributes
    ----------
    alive
        Whether the coroutine has not ended yet.

    Examples
    --------
    >>> import asyncio
    >>> from driftfold.kernel import launch, now, run, sleep
    >>> async def nap(seconds: float) -> None:
    ...     await sleep(seconds)
    ...     print(f"awake at {now()}")
    >>> async def main() -> None:
    ...     napping = launch(asyncio.get_running_loop(), nap(1.0))
    ...     await sleep(2.0)
    ...     print(napping.alive)
    >>> run(main())
    awake at 1.0
    False
    """

    # What the run loop and the queue ask of every entry: no task, and nothing to do once dead.
    task = None
    _cancelled = True

    __slots__ = ("_handle", "_loop", "_throw", "_when", "alive", "key", "send")

    def __init__(self, loop: "VirtualLoop", coro: Coroutine[Any, Any, None]) -> None:
        self._loop = loop
        self._throw = coro.throw
        self._handle: ReadyHandle | None = None
        self.send = coro.send
        self.alive = True

    def _step(self) -> None:
        try:
            awaited = self.send(None)
        except BaseException as end:
            self.alive = False
            if not isinstance(end, StopIteration):
                raise
            return
        self._park(awaited)

    def _park(self, awaited: Any) -> None:
        loop = self._loop
        delay = loop._park
        if delay is None or awaited is not None:
            self.alive = False
            raise _refusal(awaited)
        loop._park = None
        self.key: int | None = loop._park_key
        self._when = loop._now + delay
        if self._when > loop._now:
            loop._queue.push(self)
        else:
            self.requeue()

    def __repr__(self) -> str:
        coro: Any = self._throw.__self__  # type: ignore[attr-defined]
        return f"<Sleeper {coro.__qualname__}>"

    def requeue(self) -> None:
        """Go on after all that is due at this instant."""
        self._handle = ReadyHandle(self._go_on, (), _NO_CONTEXT)
        self._loop._ready.append(self._handle)

    def _go_on(self) -> None:
        self._handle = None
        if self.key is not None:
            self._loop.trace.add(self._when, self.key)
        self._step()

    def finish(self, end: BaseException) -> None:
        """Take up how the coroutine ended."""
        self.alive = False
        if isinstance(end, StopIteration):
            return
        if isinstance(end, KeyboardInterrupt | SystemExit):
            raise end
        context = {"message": "Failure of a coroutine", "exception": end, "handle": self}
        self._loop.call_exception_handler(context)

    def refuse(self, awaited: Any) -> None:
        """End a coroutine that awaited something else."""
        self._loop._park = None
        self.finish(_refusal(awaited))

    def cancel(self) -> bool:
        """Raise `CancelledError` where the coroutine sleeps, at once; False if it has ended.

        Raises `RuntimeError` when it goes on to sleep: one that is cancelled has to end.
        """
        if not self.alive:
            return False
        self.alive = False
        if self._handle is None:
            self._loop._queue.forget(self)
        else:
            self._handle.cancel()
        try:
            awaited = self._throw(asyncio.CancelledError())
        except (StopIteration, asyncio.CancelledError):
            return True
        self._loop._park = None
        raise _refusal(awaited)


def launch(loop: "VirtualLoop", coro: Coroutine[Any, Any, None]) -> Sleeper | None:
    """Take the first step of a coroutine, and return the `Sleeper` that takes the others.

    None if it has ended with the first, as visits without delays do.
    """
    try:
        awaited = coro.send(None)
    except StopIteration:
        return None
    sleeper = Sleeper(loop, coro)
    sleeper._park(awaited)
    return sleeper


def _refusal(awaited: Any) -> RuntimeError:
    what = "slept on when it was cancelled" if awaited is None else f"awaited {awaited!r}"
    return RuntimeError(
        f"a coroutine made a Sleeper {what}; it may await nothing but kernel.sleep, and has to "
        "end when it is cancelled; for anything else make it a task"
    )
