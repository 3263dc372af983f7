"""Failures that nobody handles, and when they end the run."""

import asyncio
import gc
import weakref
from typing import Any

from driftfold.kernel.errors import LostTask


class Failures:
    """The failures of a loop that nobody has handled, yet or for good.

    A failed task is nobody's once its last reference goes: its finalizer then reports it to the
    loop. As long as somebody holds the task it may still be awaited, until the run ends.
    """

    __slots__ = ("_report", "_review_at", "fatal", "watched")

    def __init__(self) -> None:
        self.fatal: list[BaseException] = []  # what ends the run, the first one first
        self.watched: list[weakref.ref[asyncio.Task[Any]]] = []  # failed, still held by somebody
        self._review_at = 1

    def add(self, context: dict[str, Any], time: float) -> None:
        """Add what an event loop reports to its exception handler."""
        message = context.get("message", "Unhandled failure")
        source = context.get("task") or context.get("future") or context.get("handle")
        name = source.get_name() if isinstance(source, asyncio.Task) else repr(source)
        failure: BaseException | None = context.get("exception")
        if failure is None:
            failure = LostTask(
                f"{message} ({name}): nothing referred to it any more, so nothing could ever "
                "wake it; keep a reference to a task that waits"
            )
        failure.add_note(f"{message} ({name}), at virtual time {time!r}")
        self.fatal.append(failure)

    def watch(self, task: asyncio.Task[Any]) -> None:
        """Watch a task that failed: somebody may still hold and await it."""
        self.watched.append(weakref.ref(task))

    def review(self) -> None:
        """Look for failed tasks that only a reference cycle still holds.

        A full collection is slow, so it happens when their number has doubled since the last one.
        """
        if len(self.watched) >= self._review_at:
            if self.unclaimed():
                gc.collect()
            self._review_at = max(1, 2 * len(self.unclaimed()))

    def unclaimed(self) -> list[asyncio.Task[Any]]:
        """Failed tasks that somebody holds but whose failure nobody has looked at."""
        held = [task for ref in self.watched if (task := ref()) is not None]
        held = [task for task in held if task._log_traceback]
        self.watched = [weakref.ref(task) for task in held]
        return held

    def take(self, time: float) -> list[BaseException]:
        """Take out all failures, those of tasks still held included: the run is over."""
        for task in self.unclaimed():
            failure = task.exception()
            assert failure is not None
            failure.add_note(f"Nobody awaited {task.get_name()}; the run ended at {time!r}")
            self.fatal.append(failure)
        taken, self.fatal = self.fatal, []
        return taken
