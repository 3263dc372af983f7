"""Buffered steps: the server steps when enough answers are in, and nobody waits for anybody.

Nguyen, J., Malik, K., Zhan, H., et al.: "Federated Learning with Buffered Asynchronous
Aggregation", AISTATS 2022, Algorithm 1.
"""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Gt, Interval

from driftfold.kernel import now
from driftfold.registry import register
from driftfold.selection.base import Selection
from driftfold.selection.uniform import UniformSelection
from driftfold.staleness.base import Staleness
from driftfold.staleness.polynomial import Polynomial
from driftfold.world.cadences.flow import Flow

if TYPE_CHECKING:
    from driftfold.world.server import Server


@register("buffered")
@dataclass(frozen=True)
class Buffered(Flow):
    """FedBuff: `concurrency` clients are kept busy; each `buffer` of their answers makes a step.

    With the estimator "none" each answer has weight s(staleness) / buffer, as published; with one
    that counts s(staleness) a_i / q_i, q_i being the mean number of answers of client i in a step.
    The server's rate is the size of the algorithm's `server`.

    Attributes
    ----------
    concurrency
        Clients on visits at any time. A client on a visit is not invited again; one whose answer
        waits is, so that one step may have several answers of a fast client.
    buffer
        Answers that make a step; failed ones count.
    staleness
        Weight of an answer by the server steps since its download.
    max_staleness
        Largest staleness; None sets no limit.
    beyond
        What becomes of older answers: "drop" leaves them unused, and counts them; "clip" weighs
        them as if they were not older; "force" has clients send the steps they have done when one
        more server step would make their answer older, and drops what is older all the same.
    share
        Divide staleness weights by their mean over the buffer.
    patience
        Virtual seconds after which the server steps with as many answers as there are, at least
        one; None waits.
    restock
        Virtual seconds between invitations: places that got free are filled together, at multiples
        of it, which costs less to simulate; 0 fills each at once.
    pause
        Virtual seconds until others are asked in place of clients that declined.
    selection
        How clients are chosen from those that are there.
    """

    concurrency: Annotated[int, Gt(0)] = 10
    buffer: Annotated[int, Interval(ge=1, le=2**24)] = 5
    staleness: Staleness = field(default_factory=Polynomial)
    max_staleness: Annotated[int, Interval(ge=0, le=2**32)] | None = None
    beyond: Literal["drop", "clip", "force"] = "drop"
    share: bool = False
    patience: Annotated[float, Gt(0)] | None = None
    restock: Annotated[float, Interval(ge=0, le=1e9)] = 0.0
    pause: Annotated[float, Gt(0)] = 1.0
    selection: Selection[Any] = field(default_factory=UniformSelection)

    repeats = True

    async def advance(self, server: "Server") -> None:
        """Fill the buffer, and step."""
        closes = math.inf if self.patience is None else now() + self.patience
        await self.gather(server, self.buffer, closes)
        if not server.inbox.waiting(0):
            await self.gather(server, 1, math.inf)
        arrivals = server.inbox.take(0, self.buffer)
        if arrivals:
            server.step(0, arrivals, self.discount)
        else:
            await server.skip(self.pause, server.dispatches)
