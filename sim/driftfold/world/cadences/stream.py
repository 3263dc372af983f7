"""Online steps: rounds on the batches of streams, by the clock."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Gt

from driftfold.algorithms.base import Phase
from driftfold.errors import CapabilityError
from driftfold.kernel import now
from driftfold.registry import register
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.world.cadences.rounds import Rounds
from driftfold.world.roster import NobodyLeft

if TYPE_CHECKING:
    from driftfold.world.server import Server


@register("stream")
@dataclass(frozen=True)
class OnlineSteps(Rounds):
    """Step t of the streams begins at t times the period, and has a number of rounds.

    They follow each other; what is left of the step is divided evenly among its rounds to come, and
    a round's time among its exchanges. A round for which nobody comes in time is skipped; so server
    step v always belongs to step v // rounds of the streams.

    Attributes
    ----------
    cohort
        Clients whose answers make a round; None invites everybody who is there.
    over_selection
        Invite this many times the cohort; the round closes at the instant when `cohort` of them
        have answered, and those who have not are sent home.
    deadline
        Virtual seconds after which a phase closes with whoever has answered, if only at that very
        instant; None waits until the step is over.
    pause
        Virtual seconds that a round lasts, beyond its own, in which nobody answers, or too few.
    minimum
        Fewest answers that a phase needs; a round with fewer leaves the model as it was.
    selection
        How the cohort is chosen from the clients that are there.
    period
        Virtual seconds from one step to the next; that of the task's streams.
    rounds
        Rounds R of a step.
    late
        What becomes of clients that have not answered when a phase closes: "drop" sends them home,
        "carry" lets them go on. What comes then counts in the round in which it comes, as a way
        from the model that the client had, and has no part in that round's later phases.
    """

    period: Annotated[float, Gt(0)] = 1.0
    rounds: Annotated[int, Gt(0)] = 1
    late: Literal["drop", "carry"] = "drop"

    def chooses(self) -> str:
        """A step ends."""
        return super().chooses() or "who is in time for the end of a step depends on the delays"

    def conventions(self) -> Mapping[str, str]:
        """What a step is, and what becomes of late answers."""
        return {
            "stream_step": f"floor(time / {self.period:g} s), {self.rounds} rounds each",
            "late": {
                "drop": "sent home when a phase closes",
                "carry": "counted in the round in which it comes",
            }[self.late],
        }

    def check(self, phases: Sequence[Phase[Any, Any, Any]], problem: Problem) -> None:
        """Require the clock of the task's own streams."""
        super().check(phases, problem)
        if isinstance(problem, StreamProblem) and problem.period != self.period:
            raise CapabilityError(
                f"a step of the task's streams lasts {problem.period:g} s, and one of cadence "
                f"'stream' {self.period:g} s, so rounds would not follow the streams; set both "
                "`period` alike"
            )

    async def advance(self, server: "Server") -> None:
        """Run the next round, if there is time for it."""
        step = server.version // self.rounds
        begins, ends = self.period * step, self.period * (step + 1)
        if now() < begins:
            await server.wait(begins)
        if now() < ends and not len(server.pool()):
            soonest = server.soonest()
            if soonest == math.inf and not server.in_flight:
                raise NobodyLeft
            if soonest < ends:
                await server.wait(soonest)
        pool = server.pool() if now() < ends else server.pool()[:0]
        if len(pool) or (self.late == "carry" and server.inbox.waiting(0)):
            share = (ends - now()) / (self.rounds - server.version % self.rounds)
            await self.play(server, pool, now() + share, carry=self.late == "carry")
        else:
            await server.skip(0.0, server.dispatches)
