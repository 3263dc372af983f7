"""Letting the visits of a dispatch begin."""

from itertools import repeat
from typing import Protocol

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.compute.order import Order
from driftfold.kernel import Sleeper, VirtualLoop, launch
from driftfold.kernel.trace import EventTrace
from driftfold.world.arrival import Arrival
from driftfold.world.client import Errand, Host, deliver
from driftfold.world.events import SENT, visit_key
from driftfold.world.inbox import Inbox
from driftfold.world.interrupts import Visit
from driftfold.world.roster import Roster

Times = tuple[Floats, Floats, Floats]
"""Virtual seconds that download, work and upload take, each (k,)."""


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
    clients: Ints,
    times: Times,
    leaves: Floats,
) -> None:
    """Let the visits of `clients` begin, each as a coroutine.

    `leaves` is when their sessions end (virtual time), (k,). How a visit ends is known from its
    times: what ends just as the session does counts.
    """
    download, work, upload = times
    early = order.sent + download + work + upload > leaves
    keys = visit_key(clients, order.dispatch, order.phase)
    if server.roster is None and not any(map(np.count_nonzero, (early, *times))):
        _at_once(server, order, clients, keys)
        return
    ids = clients.tolist()
    columns = (column.tolist() for column in (*times, leaves, keys))
    errands = list(map(Errand, ids, repeat(order), *columns))
    server.in_flight.update(zip(ids, errands, strict=True))
    loop, visits, interrupted = server.loop, server.visits, server.interrupted
    for errand, is_cut in zip(errands, early.tolist(), strict=True):
        visit = launch(loop, interrupted(server, errand) if is_cut else deliver(server, errand))
        if visit is not None:
            visits[errand.client] = visit


def _at_once(
    server: Sender,
    order: Order,
    clients: Ints,
    keys: Ints,
) -> None:
    """Let visits that take no time be over, all in one go.

    A coroutine for each would do the same in more steps: the same promises, events and arrivals in
    the same order, so the same bits.
    """
    time, ids = server.loop.time(), clients.tolist()
    tickets = server.tickets.submit_all(order, ids, committed=True)
    server.trace.extend(time, (keys + SENT).tolist())
    arrivals = map(Arrival, ids, repeat(order), keys.tolist(), tickets, repeat(time))
    server.inbox.put_all(order.phase, list(arrivals))
    if not server.in_flight:
        server.inbox.lost(0)  # nobody is on the way
