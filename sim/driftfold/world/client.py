"""One client's visit, as a coroutine: download, work, upload; or leave before the end."""

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from driftfold.kernel import now, sleep
from driftfold.world.events import Stage
from driftfold.world.inbox import Arrival

if TYPE_CHECKING:
    from driftfold.compute.tickets import Ticket
    from driftfold.world.server import Server


class Errand(NamedTuple):
    """What one client was asked to do.

    `download`, `work` and `upload` are how long each takes, in virtual seconds; `leaves` is when
    the client's session ends. `key` is the event key of the visit.
    """

    client: int
    phase: int
    dispatch: int
    version: int
    payload: Any
    download: float
    work: float
    upload: float
    leaves: float
    key: int


async def visit(server: "Server", errand: Errand) -> None:
    """Live through one visit. The tensor work is promised when it starts, not done."""
    ticket = None
    started = 0.0
    try:
        if await _stay(errand, errand.download, Stage.DOWNLOADED):
            ticket = server.tickets.submit(
                errand.phase, errand.client, errand.dispatch, errand.payload
            )
            started = now()
            if await _stay(errand, errand.work, Stage.WORKED) and await _stay(
                errand, errand.upload, Stage.SENT
            ):
                server.receive(_arrival(errand, ticket))
                return
        server.lose(errand, ticket, _share_done(errand, started))
    except asyncio.CancelledError:
        server.lose(errand, ticket, _share_done(errand, started), late=True)
        raise
    except Exception as error:
        if ticket is not None:
            server.tickets.cancel(ticket)
        server.receive(_arrival(errand, None, f"{type(error).__name__}: {error}"))


async def _stay(errand: Errand, seconds: float, stage: Stage) -> bool:
    """Spend `seconds` on a stage; return False when the session ends before they are over."""
    if errand.leaves != float("inf"):
        left = errand.leaves - now()
        if seconds > left:
            await sleep(max(left, 0.0), errand.key + Stage.LEFT)
            return False
    await sleep(seconds, errand.key + stage)
    return True


def _share_done(errand: Errand, started: float) -> float:
    """Which share of the work was done by now."""
    return min(1.0, (now() - started) / errand.work) if errand.work else 1.0


def _arrival(errand: Errand, ticket: "Ticket | None", fault: str | None = None) -> Arrival:
    return Arrival(
        errand.client, errand.phase, errand.dispatch, errand.version, now(), ticket, fault
    )
