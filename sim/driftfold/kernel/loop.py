"""The virtual-time loop."""

import asyncio
import contextvars
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from driftfold.kernel.errors import Deadlock, OutsideVirtualTime
from driftfold.kernel.refuse import InsideOnlyLoop
from driftfold.kernel.trace import EventTrace


class VirtualLoop(InsideOnlyLoop):
    def __init__(self, *, start: float = 0.0, realtime: float | None = None) -> None:
        super().__init__()
        self._now = float(start)
        self._seq = 0
        self._park: float | None = None
        self._park_key: int | None = None
        self._heap: list[Any] = []
        self._parked: dict[Any, Any] = {}
        self._trace = EventTrace()
        self._failure: BaseException | None = None

    def time(self) -> float:
        return self._now

    def record(self, key: int) -> None:
        self._trace.add(self._now, key)

    @property
    def events(self) -> int:
        return self._trace.count

    def digest(self) -> str:
        return self._trace.digest()

    def create_task(self, coro, *, name=None, context=None):
        return SimTask(coro, loop=self, name=name, context=context)

    def call_soon(self, callback, *args, context=None):
        delay = self._park
        if delay is None:
            h = asyncio.Handle(callback, args, self, context)
            self._ready.append(h)
            return h
        self._park = None
        self._seq += 1
        entry = [self._now + delay, self._seq, callback, context, self._park_key]
        self._parked[callback.__self__] = entry
        heappush(self._heap, entry)

    def call_later(self, delay, callback, *args, context=None):
        return self.call_at(self._now + max(0.0, delay), callback, *args, context=context)

    def call_at(self, when, callback, *args, context=None):
        h = asyncio.TimerHandle(when, callback, args, self, context)
        self._seq += 1
        heappush(self._heap, [when, self._seq, h, None, None])
        return h

    def call_soon_threadsafe(self, callback, *args, context=None):
        return self.call_soon(callback, *args, context=context)

    def default_exception_handler(self, context):
        exc = context.get("exception")
        if exc is None:
            return super().default_exception_handler(context)
        if self._failure is None:
            self._failure = exc

    def _write_to_self(self):
        pass

    def _run_once(self):
        ready = self._ready
        while ready:
            h = ready.popleft()
            if not h._cancelled:
                h._run()
            if self._failure is not None:
                exc, self._failure = self._failure, None
                raise exc
            if self._stopping:
                return
        if not self._heap or self._heap[0][0] == float("inf"):
            raise Deadlock(self._now, ())
        when, _, cb, ctx, key = heappop(self._heap)
        if ctx is None:
            if cb is None or cb._cancelled:
                return
            self._now = max(when, self._now)
            cb._run()
        else:
            self._now = max(when, self._now)
            del self._parked[cb.__self__]
            if key is not None:
                self._trace.add(when, key)
            ctx.run(cb)


class SimTask(asyncio.Task):
    def cancel(self, msg=None):
        r = super().cancel(msg)
        if r:
            loop = self.get_loop()
            e = loop._parked.pop(self, None)
            if e is not None:
                _, _, cb, ctx, _ = e
                e[2] = e[3] = None
                loop._ready.append(asyncio.Handle(cb, (), loop, ctx))
        return r
