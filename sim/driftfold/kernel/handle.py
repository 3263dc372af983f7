"""What the loop schedules: callbacks for the present instant, timers, and parked tasks."""

import asyncio
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from driftfold.kernel.loop import VirtualLoop
    from driftfold.kernel.task import VirtualTask


class ReadyHandle(asyncio.Handle):
    """A callback due at the present instant."""

    # The base class's own slots, without the source tracebacks and repr caches it fills in.
    __slots__ = ()

    _callback: Callable[..., object] | None
    _args: tuple[Any, ...]
    _context: Context
    _cancelled: bool

    def __init__(
        self, callback: Callable[..., object], args: tuple[Any, ...], context: Context | None
    ) -> None:
        self._callback = callback
        self._args = args
        self._context = copy_context() if context is None else context
        self._cancelled = False

    def cancel(self) -> None:
        """Do not run; nothing happens if it ran already."""
        self._cancelled = True
        self._callback = None
        self._args = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {'cancelled' if self._cancelled else self._callback!r}>"


class Timer(asyncio.TimerHandle):
    """A callback due at a later time."""

    __slots__ = ()

    _callback: Callable[..., object] | None
    _args: tuple[Any, ...]
    _context: Context
    _cancelled: bool
    _loop: "VirtualLoop"
    _when: float

    # Shared with `Parked`: an entry of the queue without a task is a timer, or was cancelled.
    task = None

    def __init__(
        self,
        when: float,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        context: Context | None,
        loop: "VirtualLoop",
    ) -> None:
        self._when = when
        self._callback = callback
        self._args = args
        self._context = copy_context() if context is None else context
        self._cancelled = False
        self._loop = loop
        self._scheduled = True

    def cancel(self) -> None:
        """Do not run; nothing happens if it ran already."""
        if not self._cancelled:
            self._cancelled = True
            self._callback = None
            self._args = ()
            if self._scheduled:
                self._scheduled = False
                self._loop._queue.forget(self)

    def __repr__(self) -> str:
        state = "cancelled" if self._cancelled else repr(self._callback)
        return f"<Timer when={self._when!r} {state}>"


class Parked:
    """A task asleep in `kernel.sleep`, with all that waking it needs.

    One object serves a task for as long as it goes from sleep to sleep.
    """

    _cancelled = True  # where there is no task

    __slots__ = ("_when", "context", "key", "send", "step", "task")

    def __init__(
        self,
        when: float,
        key: int | None,
        task: "VirtualTask[Any]",
        step: Callable[[], object],
        context: Context,
    ) -> None:
        self._when = when
        self.key = key
        # None once the sleep was cancelled: the entry is then a dead one, skipped in its turn.
        self.task: VirtualTask[Any] | None = task
        self.step = step
        self.send: Callable[[Any], Any] = task.get_coro().send
        self.context = context
