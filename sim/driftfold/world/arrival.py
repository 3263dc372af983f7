"""What arrives at the server, and the columns of many arrivals."""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from driftfold.arrays import Ints
from driftfold.compute.order import Order
from driftfold.compute.ticket import Ticket


@dataclass(slots=True, eq=False)  # made for every visit: a named tuple takes half as long again
class Arrival:
    """One payload, or the news that there will be none.

    `client` sent it, by `order`; `key` names the visit's events, and `received` is when it came
    (virtual time). `ticket` is the work behind it, opaque until the server steps; without one,
    `fault` says why there is no payload.
    """

    client: int
    order: Order
    key: int
    ticket: Ticket | None
    received: float
    fault: str = ""

    @property
    def dispatch(self) -> int:
        """Number of the dispatch that asked for it."""
        return self.order.dispatch

    @property
    def group(self) -> int:
        """Which of the cohorts at work side by side it is of."""
        return self.order.group


class Arrived(list[Arrival]):
    """Arrivals that are used together, in one fixed order; what is asked of all is read once.

    Attributes
    ----------
    clients
        Ids of their clients, (k,).
    orders
        What each was asked to do.
    order
        The order that they all share, if they do.
    """

    def __init__(self, arrivals: Iterable[Arrival]) -> None:
        super().__init__(arrivals)
        self.clients: Ints = np.array([a.client for a in self], dtype=np.int64)
        self.clients.flags.writeable = False  # several parts of a step see the same one
        self.orders = orders = [a.order for a in self]
        alike = orders and orders.count(orders[0]) == len(orders)
        self.order = orders[0] if alike else None

    def versions(self) -> Ints:
        """Server version that each downloaded, (k,)."""
        if self.order is not None:
            return np.full(len(self), self.order.version)
        return np.array([order.version for order in self.orders], dtype=np.int64)

    def at(self, places: Iterable[int]) -> "Arrived":
        """Those at some places."""
        return Arrived(self[i] for i in places)


def in_order(arrivals: Iterable[Arrival]) -> Arrived:
    """Arrivals by client, then by dispatch, in whichever order they came."""
    return Arrived(sorted(arrivals, key=_by_key))


_by_key = attrgetter("key")
