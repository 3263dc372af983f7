"""Tiers of equal speed that work side by side: rounds within a tier, no waiting between tiers.

Chai, Z., Chen, Y., Anwar, A., et al.: "FedAT: A High-Performance and Communication-Efficient
Federated Learning System with Asynchronous Tiers", SC 2021.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import Gt, Interval

from driftfold.algorithms.base import Phase
from driftfold.arrays import Ints
from driftfold.errors import CapabilityError
from driftfold.kernel import now
from driftfold.registry import kind_of, register
from driftfold.selection.base import Selection
from driftfold.selection.uniform import UniformSelection
from driftfold.staleness.base import Staleness
from driftfold.staleness.constant import Constant
from driftfold.tasks.base import Problem
from driftfold.world.cadence import Cadence
from driftfold.world.cadences.flow import LULL
from driftfold.world.discount import Discount
from driftfold.world.roster import NobodyLeft
from driftfold.world.speeds import check_tiers

if TYPE_CHECKING:
    from driftfold.world.server import Server


@register("asynchronous_tiers")
@dataclass(frozen=True)
class AsynchronousTiers(Cadence):
    """Every tier has rounds of its own, and each round that is done is a server step.

    Tiers are of equal size, by how long a visit is expected to take. A round's cohort downloads the
    model as it is then; other tiers step meanwhile, so its answers may be stale. Algorithm 'fedat'
    keeps a model for each tier, and the slow ones count for as much as the fast have rounds; with
    other algorithms a round moves the server's model by its own weights, as in a buffer.

    Attributes
    ----------
    tiers
        Number of tiers.
    cohort
        Clients of a round; None invites everybody of the tier who is there.
    probes
        Visits of each client from whose times its speed is told.
    staleness
        Weight of an answer by the server steps since its download.
    pause
        Virtual seconds until a tier whose clients all declined asks again.
    selection
        How a cohort is chosen from the clients of the tier that are there.
    """

    tiers: Annotated[int, Gt(0)] = 5
    cohort: Annotated[int, Gt(0)] | None = None
    probes: Annotated[int, Interval(ge=1, le=1000)] = 5
    staleness: Staleness = field(default_factory=Constant)
    pause: Annotated[float, Gt(0)] = 1.0
    selection: Selection[Any] = field(default_factory=UniformSelection)

    @property
    def groups(self) -> int:  # type: ignore[override]
        """The tiers."""
        return self.tiers

    def chooses(self) -> str:
        """How often a tier has a round depends on how fast it is."""
        return "how often a client contributes depends on how fast its tier is"

    def check(self, phases: Sequence[Phase[Any, Any, Any]], problem: Problem) -> None:
        """Require an algorithm of one exchange."""
        super().check(phases, problem)
        check_tiers(kind_of(self), self.tiers, problem.fleet.size)
        if len(phases) != 1:
            raise CapabilityError(
                f"the algorithm has {len(phases)} exchanges in a round, and cadence "
                f"'{kind_of(self)}' takes one: other tiers would step in between; choose cadence "
                "'tiered', or an algorithm of one exchange such as 'rfedavg'"
            )

    def conventions(self) -> Mapping[str, str]:
        """What a tier is, and what staleness."""
        return {
            "tiers": f"{self.tiers} of equal size, by the mean time of {self.probes} visits",
            "staleness": "s = server steps between the download of the model and the step",
            "staleness_weight": self.staleness.formula(),
        }

    async def advance(self, server: "Server") -> None:
        """Keep all tiers at work until a round is done, and step."""
        inbox, look, lull = server.inbox, np.zeros(self.tiers), 0
        while lull < LULL:
            at_work = self._at_work(server)
            full = {answer.group for answer in inbox.peek()[0]}
            for tier in np.flatnonzero((at_work == 0) & (look <= now())).tolist():
                if tier not in full:
                    look[tier] = self._begin(server, tier)
            at_work = self._at_work(server)
            done = (answer.group for answer in inbox.peek()[0] if not at_work[answer.group])
            if (first := next(done, None)) is not None:
                server.step(0, inbox.take_group(0, first), Discount(self.staleness))
                return
            until = float(look[at_work == 0].min(initial=math.inf))
            if server.in_flight:
                fewest = int(at_work[at_work > 0].min())  # no round is done before so many answers
                await inbox.fill({0: inbox.waiting(0) + fewest}, until, patient=False)
                lull = 0
            elif until < math.inf:
                await server.wait(until)
                lull += 1
            else:
                raise NobodyLeft
        await server.skip(0.0, server.dispatches)

    def _at_work(self, server: "Server") -> Ints:
        """Clients of each tier that are on a visit, (tiers,)."""
        groups = [errand.order.group for errand in server.in_flight.values()]
        return np.bincount(np.array(groups, dtype=np.int64), minlength=self.tiers)

    def _begin(self, server: "Server", tier: int) -> float:
        """Let a tier begin a round; return when to look at it again, should it then be idle."""
        tiers = server.speed_ranks(self.probes) * self.tiers // server.world.fleet.size
        members = np.flatnonzero(tiers == tier)
        chosen = members[server.free(members)]
        if not len(chosen):
            return float(server.world.attendance.next_on(members, now()).min(initial=math.inf))
        if self.cohort is not None:
            chosen = server.choose(self.selection, self.cohort, chosen, tier)
        willing, dispatch = server.invite(chosen)
        if not len(willing):
            return now() + self.pause
        server.send(0, willing, dispatch, tier)
        return now()
