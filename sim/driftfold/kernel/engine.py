"""The run loop: one slice of a virtual-time run.

This is where a simulation spends its time, so what `EventQueue.push` and the step of a task do is
written out here. Everything rare is a call.
"""

import asyncio
from asyncio.tasks import _enter_task, _leave_task
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from driftfold.kernel.sleeper import Sleeper
from driftfold.kernel.steps import finish, hand_over, requeue

if TYPE_CHECKING:
    from driftfold.kernel.loop import VirtualLoop


def run_slice(loop: "VirtualLoop", turns: int) -> bool:
    """Run up to `turns` events and batches of due callbacks; True if nothing is scheduled."""
    queue = loop._queue
    near, due, buckets, order = queue.near, queue.due, queue.buckets, queue.order
    scale, current = queue.scale, queue.current
    ready, failures, trace = loop._ready, loop._failures, loop._trace
    times, keys = trace.times, trace.keys
    now = loop._now
    entry: Any
    task: Any
    handle: Any
    idle = False
    for _ in range(turns):
        # Due callbacks go after all events of this instant, which were scheduled before them.
        if ready and not ((due and due[-1]._when == now) or (near and near[0][0] == now)):
            entry = task = None  # or they would keep a task alive that fails now
            for _ in range(len(ready)):
                handle = ready.popleft()
                if not handle._cancelled:
                    try:
                        handle._context.run(handle._callback, *handle._args)
                    except (KeyboardInterrupt, SystemExit):
                        raise
                    except BaseException as failure:
                        report(loop, handle, failure)
            handle = None  # likewise
            if failures.watched and not ready:
                failures.review()
            if loop._stopping:
                break
            continue

        # The next event: of the opened bucket or of the heap, else open a bucket.
        if near and not (due and due[-1]._when <= near[0][0]):
            entry = heappop(near)[2]
        elif due:
            entry = due.pop()
        elif queue.refill():
            current = queue.current
            continue
        else:
            idle = True
            break

        task = entry.task
        if task is None and not (type(entry) is Sleeper and entry.alive):
            if entry._cancelled:
                queue.dead -= 1
            else:
                loop._now = now = entry._when
                entry._scheduled = False
                try:
                    entry._context.run(entry._callback, *entry._args)
                except (KeyboardInterrupt, SystemExit):
                    raise
                except BaseException as failure:
                    report(loop, entry, failure)
            continue

        # A sleep is over: step the coroutine, and file it anew if it goes to sleep again.
        loop._now = now = entry._when
        key = entry.key
        if key is not None:
            times.append(now)
            keys.append(key)
        if task is None:
            try:
                awaited = entry.send(None)
            except BaseException as end:
                entry.finish(end)
                continue
        else:
            _enter_task(loop, task)
            try:
                awaited = entry.context.run(entry.send, None)
            except BaseException as end:
                _leave_task(loop, task)
                finish(entry, end)
                continue
            _leave_task(loop, task)
        delay = loop._park
        if delay is None or awaited is not None:
            if task is None:
                entry.refuse(awaited)
            else:
                hand_over(loop, entry, awaited)
            continue
        loop._park = None
        entry.key = loop._park_key
        entry._when = when = now + delay
        number = when * scale // 1.0
        if number > current:
            try:
                buckets[number].append(entry)
            except KeyError:
                buckets[number] = [entry]
                heappush(order, number)
        elif number <= current:
            if when > now:
                queue.pushed = count = queue.pushed + 1
                heappush(near, (when, count, entry))
            elif task is None:
                entry.requeue()
            else:
                requeue(loop, entry)
        else:
            queue.push_far(entry)
    queue.adapt(now, turns)
    if len(times) >= trace.BLOCK:
        trace.flush()
    loop._sweeper.after(turns, queue)
    return idle


def report(loop: "VirtualLoop", handle: asyncio.Handle, failure: BaseException) -> None:
    """Report the failure of a callback as asyncio does."""
    loop.call_exception_handler(
        {
            "message": f"Exception in callback {handle!r}",
            "exception": failure,
            "handle": handle,
        }
    )
