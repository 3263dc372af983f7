"""The inbox: thresholds on arrivals, deadlines, drop-outs."""

from collections.abc import Callable
from typing import Any

import pytest

from driftfold.compute.download import Download
from driftfold.compute.order import Order
from driftfold.kernel import now, run, sleep
from driftfold.world.arrival import Arrival
from driftfold.world.inbox import Inbox


def arrival(client: int, phase: int = 0) -> Arrival:
    order = Order(phase, 0, 0, Download(0, None), 0.0, 0.0)
    return Arrival(client, order, client, None, now())


Call = Callable[[Inbox], Any]


def put(client: int, phase: int = 0) -> Call:
    return lambda inbox: inbox.put(arrival(client, phase))


def lost(left: int) -> Call:
    return lambda inbox: inbox.lost(left)


def filled(
    story: dict[float, list[Call]], wanted: dict[int, int], until: float = 100.0, **how: bool
) -> tuple[int | None, float, list[list[int]]]:
    """What `fill` gave and when, if `story` happens meanwhile; and what then waits."""

    async def happen(inbox: Inbox, when: float, calls: list[Call]) -> None:
        await sleep(when)
        for call in calls:
            call(inbox)

    async def main() -> Any:
        import asyncio

        inbox = Inbox(2)
        async with asyncio.TaskGroup() as group:
            for when, calls in story.items():
                group.create_task(happen(inbox, when, calls))
            phase = await inbox.fill(wanted, until, **how)
            ended = now()
            waits = [[a.client for a in arrived] for arrived in inbox.peek()]
        return phase, ended, waits

    made: tuple[int | None, float, list[list[int]]] = run(main())
    return made


@pytest.mark.parametrize(
    ("story", "wanted", "until", "expected"),
    [
        ({1.0: [put(7)], 2.0: [put(3)], 3.0: [put(5)]}, {0: 2}, 100.0, (0, 2.0, [[7, 3], []])),
        ({1.0: [put(7, 1)], 2.0: [put(3, 1)]}, {0: 1, 1: 2}, 100.0, (1, 2.0, [[], [7, 3]])),
        # Phases that nobody asked for wait without waking anybody.
        ({1.0: [put(7, 1)]}, {0: 1}, 4.0, (None, 4.0, [[], [7]])),
        ({1.0: [put(7)], 9.0: [put(3)]}, {0: 2}, 5.0, (None, 5.0, [[7], []])),
        # At the very instant of the deadline an answer still counts, as many as there are.
        ({1.0: [put(7)], 5.0: [put(3), put(4)]}, {0: 2}, 5.0, (None, 5.0, [[7, 3, 4], []])),
        ({5.0: [put(7)]}, {0: 1}, float("inf"), (0, 5.0, [[7], []])),
        # All who answer at the closing instant are there.
        ({1.0: [put(7), put(3), put(5)]}, {0: 1}, 100.0, (0, 1.0, [[7, 3, 5], []])),
        ({1.0: [put(7)], 2.0: [lost(1)], 3.0: [lost(0)]}, {0: 3}, 100.0, (None, 3.0, [[7], []])),
        ({5.0: [lost(0)]}, {0: 3}, 5.0, (None, 5.0, [[], []])),
    ],
)
def test_patient(story: Any, wanted: Any, until: float, expected: Any) -> None:
    assert filled(story, wanted, until) == expected


def test_impatient_waits_end_with_the_first_loss() -> None:
    story = {1.0: [put(7)], 2.0: [lost(3)], 3.0: [put(5)]}
    assert filled(story, {0: 2}, patient=False) == (None, 2.0, [[7], []])
    assert filled(story, {0: 2}) == (0, 3.0, [[7, 5], []])


def test_what_is_there_already_needs_no_wait() -> None:
    async def main() -> None:
        inbox = Inbox(2)
        inbox.put(arrival(3, 1))
        inbox.put(arrival(4, 1))
        assert await inbox.fill({0: 1, 1: 2}) == 1
        assert now() == 0.0
        assert inbox.waiting(1) == 2
        assert [a.client for a in inbox.take(1, 1)] == [3]
        assert not inbox.empty
        assert [a.client for a in inbox.take(1)] == [4]
        assert inbox.empty
        assert inbox.take(1) == []

    run(main())


def test_an_old_wait_leaves_no_trace() -> None:
    async def main() -> None:
        inbox = Inbox(1)
        assert await inbox.fill({0: 1}, 2.0) is None
        inbox.put(arrival(1))  # nobody waits: this must not wake a wait that is over
        inbox.lost(0)
        assert await inbox.fill({0: 2}, 5.0) is None
        assert now() == 5.0

    run(main())
