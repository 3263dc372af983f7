"""`VirtualLoop`: an asyncio event loop whose clock jumps to the next event.

How a `kernel.sleep` works, since everything is built around it:

1. `sleep` leaves its delay on the loop (`_park`) and yields bare. Whoever stepped the task takes
   the delay from there and files the task in the queue, as a `Parked`. No Future, no timer.
2. A bare yield makes asyncio's own task ask `call_soon` for its next step at once; there the loop
   parks it instead. So a task's first sleep (and the first one after it awaited anything else)
   takes that way.
3. When a sleep is over, the run loop (`engine`) steps the coroutine itself. If it goes to sleep
   again it is filed again right there: no call, no new object. If it awaits anything else,
   `steps.hand_over` gives it back to asyncio's task; if it ends, `steps.finish` ends that task.

Order: what is scheduled for the present instant goes to the end of `_ready`, what is later to the
queue. When time advances, all events of the new instant fire in the order in which they were
scheduled, then `_ready` is worked off, first in first out.
"""

import asyncio
import threading
from asyncio.tasks import _leave_task
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from operator import index
from typing import Any, TypeVar, TypeVarTuple

from driftfold.kernel.collector import Sweeper, patient_collector
from driftfold.kernel.engine import run_slice
from driftfold.kernel.errors import Deadlock, OutsideVirtualTime
from driftfold.kernel.failures import Failures
from driftfold.kernel.handle import Parked, ReadyHandle, Timer
from driftfold.kernel.queue import EventQueue
from driftfold.kernel.realtime import Pacer
from driftfold.kernel.refuse import InsideOnlyLoop
from driftfold.kernel.running import here
from driftfold.kernel.task import VirtualTask
from driftfold.kernel.trace import EventTrace
from driftfold.kernel.waiting import waiters

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_SLICE = 4096  # turns of the run loop between looks at the queue, the digest and the collector
_NO_CONTEXT = Context()


class VirtualLoop(InsideOnlyLoop):
    """An asyncio event loop in virtual time.

    Parameters
    ----------
    start
        Virtual time at which it starts, in seconds.
    realtime
        Virtual seconds that pass in a second of wall time; None runs as fast as it can.

    Examples
    --------
    >>> import asyncio
    >>> loop = VirtualLoop(start=10.0)
    >>> loop.run_until_complete(asyncio.sleep(5.0, "rested"))
    'rested'
    >>> loop.time()
    15.0
    >>> loop.close()
    """

    # In slots because `sleep` and the run loop reach for them at every event.
    __slots__ = ("_now", "_park", "_park_key")

    def __init__(self, *, start: float = 0.0, realtime: float | None = None) -> None:
        super().__init__()
        self._now = float(start)
        self._pacer = None if realtime is None else Pacer(realtime)
        self._queue = EventQueue()
        self._trace = EventTrace()
        self._failures = Failures()
        self._sweeper = Sweeper()
        self._park: float | None = None  # a delay left by `sleep`, to be taken up at once
        self._park_key: int | None = None

    # The clock and the run's own events

    def time(self) -> float:
        """Virtual time in seconds."""
        return self._now

    def peek(self) -> float | None:
        """Time of the next thing to happen, or None if nothing is scheduled."""
        return self._now if self._ready else self._queue.next_time()

    def record(self, key: int) -> None:
        """Add the event `key` (0 to 2**63 - 1) at the present time to the digest."""
        if not 0 <= key < 2**63:
            raise ValueError(f"record() got the key {key!r}; an event's key is in 0 ... 2**63 - 1")
        self._trace.add(self._now, index(key))

    @property
    def trace(self) -> EventTrace:
        """The digest of the run's own events, for those who save and restore it."""
        return self._trace

    @property
    def events(self) -> int:
        """How many of the run's own events there were."""
        return self._trace.count

    def digest(self) -> str:
        """Hexadecimal digest of the run's own events so far, in their order."""
        return self._trace.digest()

    # Scheduling

    def create_task(
        self,
        coro: Coroutine[Any, Any, T] | Generator[Any, None, T],
        *,
        name: Any = None,
        context: Context | None = None,
        **options: Any,
    ) -> asyncio.Task[T]:
        """Make a task of a coroutine."""
        if self._task_factory is not None:
            task = super().create_task(coro, name=name, context=context, **options)
        else:
            self._check_closed()
            task = VirtualTask(coro, loop=self, name=name, context=context, **options)
        task.add_done_callback(note_end, context=_NO_CONTEXT)
        return task

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Call back at this instant, after all that is already due."""
        if self._park is not None:
            return self._call_parked(callback, args, context)
        if callback is note_end:
            note_end(*args)  # comes with every task that ends: no handle for it
            return _NO_HANDLE
        if self._debug or self._closed:
            self._check_call(callback, "call_soon")
        handle = ReadyHandle(callback, args, context)
        self._ready.append(handle)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Call back at this instant; refused from any thread but the loop's own."""
        if self._thread_id not in (None, threading.get_ident()):
            raise OutsideVirtualTime(
                "call_soon_threadsafe() was called from another thread: virtual time has no "
                "outside that could interrupt it; do the work on the loop's own thread, or on a "
                "real asyncio loop"
            )
        return self.call_soon(callback, *args, context=context)

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Call back after `delay` seconds of virtual time."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Call back at virtual time `when`; at this instant if that is past."""
        if self._debug or self._closed:
            self._check_call(callback, "call_at")
        if type(when) is not float:
            when = float(when)
        timer = Timer(when, callback, args, context, self)
        if when > self._now:
            self._queue.push(timer)
        elif when <= self._now:
            timer._scheduled = False
            self._ready.append(timer)
        else:
            raise ValueError(f"call_at() got the time {when!r}; it must be a number of seconds")
        return timer

    def _call_parked(
        self, step: Callable[..., object], args: tuple[Any, ...], context: Context | None
    ) -> asyncio.Handle:
        """Park a task whose coroutine has just called `sleep`."""
        delay, self._park = self._park, None
        key = self._park_key
        task = getattr(step, "__self__", None)
        if delay is None or args or not asyncio.isfuture(task):
            # Somebody drives a coroutine by hand, and this is another call: nothing to park.
            return self.call_soon(step, *args, context=context)
        if key is not None:
            self._park_key = None
        when = self._now + delay
        if when > self._now and isinstance(task, VirtualTask):
            assert context is not None
            task._parked = parked = Parked(when, key, task, step, context)
            self._queue.push(parked)
            return _NO_HANDLE
        # A delay of zero, or a task of somebody else's class: by an ordinary call.
        call, arguments = (step, ()) if key is None else (self._fire, (key, step))
        return self.call_at(when, call, *arguments, context=context)

    def _fire(self, key: int, step: Callable[[], object]) -> None:
        self._trace.add(self._now, key)
        step()

    def _check_call(self, callback: Callable[..., object], method: str) -> None:
        self._check_closed()
        self._check_thread()
        self._check_callback(callback, method)

    # Running

    def run_forever(self) -> None:
        """Run until `stop`, a failure that nobody handles, or a deadlock."""
        self._check_closed()
        self._check_running()
        with patient_collector():
            here.loop = self
            try:
                super().run_forever()
            finally:
                here.loop = None

    def stop(self) -> None:
        """Stop once all that is due now has run."""
        super().stop()
        # The run loop looks at the flag only after it has worked off what is due.
        self._ready.append(ReadyHandle(_nothing, (), _NO_CONTEXT))

    def close(self) -> None:
        """Forget everything scheduled, and refuse to run again."""
        super().close()
        self._queue = EventQueue()

    def _run_once(self) -> None:
        """Run one slice; the base class calls this until the loop is stopped."""
        turns = _SLICE
        if self._pacer is not None:
            turns = 1
            when = self.peek()
            if when is not None and when > self._now:
                self._pacer.wait_until(when, self._now)
        try:
            idle = run_slice(self, turns)
        except BaseException:
            # A signal may interrupt the run loop anywhere, also while it is in a task.
            if (task := asyncio.current_task(self)) is not None:
                _leave_task(self, task)
            raise
        if self._failures.fatal:
            raise self._failures.fatal.pop(0)
        if idle and not self._stopping:
            raise Deadlock(self._now, waiters(self))

    # Failures

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """Take up a failure that nobody handles: it ends the run."""
        if self._closed:
            super().default_exception_handler(context)
        else:
            self._failures.add(context, self._now)
            self.stop()


def note_end(task: Any) -> None:
    """Note how a task of a virtual-time loop ended."""
    if not task.cancelled() and task._exception is not None:
        loop = task.get_loop()
        assert isinstance(loop, VirtualLoop)
        loop._failures.watch(task)
        loop._ready.append(_NO_HANDLE)  # a turn of the run loop, to look who holds the task


def _nothing() -> None:
    pass


_NO_HANDLE = ReadyHandle(_nothing, (), _NO_CONTEXT)
