"""Sums of what clients send, where there is no room for all of it at a time."""

from collections.abc import Callable, Sequence
from typing import Any

from driftfold.combinations.aggregation import RunningSum
from driftfold.compute.results import Results
from driftfold.compute.ticket import Ticket
from driftfold.compute.tickets import TicketBook

Add = Callable[[RunningSum, Sequence[int], Any], None]
"""Adds the payloads of some clients to a sum, given their places among those who count."""


def summed(
    book: TicketBook,
    tickets: Sequence[Ticket],
    size: int,
    adding: Callable[[Sequence[int]], Add],
) -> Results:
    """Results whose payload is a `RunningSum`, from `size` tickets at a time.

    A client's weight may depend on who else counts, and who gives no sound result is known at the
    end: then, where somebody does not, all is done once more without them. `adding(which)` says
    how payloads are added where the tickets at those places count.
    """
    left, faults, failures = list(range(len(tickets))), dict[int, str](), dict[int, str]()
    while True:
        total, add = RunningSum(), adding(left)

        def take(places: Sequence[int], payload: Any, total: Any = total, add: Add = add) -> None:
            add(total, places, payload)

        some = book.results_in_blocks([tickets[i] for i in left], size, take)
        faults |= {left[i]: why for i, why in some.faults.items()}
        failures |= {left[i]: why for i, why in some.failures.items()}
        if len(some.good) in (0, len(left)):
            good = [left[i] for i in some.good]
            return Results(good, total if good else None, some.metrics, faults, failures)
        left = [left[i] for i in some.good]
