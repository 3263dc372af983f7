"""Rounds within tiers of equal speed: the fast need not wait for the slow.

Chai, Z., Ali, A., Zawad, S., et al.: "TiFL: A Tier-based Federated Learning System", HPDC 2020.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import Gt, Interval

from driftfold.algorithms.base import Phase
from driftfold.registry import kind_of, register
from driftfold.tasks.base import Problem
from driftfold.world.cadences.rounds import Rounds
from driftfold.world.speeds import check_tiers

if TYPE_CHECKING:
    from driftfold.world.server import Server


@register("tiered")
@dataclass(frozen=True)
class Tiered(Rounds):
    """Rounds with a cohort from one tier: clients as fast as each other.

    Tiers are of equal size, by how long a visit is expected to take; each round takes one at random
    of those in which somebody is there (TiFL's uniform policy). For tiers that are at work side by
    side see 'asynchronous_tiers'.

    Attributes
    ----------
    cohort
        Clients whose answers make a round; None invites everybody of the tier who is there.
    over_selection
        Invite this many times the cohort; the round closes at the instant when `cohort` of them
        have answered, and those who have not are sent home.
    deadline
        Virtual seconds after which a phase closes with whoever has answered, if only at that very
        instant; None waits for all.
    pause
        Virtual seconds that a round lasts, beyond its own, in which nobody answers, or too few.
    minimum
        Fewest answers that a phase needs; a round with fewer leaves the model as it was.
    selection
        How the cohort is chosen from the clients of the tier that are there.
    tiers
        Number of tiers.
    probes
        Visits of each client from whose times its speed is told.
    """

    tiers: Annotated[int, Gt(0)] = 5
    probes: Annotated[int, Interval(ge=1, le=1000)] = 5

    def check(self, phases: Sequence[Phase[Any, Any, Any]], problem: Problem) -> None:
        """Require somebody in each tier."""
        super().check(phases, problem)
        check_tiers(kind_of(self), self.tiers, problem.fleet.size)

    def chooses(self) -> str:
        """A tier is a choice."""
        return "the server picks a tier"

    async def advance(self, server: "Server") -> None:
        """Pick a tier, and run one round with it."""
        pool = await server.somebody()
        tiers = server.speed_ranks(self.probes)[pool] * self.tiers // server.world.fleet.size
        present = np.unique(tiers)
        stream = server.world.fleet.seed.stream("tier")
        pick = int(stream.integers(0, server.dispatches, 1, len(present))[0])
        tier = int(present[pick])
        await self.play(server, pool[tiers == tier], group=tier)
