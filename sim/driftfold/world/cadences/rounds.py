"""One round: a cohort is invited and waited for, phase by phase."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import Gt, Interval

from driftfold.arrays import Ints
from driftfold.kernel import now
from driftfold.selection.base import Selection
from driftfold.selection.uniform import UniformSelection
from driftfold.world.cadence import Cadence

if TYPE_CHECKING:
    from driftfold.world.server import Server


@dataclass(frozen=True)
class Rounds(Cadence):
    """What cadences share that work in rounds.

    Attributes
    ----------
    cohort
        Clients whose answers make a round; None invites everybody who is there.
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
        How the cohort is chosen from the clients that are there.
    """

    cohort: Annotated[int, Gt(0)] | None = None
    over_selection: Annotated[float, Interval(ge=1, le=1000)] = 1.0
    deadline: Annotated[float, Gt(0)] | None = None
    pause: Annotated[float, Gt(0)] = 1.0
    minimum: Annotated[int, Gt(0)] = 1
    selection: Selection[Any] = field(default_factory=UniformSelection)

    def chooses(self) -> str | None:
        """A cohort is a choice, and so are a deadline and a minimum."""
        if self.cohort is not None:
            return "the server picks a cohort of its own"
        if self.deadline is not None:
            return "who is in time for the deadline depends on the delays"
        if self.minimum > 1:
            return "answers do not count in rounds that have too few"
        return None

    async def play(
        self,
        server: "Server",
        pool: Ints,
        until: float = math.inf,
        carry: bool = False,
        group: int = 0,
    ) -> None:
        """Run one round through all phases, with a cohort from `pool`.

        The time up to `until` is divided evenly among the phases to come; who is late when one
        closes is sent home, or goes on, to `carry`: its answer counts in whichever round it comes,
        and it has no part in later phases.
        """
        if self.cohort is not None:
            wanted = math.ceil(self.cohort * self.over_selection)
            pool = server.choose(self.selection, wanted, pool, group)
        willing, dispatch = server.invite(pool)
        here = server.unburdened(willing)
        for phase in range(len(server.world.phases)):
            if server.carried:
                here = np.union1d(here, server.carrying(willing, phase))
            late = server.inbox.waiting(phase)
            sent = server.send(phase, here, dispatch)
            if sent:
                enough = late + min(sent, self.cohort or sent)
                closes = now() + (until - now()) / (len(server.world.phases) - phase)
                if self.deadline is not None:
                    closes = min(closes, now() + self.deadline)
                await server.inbox.fill({phase: enough}, closes)
                if not carry:
                    server.dismiss(dispatch)
            arrivals = server.inbox.take(phase)
            later = range(phase + 1, len(server.world.phases))
            if len(arrivals) >= self.minimum:
                here = server.step(phase, arrivals)
                if late:
                    here = np.array(
                        [a.client for a in arrivals if a.dispatch == dispatch], dtype=np.int64
                    )
                    here.sort()
                continue
            server.leave_unused(phase, arrivals)
            if not arrivals and any(len(server.carrying(willing, p)) for p in later):
                here = here[:0]
            else:
                await server.skip(min(self.pause, max(0.0, until - now())), dispatch)
                return
