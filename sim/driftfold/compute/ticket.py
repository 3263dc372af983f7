"""One piece of work: promised, done, and ended by an arrival or by none."""

from typing import Any

from driftfold.algorithms.base import LocalResult
from driftfold.compute.order import Order

NOT_FINITE = "the update is not finite"
"""The fault of work whose result is no good; any other fault is what the work raised."""


class Ticket:
    """One piece of work; opaque to client coroutines."""

    __slots__ = (
        "block",
        "client",
        "committed",
        "fault",
        "number",
        "order",
        "row",
        "steps",
    )

    def __init__(
        self, number: int, order: Order, client: int, steps: int, committed: bool = False
    ) -> None:
        self.number = number
        self.order = order
        self.client = client
        self.steps = steps
        self.committed = committed
        self.block: LocalResult[Any] | None = None
        self.row = 0
        self.fault: str | None = None

    @property
    def computed(self) -> bool:
        """Whether the result is there (a fault is a result)."""
        return self.block is not None or self.fault is not None
