"""Letting the visits of a dispatch begin."""

from collections.abc import Sequence
from itertools import repeat
from typing import Protocol

from driftfold.compute.order import Order
from driftfold.kernel import Sleeper, VirtualLoop, launch
from driftfold.kernel.trace import EventTrace
from driftfold.world.arrival import Arrival
from driftfold.world.client import Errand, Host, deliver
from driftfold.world.events import SENT
from driftfold.world.inbox import Inbox
from driftfold.world.interrupts import Visit
from driftfold.world.roster import Roster

Times = Sequence[Sequence[float]]
"""Virtual seconds that download, work and upload take, each by client."""


class Sender(Host, Protocol):
    """What sends clients their work: see `world/server.py`."""

    loop: VirtualLoop
    trace: EventTrace
    inbox: Inbox
    in_flight: dict[int, Errand]
    visits: dict[int, Sleeper]
    roster: Roster | None
    interrupted: Visit


def begin(
    server: Sender,
    order: Order,
    clients: Sequence[int],
    times: Times,
    leaves: Sequence[float],
    keys: Sequence[int],
    early: Sequence[bool],
) -> None:
    """Let the visits of `clients` begin, each as a coroutine.

    `leaves` is when their sessions end (virtual time), `early` whether that is before their visits
    would. `keys` names the events of the visits.
    """
    if server.roster is None and not any(early) and not any(map(any, times)):
        _at_once(server, order, clients, keys)
        return
    errands = list(map(Errand, clients, repeat(order), *times, leaves, keys))
    server.in_flight.update(zip(clients, errands, strict=True))
    loop, visits, interrupted = server.loop, server.visits, server.interrupted
    for errand, is_cut in zip(errands, early, strict=True):
        visit = launch(loop, interrupted(server, errand) if is_cut else deliver(server, errand))
        if visit is not None:
            visits[errand.client] = visit


def _at_once(
    server: Sender,
    order: Order,
    clients: Sequence[int],
    keys: Sequence[int],
) -> None:
    """Let visits that take no time be over, all in one go.

    A coroutine for each would do the same in more steps: the same promises, events and arrivals in
    the same order, so the same bits.
    """
    time = server.loop.time()
    tickets = server.tickets.submit_all(order, clients, committed=True)
    server.trace.extend(time, [key + SENT for key in keys])
    arrivals = map(Arrival, clients, repeat(order), keys, tickets, repeat(time))
    server.inbox.put_all(order.phase, list(arrivals))
    if not server.in_flight:
        server.inbox.lost(0)  # nobody is on the way
