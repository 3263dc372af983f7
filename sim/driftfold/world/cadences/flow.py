"""Flow: clients come and go one by one, and the server steps when it likes."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from driftfold.algorithms.base import Phase
from driftfold.errors import CapabilityError
from driftfold.kernel import now
from driftfold.manifolds.base import Manifold
from driftfold.registry import kind_of
from driftfold.selection.base import Selection
from driftfold.staleness.base import Staleness
from driftfold.world.cadence import Cadence
from driftfold.world.discount import Discount
from driftfold.world.server import NobodyLeft

if TYPE_CHECKING:
    from driftfold.world.server import Server

LULL = 100
"""Invitations that all decline, nobody being on a visit, after which the server steps anyway."""


class Flow(Cadence):
    """What cadences share that keep `concurrency` clients on visits.

    A place that gets free is filled at once; when too few clients are there, at the instant when
    the next one comes. The staleness of an answer is how many steps the server took since the
    client downloaded the model.
    """

    concurrency: int
    staleness: Staleness
    max_staleness: int | None
    beyond: Literal["drop", "clip"]
    pause: float
    selection: Selection[Any]

    @property
    @abstractmethod
    def discount(self) -> Discount:
        """How staleness enters the weights."""

    def chooses(self) -> str | None:
        """How often a client contributes depends on how fast it is."""
        return "how often a client contributes depends on how fast it is"

    def check(self, phases: Sequence[Phase[Any, Any, Any]], manifold: Manifold) -> None:
        """Require an algorithm of one exchange."""
        if len(phases) != 1:
            raise CapabilityError(
                f"the algorithm has {len(phases)} exchanges in a round, which one cohort goes "
                f"through together; cadence '{kind_of(self)}' has no rounds; choose cadence "
                "'synchronous', or an algorithm of one exchange such as 'rfedags'"
            )

    def conventions(self) -> Mapping[str, str]:
        """What staleness is, and what is made of it."""
        discount, bound = self.discount, self.max_staleness
        over = "dropped and counted as unused" if self.beyond == "drop" else f"weighted as {bound}"
        return {
            "staleness": "s = server steps between the download of the model and the step",
            "object": "model" if discount.models else "delta, carried to the present point",
            "staleness_weight": self.staleness.formula(),
            "staleness_beyond": "no bound" if bound is None else f"s > {bound}: {over}",
            "normaliser": "mean staleness weight of the step" if discount.share else "none",
            "rate": f"{discount.rate:g}",
        }

    async def gather(self, server: "Server", wanted: float, closes: float) -> None:
        """Let clients work until `wanted` answers wait, or until virtual time `closes`.

        Returns early when nobody is left but some answers wait. With none it raises `NobodyLeft`.
        """
        inbox, seen, lull = server.inbox, 0, 0
        while True:
            if self.beyond == "drop" and self.max_staleness is not None:
                oldest = server.version - self.max_staleness
                server.leave_unused(0, inbox.take_older(0, oldest, seen))
            seen = inbox.waiting(0)
            if seen >= wanted or now() >= closes or lull >= LULL:
                return
            look = self._fill_up(server)
            if inbox.waiting(0) > seen:  # visits that take no time
                continue
            until = min(look, closes)
            if server.in_flight:
                await inbox.fill({0: seen + 1}, until, patient=False)
                lull = 0
            elif until < math.inf and (look < math.inf or seen):
                await server.wait(until)
                lull += 1
            elif seen:
                return
            else:
                raise NobodyLeft

    def _fill_up(self, server: "Server") -> float:
        """Invite for every free place; return when to look for more clients, inf if no need."""
        room = self.concurrency - len(server.in_flight)
        if room <= 0:
            return math.inf
        chosen = server.choose(self.selection, room)
        willing, dispatch = server.invite(chosen) if len(chosen) else (chosen, 0)
        if len(willing):
            server.send(0, willing, dispatch)
        if len(willing) < len(chosen):
            return now() + self.pause
        return server.soonest() if len(chosen) < room else math.inf
