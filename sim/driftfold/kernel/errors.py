"""Every error the virtual-time loop raises on purpose.

::

    RuntimeError
    └── KernelError
        ├── Deadlock            tasks wait and nothing is scheduled that could wake them
        ├── LostTask            a task was garbage-collected before it finished
        └── OutsideVirtualTime  a call that needs the world outside: sockets, threads, signals

A failure of the user's own code is raised as it is, with a note that names the task.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Waiter:
    """One task that waits: its name, and the chain of awaits it is suspended in."""

    task: str
    awaits: str

    def __str__(self) -> str:
        return f"{self.task} awaits {self.awaits}"


class KernelError(RuntimeError):
    """Root of the errors that the virtual-time loop raises on purpose."""


class Deadlock(KernelError):
    """Tasks wait and nothing is scheduled that could wake them.

    `waiters` holds every waiting task; the message shows the first twenty.
    """

    SHOWN = 20

    def __init__(self, time: float, waiters: tuple[Waiter, ...]) -> None:
        super().__init__(time, waiters)
        self.time = time
        self.waiters = waiters

    def __str__(self) -> str:
        shown = [f"  {waiter}" for waiter in self.waiters[: self.SHOWN]]
        if len(self.waiters) > self.SHOWN:
            shown.append(f"  ... and {len(self.waiters) - self.SHOWN} more")
        return "\n".join(
            [
                f"deadlock at virtual time {self.time!r}: nothing is scheduled, "
                f"{len(self.waiters)} task(s) wait for what only another task could do:",
                *shown,
                "let something wake them, or bound the wait with asyncio.timeout()",
            ]
        )


class LostTask(KernelError):
    """A task was garbage-collected before it finished, because nothing referred to it."""


class OutsideVirtualTime(KernelError):
    """A call that needs the world outside, which virtual time does not have."""
