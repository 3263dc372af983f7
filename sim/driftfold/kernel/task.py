"""The task of a virtual-time loop."""

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar, cast

from driftfold.kernel.handle import Parked, ReadyHandle

if TYPE_CHECKING:
    from driftfold.kernel.loop import VirtualLoop

T_co = TypeVar("T_co", covariant=True)


class VirtualTask(asyncio.Task[T_co]):
    """An `asyncio.Task` that cancels a `kernel.sleep` at the present instant.

    The C task knows nothing of such a sleep: to it, its next step is already on the way.
    """

    # Unset until the task first parks (a default would cost every task a Python __init__).
    __slots__ = ("_parked", "_waits_for")

    if TYPE_CHECKING:  # what the base class has and its type stub does not tell
        _cancel_message: Any
        _must_cancel: bool

    _parked: Parked | None
    _waits_for: "asyncio.Future[Any] | None"  # see steps._wait

    def cancel(self, msg: Any | None = None) -> bool:
        """Cancel as `asyncio.Task.cancel` does, waking the task if it is parked."""
        if not super().cancel(msg):
            return False
        waits_for = getattr(self, "_waits_for", None)
        if waits_for is not None:
            waits_for.cancel(msg)
        loop = cast("VirtualLoop", self.get_loop())
        if asyncio.current_task(loop) is self:
            # It cancels itself, awake: look again when this step is over, it may be parked then.
            loop._ready.append(ReadyHandle(self._wake_if_parked, (loop,), None))
        else:
            self._wake_if_parked(loop)
        return True

    def _wake_if_parked(self, loop: "VirtualLoop") -> None:
        parked: Parked | None = getattr(self, "_parked", None)
        if parked is not None:
            self._parked = None
            parked.task = None
            loop._queue.forget(parked)
            loop._ready.append(ReadyHandle(parked.step, (), parked.context))
            # The dead entry stays in the queue until its time, and shall not keep the task alive.
            del parked.step, parked.send, parked.context
