"""From domain to domain."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, final

import numpy as np
from annotated_types import Ge, MinLen

from driftfold.arrays import Bools, Floats, Ints
from driftfold.drift.base import DomainCourse, DomainDrift
from driftfold.drift.pool import Pool
from driftfold.drift.schedule import Schedule
from driftfold.drift.schedules.linear import Linear
from driftfold.drift.timeline import Timeline
from driftfold.errors import CapabilityError, SpecError
from driftfold.registry import register


@register("domains")
@dataclass(frozen=True)
class DomainMixture(DomainDrift):
    """Samples come from a mixture of domains that moves along a route from one to the next.

    With a route of m domains, w = 0, 1 / (m-1), 2 / (m-1), ..., 1 are the domains themselves, and
    between two of them both are mixed in proportion. Domains are what the data say: sites, devices,
    groups of topics.

    Attributes
    ----------
    schedule
        How w moves.
    route
        Domains in the order in which they are met, two or more.
    assigned
        `same`: all clients have this route; `number`: client i enters it i places later and goes
        round; `drawn`: each client has the route in a random order of its own.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=1, steps=101, seconds=60.0, seed=Seed(1))
    >>> pool = Pool(2, prior=np.full(2, 0.5), domain=np.array([0, 0, 1, 2]))
    >>> course = DomainMixture(route=(0, 2, 1)).bind(timeline, pool)
    >>> course.shares(np.zeros(3, int), np.array([0, 25, 75])).tolist()
    [[1.0, 0.0, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]
    """

    schedule: Schedule = field(default_factory=Linear)
    route: Annotated[tuple[Annotated[int, Ge(0)], ...], MinLen(2)] = (0, 1)
    assigned: Literal["same", "number", "drawn"] = "same"

    def bind(self, timeline: Timeline, pool: Pool) -> DomainCourse:
        """Return the course of all clients; a client's group is the domain it ends in."""
        if pool.domain is None:
            raise CapabilityError(
                "drift 'domains' mixes domains, but these data have none; choose data with "
                "domains, or another drift"
            )
        count = int(pool.domain.max()) + 1
        missing = set(self.route) - set(np.unique(pool.domain).tolist())
        if missing:
            raise SpecError(
                f"drift 'domains' got the route {list(self.route)}, but the data have no samples "
                f"of domain {min(missing)}; they have {np.unique(pool.domain).tolist()}"
            )
        everyone, stops = np.arange(timeline.clients)[:, None], np.arange(len(self.route))
        if self.assigned == "drawn":
            order = timeline.stream("route").subsets(everyone[:, 0], 0, len(stops), len(stops))
        else:
            order = (everyone * (self.assigned == "number") + stops) % len(stops)
        routes = np.array(self.route)[order]
        return Travelling(
            self.schedule.path(timeline.of(timeline.part, routes[:, -1])), routes, count
        )


@final
@dataclass(frozen=True, eq=False)
class Travelling(DomainCourse):
    """Clients on their routes.

    Attributes
    ----------
    routes
        Domains that each client meets, in order, shape (N, m).
    count
        Number of domains.
    """

    routes: Ints
    count: int

    def shares(self, clients: Ints, steps: Ints) -> Floats:
        """Probability of each domain, shape (k, domains)."""
        leg, share = self._place(clients, steps)
        routes, rows = self.routes[clients], np.arange(len(clients))
        shares = np.zeros((len(clients), self.count))
        shares[rows, routes[rows, leg]] += 1 - share
        shares[rows, routes[rows, leg + 1]] += share
        return shares

    def changed(self, clients: Ints, steps: Ints) -> Bools:
        """Where the path says so, and where another domain comes in."""
        before = self._latest(clients, np.maximum(steps - 1, 0))
        onward: Bools = self._latest(clients, steps) != before
        return onward | self.path.changed(clients, steps)

    def _latest(self, clients: Ints, steps: Ints) -> Ints:
        """The farthest domain on the route that samples come from, by its place."""
        leg, share = self._place(clients, steps)
        return leg + (share > 0)

    def _place(self, clients: Ints, steps: Ints) -> tuple[Ints, Floats]:
        """The domain on the route that was met last, by its place, and the share of the next."""
        legs = self.routes.shape[1] - 1
        way = self.path.weight(clients, steps) * legs
        leg = np.minimum(np.floor(way), legs - 1).astype(np.int64)
        return leg, way - leg
