"""One client's visit, as a coroutine: download, work, upload; or leave before the end."""

import asyncio
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from driftfold.compute.download import Download
from driftfold.compute.tickets import Ticket, TicketBook
from driftfold.kernel import now, sleep
from driftfold.world.events import DOWNLOADED, LEFT, SENT, WORKED


class Host(Protocol):
    """What a client needs of its server: see `world/server.py`."""

    tickets: TicketBook

    def receive(self, errand: "Errand", ticket: Ticket) -> None:
        """Take in what a client sent."""

    def fail(self, errand: "Errand", ticket: Ticket | None, why: str) -> None:
        """Take in the news that a client failed."""

    def lose(self, errand: "Errand", ticket: Ticket | None, late: bool = False) -> None:
        """Settle a client that will not deliver."""


class Order(NamedTuple):
    """What all clients of one dispatch were asked to do, and `sent`, when (virtual time)."""

    phase: int
    dispatch: int
    version: int
    payload: Download
    sent: float


@dataclass(slots=True, eq=False)  # made for every visit: a named tuple takes twice as long
class Errand:
    """What one client was asked to do.

    `download`, `work` and `upload` are how long each takes (virtual seconds), `leaves` is when the
    client's session ends (virtual time). `key` names the visit's events.
    """

    client: int
    order: Order
    download: float
    work: float
    upload: float
    leaves: float
    key: int

    def share_done(self, time: float) -> float:
        """Which share of the work is done at virtual `time`."""
        spent = time - self.order.sent - self.download
        return min(1.0, spent / self.work) if self.work else float(spent >= 0)


async def deliver(server: Host, errand: Errand) -> None:
    """Download, work, upload. The tensor work is promised when it starts, not done.

    A stage that takes no time is no event.
    """
    ticket = None
    key, order = errand.key, errand.order
    try:
        if errand.download:
            await sleep(errand.download, key + DOWNLOADED)
        ticket = server.tickets.submit(order.phase, errand.client, order.dispatch, order.payload)
        if errand.work:
            await sleep(errand.work, key + WORKED)
        if errand.upload:
            await sleep(errand.upload, key + SENT)
    except BaseException as failure:
        give_up(server, errand, ticket, failure)
    else:
        server.receive(errand, ticket)


async def leave_early(server: Host, errand: Errand) -> None:
    """Get as far as the session lasts."""
    ticket = None
    key, order = errand.key, errand.order
    stays = max(0.0, errand.leaves - order.sent)
    try:
        if errand.download <= stays:
            await sleep(errand.download, key + DOWNLOADED)
            ticket = server.tickets.submit(
                order.phase, errand.client, order.dispatch, order.payload
            )
        await sleep(max(0.0, errand.leaves - now()), key + LEFT)
    except BaseException as failure:
        give_up(server, errand, ticket, failure)
    else:
        server.lose(errand, ticket)


def give_up(server: Host, errand: Errand, ticket: Ticket | None, failure: BaseException) -> None:
    """End a visit that was broken off: sent home by the server, or by an error of its own."""
    if isinstance(failure, Exception):
        server.fail(errand, ticket, f"{type(failure).__name__}: {failure}")
        return
    if isinstance(failure, asyncio.CancelledError):
        server.lose(errand, ticket, late=True)
    raise failure
