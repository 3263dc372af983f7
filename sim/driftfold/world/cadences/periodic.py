"""Periodic steps: the server steps by the clock."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Gt, Interval

from driftfold.registry import register
from driftfold.selection.base import Selection
from driftfold.selection.uniform import UniformSelection
from driftfold.staleness.base import Staleness
from driftfold.staleness.polynomial import Polynomial
from driftfold.world.cadences.flow import Flow

if TYPE_CHECKING:
    from driftfold.world.server import Server


@register("periodic")
@dataclass(frozen=True)
class Periodic(Flow):
    """`concurrency` clients are kept busy; steps come at fixed times with what is in by then.

    Answers in at the very instant of a step count. A step for which there are none leaves the model
    as it was.

    Attributes
    ----------
    period
        Virtual seconds between steps: the n-th is at n times the period.
    concurrency
        Clients on visits at any time. A client on a visit is not invited again; one whose answer
        waits is, so that one step may have several answers of a fast client.
    staleness
        Weight of an answer by the server steps since its download.
    max_staleness
        Largest staleness; None sets no limit.
    beyond
        What becomes of older answers: "drop" leaves them unused, and counts them; "clip" weighs
        them as if they were not older; "force" has clients send the steps they have done when one
        more server step would make their answer older, and drops what is older all the same.
    share
        Divide staleness weights by their mean over the step.
    restock
        Virtual seconds between invitations: places that got free are filled together, at multiples
        of it, which costs less to simulate; 0 fills each at once.
    pause
        Virtual seconds until others are asked in place of clients that declined.
    selection
        How clients are chosen from those that are there.
    """

    period: Annotated[float, Interval(gt=0, le=1e9)] = 60.0
    concurrency: Annotated[int, Gt(0)] = 10
    staleness: Staleness = field(default_factory=Polynomial)
    max_staleness: Annotated[int, Interval(ge=0, le=2**32)] | None = None
    beyond: Literal["drop", "clip", "force"] = "drop"
    share: bool = False
    restock: Annotated[float, Interval(ge=0, le=1e9)] = 0.0
    pause: Annotated[float, Gt(0)] = 1.0
    selection: Selection[Any] = field(default_factory=UniformSelection)

    repeats = True

    async def advance(self, server: "Server") -> None:
        """Let clients work until it is time, and step."""
        await self.gather(server, math.inf, self.period * (server.version + 1))
        arrivals = server.inbox.take(0)
        if arrivals:
            server.step(0, arrivals, self.discount)
        else:
            await server.skip(0.0, server.dispatches)
