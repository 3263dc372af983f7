"""Flow: clients come and go one by one, and the server steps when it likes."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from driftfold.algorithms.base import Phase
from driftfold.errors import CapabilityError
from driftfold.kernel import now
from driftfold.registry import kind_of
from driftfold.selection.base import Selection
from driftfold.staleness.base import Staleness
from driftfold.tasks.base import Problem
from driftfold.world.cadence import Cadence
from driftfold.world.discount import Discount
from driftfold.world.roster import NobodyLeft

if TYPE_CHECKING:
    from driftfold.world.server import Server

_FINE = 2.0**53
"""Multiples of a time whose next one float64 cannot tell from this one."""

LULL = 100
"""Invitations that all decline, nobody being on a visit, after which the server steps anyway."""


class Flow(Cadence):
    """What cadences share that keep `concurrency` clients on visits.

    A place that gets free is filled at once, or at the next multiple of `restock`; when too few
    clients are there, as soon as the next one comes. The staleness of an answer is how many steps
    the server took since the client downloaded the model.
    """

    concurrency: int
    staleness: Staleness
    max_staleness: int | None
    beyond: Literal["drop", "clip", "force"]
    share: bool = False
    restock: float
    pause: float
    selection: Selection[Any]

    @property
    def discount(self) -> Discount:
        """How staleness enters the weights: by s(staleness), shared or not."""
        bound = self.max_staleness if self.beyond == "clip" else None
        return Discount(self.staleness, bound, share=self.share)

    def chooses(self) -> str | None:
        """How often a client contributes depends on how fast it is."""
        return "how often a client contributes depends on how fast it is"

    def check(self, phases: Sequence[Phase[Any, Any, Any]], problem: Problem) -> None:
        """Require an algorithm of one exchange."""
        super().check(phases, problem)
        if len(phases) != 1:
            raise CapabilityError(
                f"the algorithm has {len(phases)} exchanges in a round, which one cohort goes "
                f"through together; cadence '{kind_of(self)}' has no rounds; choose cadence "
                "'synchronous', or an algorithm of one exchange such as 'rfedags'"
            )

    def conventions(self) -> Mapping[str, str]:
        """What staleness is, and what is made of it."""
        discount, bound = self.discount, self.max_staleness
        over = {
            "drop": "dropped and counted as unused",
            "clip": f"weighted as {bound}",
            "force": "steps done are sent before; dropped and counted as unused if still too late",
        }[self.beyond]
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
        if self.beyond == "force" and self.max_staleness is not None:
            server.call_in(server.version - self.max_staleness)
        while True:
            if self.beyond != "clip" and self.max_staleness is not None:
                oldest = server.version - self.max_staleness
                server.leave_unused(0, inbox.take_older(0, oldest, seen))
            seen = inbox.waiting(0)
            if seen >= wanted or now() >= closes or lull >= LULL:
                return
            room, due = self.concurrency - len(server.in_flight), self._due()
            look = math.inf
            if room > 0:
                look = self._fill_up(server, room) if due == now() else due
            if inbox.waiting(0) > seen:  # visits that take no time
                continue
            until = min(look, closes)
            if server.in_flight:
                # One place is free and waits to be filled; others that get free will wait with it.
                waits = room > 0 and look == due > now()
                enough = int(min(wanted, 1 << 62)) if waits else seen + 1
                await inbox.fill({0: enough}, until, patient=waits)
                lull = 0
            elif until < math.inf and (look < math.inf or seen):
                await server.wait(until)
                lull += 1
            elif seen:
                return
            else:
                raise NobodyLeft

    def _due(self) -> float:
        """When free places are filled: now, or at the next multiple of `restock`."""
        time = now()
        if not self.restock:
            return time
        number = time / self.restock
        if number > _FINE:
            return time
        at = round(number) * self.restock
        if abs(at - time) <= 1e-12 * time:  # the last bit of a product or of a sum
            return time
        return at if at > time else at + self.restock

    def _fill_up(self, server: "Server", room: int) -> float:
        """Invite for `room` places; return when to look for more clients, inf if no need."""
        chosen = server.choose(self.selection, room)
        willing, dispatch = server.invite(chosen) if len(chosen) else (chosen, 0)
        if len(willing):
            server.send(0, willing, dispatch)
        if len(willing) < len(chosen):
            return now() + self.pause
        if len(chosen) == room or not server.in_flight.keys() >= set(willing.tolist()):
            return math.inf  # all places are filled, or visits take no time and answers are in
        return server.soonest()
