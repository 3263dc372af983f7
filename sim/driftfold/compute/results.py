"""What tickets gave: the good results stacked, the others with their reasons."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from driftfold.algorithms.base import LocalResult
from driftfold.compute.ticket import NOT_FINITE, Ticket
from driftfold.trees import concatenate, leaves, rows


class Results(NamedTuple):
    """Results of tickets: the good ones stacked in ticket order, the others with their reason.

    `faults` holds the work that gave no finite result, `failures` the work that raised.
    """

    good: list[int]
    payload: Any
    metrics: dict[str, Any]
    faults: dict[int, str]
    failures: dict[int, str]


def faults_of(tickets: Sequence[Ticket]) -> dict[int, str]:
    """Why tickets have no result, by their places."""
    return {i: t.fault for i, t in enumerate(tickets) if t.fault is not None}


def sorted_out(
    count: int, bad: Mapping[int, str], payload: Any, metrics: dict[str, Any]
) -> Results:
    """Results of `count` tickets, with the reasons of the `bad` ones, which have none."""
    if not bad:
        return Results(list(range(count)), payload, metrics, {}, {})
    faults = {i: why for i, why in bad.items() if why == NOT_FINITE}
    failures = {i: why for i, why in bad.items() if why != NOT_FINITE}
    good = [i for i in range(count) if i not in bad]
    return Results(good, payload, metrics, faults, failures)


def payload_and_metrics(tickets: Sequence[Ticket]) -> tuple[Any, dict[str, Any]]:
    """What computed tickets send and tell, stacked in their order."""
    gathered: tuple[Any, dict[str, Any]] = _gather(tickets, lambda b: (b.payload, dict(b.metrics)))
    return gathered


def new_memories(tickets: Sequence[Ticket]) -> Any:
    """What the clients of computed tickets keep, stacked in their order."""
    return _gather(tickets, lambda block: block.memory)


def _gather(tickets: Sequence[Ticket], part: Callable[[LocalResult[Any]], Any]) -> Any:
    """A part of the results of computed tickets, stacked in their order."""
    first = tickets[0].block
    assert first is not None
    index = [t.row for t in tickets if t.block is first]
    if len(index) == len(tickets):
        tree = part(first)
        whole = len((leaves(first.payload) or leaves(first.metrics))[0])
        return tree if index == list(range(whole)) else rows(tree, index)
    places: dict[int, list[int]] = {}
    for place, ticket in enumerate(tickets):
        places.setdefault(id(ticket.block), []).append(place)
    parts = []
    for some in places.values():  # few: what is used together was mostly computed together
        block, index = tickets[some[0]].block, [tickets[place].row for place in some]
        assert block is not None
        parts.append(rows(part(block), index))
    order = np.argsort(np.concatenate([*places.values()]))
    return rows(concatenate(parts), order)
