"""Immediate steps: each answer is a step.

Xie, C., Koyejo, S., Gupta, I.: "Asynchronous Federated Optimization", 2019, Algorithm 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Gt, Interval

from driftfold.algorithms.base import Endpoint, Phase
from driftfold.errors import CapabilityError
from driftfold.registry import register
from driftfold.selection.base import Selection
from driftfold.selection.uniform import UniformSelection
from driftfold.staleness.base import Staleness
from driftfold.staleness.polynomial import Polynomial
from driftfold.tasks.base import Problem
from driftfold.world.cadences.flow import Flow
from driftfold.world.discount import Discount

if TYPE_CHECKING:
    from driftfold.world.server import Server


@register("immediate")
@dataclass(frozen=True)
class Immediate(Flow):
    """FedAsync: `concurrency` clients are kept busy; the server steps on every answer.

    With the estimator "none" the weight of an answer is rate s(staleness). One that counts gives
    rate s(staleness) a_i / q_i; it starts cold, for a q_i of about 1/N takes some N steps to count:
    use a rule with a warm-up, or `capped`.

    Attributes
    ----------
    concurrency
        Clients on visits at any time. A client on a visit is not invited again.
    rate
        Mixing weight alpha of a fresh answer.
    mixes
        What is mixed: "delta" goes rate s u, u the client's vector, carried to the present point
        x. "model", as published, goes from x towards the client's end point y:
        (1 - rate s) x + rate s y in flat space, R_x(rate s R_x^{-1}(y)) on a manifold; it needs an
        algorithm that uploads end points.
    staleness
        Weight of an answer by the server steps since its download.
    max_staleness
        Largest staleness; None sets no limit.
    beyond
        What becomes of older answers: "drop" leaves them unused, and counts them; "clip" weighs
        them as if they were not older; "force" has clients send the steps they have done when one
        more server step would make their answer older, and drops what is older all the same.
    restock
        Virtual seconds between invitations: places that got free are filled together, at multiples
        of it, which costs less to simulate; 0 fills each at once.
    pause
        Virtual seconds until others are asked in place of clients that declined.
    selection
        How clients are chosen from those that are there.
    """

    concurrency: Annotated[int, Gt(0)] = 10
    rate: Annotated[float, Gt(0)] = 0.5
    mixes: Literal["delta", "model"] = "delta"
    staleness: Staleness = field(default_factory=Polynomial)
    max_staleness: Annotated[int, Interval(ge=0, le=2**32)] | None = None
    beyond: Literal["drop", "clip", "force"] = "drop"
    restock: Annotated[float, Interval(ge=0, le=1e9)] = 0.0
    pause: Annotated[float, Gt(0)] = 1.0
    selection: Selection[Any] = field(default_factory=UniformSelection)

    def check(self, phases: Sequence[Phase[Any, Any, Any]], problem: Problem) -> None:
        """Require one exchange, and end points where models are mixed."""
        super().check(phases, problem)
        manifold = problem.manifold
        kind = phases[0].payload_kind
        if self.mixes == "model" and (kind is not Endpoint or Endpoint.lacks(manifold)):
            why = Endpoint.lacks(manifold) and f"; {type(manifold).__name__} lacks "
            raise CapabilityError(
                f"cadence 'immediate' mixes models, and clients send {kind.__name__}{why}"
                f"{Endpoint.lacks(manifold)}; set mixes = 'delta', or choose an algorithm that "
                "uploads end points, such as 'rfedavg'"
            )

    @property
    def discount(self) -> Discount:
        """Rate s(staleness), of ways or of models."""
        return replace(super().discount, rate=self.rate, models=self.mixes == "model")

    async def advance(self, server: "Server") -> None:
        """Wait for an answer, and step."""
        await self.gather(server, 1, math.inf)
        arrivals = server.inbox.take(0, 1)
        if arrivals:
            server.step(0, arrivals, self.discount)
        else:
            await server.skip(self.pause, server.dispatches)
