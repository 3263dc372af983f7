"""One client's visit, as a coroutine: download, work, upload.

What becomes of a visit that outlasts the client's session is told in `world/interrupts.py`.
"""

import asyncio
from dataclasses import dataclass
from typing import Protocol

from driftfold.compute.order import Order
from driftfold.compute.ticket import Ticket
from driftfold.compute.tickets import TicketBook
from driftfold.errors import RunError
from driftfold.kernel import sleep
from driftfold.world.events import DOWNLOADED, SENT, WORKED
from driftfold.world.tally import Tally


class Host(Protocol):
    """What a client needs of its server: see `world/server.py`."""

    tickets: TicketBook
    tally: Tally

    def receive(self, errand: "Errand", ticket: Ticket) -> None:
        """Take in what a client sent."""

    def fail(self, errand: "Errand", ticket: Ticket | None, why: str) -> None:
        """Take in the news that a client failed."""

    def lose(self, errand: "Errand", ticket: Ticket | None) -> None:
        """Settle a client that left before the end."""

    def break_off(self, errand: "Errand", ticket: Ticket | None) -> None:
        """Settle a visit that the server has broken off."""

    def next_session(self, client: int) -> tuple[float, float]:
        """When the next session of a client that is off begins and ends; inf if there is none."""


@dataclass(slots=True, eq=False)  # made for every visit: a named tuple takes twice as long
class Errand:
    """What one client was asked to do.

    `download`, `work` and `upload` are how long each takes (virtual seconds), `leaves` is when the
    client's session ends (virtual time). `key` names the visit's events. A visit that is suspended
    between sessions counts how long the client was `away`.
    """

    client: int
    order: Order
    download: float
    work: float
    upload: float
    leaves: float
    key: int
    suspended: bool = False
    away: float = 0.0

    def share_done(self, time: float) -> float:
        """Which share of the work is done at virtual `time`; none is done after the session."""
        spent = min(time, self.leaves) - self.order.sent - self.download - self.away
        return min(1.0, spent / self.work) if self.work else float(spent >= 0)

    def steps_done(self, time: float, steps: int) -> int:
        """How many of `steps` equal steps are done at virtual `time`, counting one just ending."""
        return max(0, int(self.share_done(time) * steps + 1e-9))  # rounding of the quotient


async def deliver(server: Host, errand: Errand) -> None:
    """Download, work, upload. The tensor work is promised when it starts, not done.

    A stage that takes no time is no event.
    """
    ticket = None
    key = errand.key
    try:
        if errand.download:
            await sleep(errand.download, key + DOWNLOADED)
        ticket = server.tickets.submit(errand.order, errand.client)
        if errand.work:
            await sleep(errand.work, key + WORKED)
        if errand.upload:
            await sleep(errand.upload, key + SENT)
    except BaseException as failure:
        give_up(server, errand, ticket, failure)
    else:
        server.receive(errand, ticket)


def give_up(server: Host, errand: Errand, ticket: Ticket | None, failure: BaseException) -> None:
    """End a visit that was broken off: sent home by the server, or by an error of its own.

    A `RunError` is no client's fault, and ends the run.
    """
    if isinstance(failure, Exception) and not isinstance(failure, RunError):
        server.fail(errand, ticket, f"{type(failure).__name__}: {failure}")
        return
    if isinstance(failure, asyncio.CancelledError):
        server.break_off(errand, ticket)
    raise failure
