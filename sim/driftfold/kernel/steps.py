"""Where the run loop hands a task it has stepped itself back to asyncio.

While the run loop steps a coroutine from sleep to sleep, asyncio's C task believes that its next
step is on the way, which is true of `Parked.step`. That makes every way back simple.
"""

import asyncio
from typing import TYPE_CHECKING, Any

from driftfold.kernel.handle import Parked, ReadyHandle

if TYPE_CHECKING:
    from driftfold.kernel.loop import VirtualLoop

_OWN_AWAIT = (asyncio.Future.__await__, asyncio.Task.__await__)


def finish(parked: Parked, end: BaseException) -> None:
    """End a task whose coroutine has ended, by return or failure."""
    task = parked.task
    assert task is not None
    task._parked = parked.task = None
    # The task's own methods refuse to be given a result; those of the Future it is do not.
    if isinstance(end, StopIteration):
        if task._must_cancel:
            asyncio.Future.cancel(task, task._cancel_message)
        else:
            asyncio.Future.set_result(task, end.value)
        return
    if end.__traceback__ is not None:
        # Without the run loop's frame, which would keep the task alive as long as its failure.
        end.__traceback__ = end.__traceback__.tb_next
    if isinstance(end, asyncio.CancelledError):
        asyncio.Future.cancel(task, *end.args[:1])
        return
    asyncio.Future.set_exception(task, end)
    if isinstance(end, KeyboardInterrupt | SystemExit):
        raise end


def hand_over(loop: "VirtualLoop", parked: Parked, awaited: Any) -> None:
    """Give a task that awaits something other than a sleep to asyncio."""
    task = parked.task
    assert task is not None
    task._parked = loop._park = None
    if awaited is None:  # a bare yield: the next step is due after all others
        loop._ready.append(ReadyHandle(parked.step, (), parked.context))
    elif getattr(awaited, "_asyncio_future_blocking", None) is not True:
        task.get_coro().close()
        finish(parked, RuntimeError(f"Task got bad yield: {awaited!r}"))
    elif type(awaited).__await__ in _OWN_AWAIT and not task._must_cancel:
        # With this flag down, a C future yields itself again when the C task now steps the
        # coroutine: so the task sees what is awaited and waits for it in its own way.
        awaited._asyncio_future_blocking = False
        parked.context.run(parked.step)
    else:
        _wait(parked, awaited)


def requeue(loop: "VirtualLoop", parked: Parked) -> None:
    """Let a task that sleeps for no time go on after all that is due at this instant."""
    assert parked.task is not None
    parked.task._parked = None
    if parked.key is None:
        handle = ReadyHandle(parked.step, (), parked.context)
    else:
        handle = ReadyHandle(loop._fire, (parked.key, parked.step), parked.context)
    loop._ready.append(handle)


def _wait(parked: Parked, future: Any) -> None:
    """Wait for a future in the task's place.

    For futures of other classes, and for a task that cancelled itself in the very step that came to
    wait. What this does not imitate: a future that refuses its cancellation.
    """
    task, step = parked.task, parked.step
    assert task is not None
    future._asyncio_future_blocking = False
    task._waits_for = future
    future.add_done_callback(lambda _: step(), context=parked.context)
    if task._must_cancel:
        future.cancel(msg=task._cancel_message)
