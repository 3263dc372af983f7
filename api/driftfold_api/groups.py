"""Making, ending and deleting groups of jobs."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial, reduce
from typing import Any

from driftfold.errors import SpecError
from driftfold.spec.merge import merge
from driftfold_api.archive.base import Wanted
from driftfold_api.archive.group import Group, GroupWanted
from driftfold_api.group_models import GroupAsked
from driftfold_api.service import Service
from driftfold_api.submission import accept
from driftfold_api.sweeping.sweep import in_short, table_of
from driftfold_workers.jobs.job import Job
from driftfold_workers.jobs.store import Conflict, StoreUnreachable, UnknownJob

SHOWN = 20  # points that are refused until the rest is not looked at
TOGETHER = 50  # jobs that are queued at the same time
BY_REQUEST = "its group was canceled"


class BadPoints(SpecError):
    """Some points of a sweep cannot be run.

    Attributes
    ----------
    problems
        What is wrong, by the number of the point.
    """

    def __init__(self, problems: Mapping[int, str]) -> None:
        super().__init__("\n".join(problems.values()))
        self.problems = problems


async def make_group(service: Service, asked: GroupAsked, key: str | None) -> Group:
    """Make a group and queue its jobs; all is on disk then, or nothing was made.

    Raises `BadPoints` unless every specification can be run, and `QueueFull` unless there is room
    for all of them. It takes some 4 ms of CPU for each.
    """
    wanted = await asyncio.to_thread(_wanted, asked)
    async with service.store.depth.room(len(wanted.children)) as room:
        group, jobs, _ = await service.archive.groups.accept(wanted, key=key, room=room)
        with suppress(StoreUnreachable):  # they are queued when the job store is back
            for first in range(0, len(jobs), TOGETHER):
                await _queue(service, jobs[first : first + TOGETHER])
    return group


async def delete_group(service: Service, group: str) -> None:
    """Forget a group and its jobs; unless all of them are over: `Conflict`."""
    await service.archive.groups.get(group)
    tally = (await service.archive.groups.tallies([group]))[group]
    alive = sum(count for state, count in tally.states.items() if not state.final)
    if alive:
        raise Conflict(
            f"{alive} jobs of group {group} are not over; cancel it and wait for their end before "
            "deleting"
        )
    # The archive first: it remembers what is to be deleted in the job store.
    jobs = await service.archive.groups.delete(group)
    with suppress(StoreUnreachable):
        for job in jobs:
            with suppress(UnknownJob):
                await service.store.reach.ask(partial(service.queue.delete, job))


async def _queue(service: Service, jobs: Sequence[Job]) -> None:
    reach = service.store.reach
    await reach.ask(lambda: asyncio.gather(*(service.queue.enqueue(job) for job in jobs)))


def _wanted(asked: GroupAsked) -> GroupWanted:
    children: list[tuple[Mapping[str, Any], Wanted]] = []
    problems: dict[int, str] = {}
    name = asked.name
    for number, point in enumerate(asked.sweep.points(), 1):
        try:
            table = reduce(merge, table_of(point), asked.spec)
            wanted = accept(table, _title(name or str(table.get("name", "")), point), asked)
            children.append((point, wanted))
        except SpecError as error:
            lines = str(error).splitlines()
            problems[number] = f"point {number} ({in_short(point)}): {'; '.join(lines)}"
            if len(problems) == SHOWN:
                break
    if problems:
        raise BadPoints(problems)
    return GroupWanted(
        name=name if name is not None else str(asked.spec.get("name", "")),
        spec=asked.spec,
        sweep=asked.sweep.model_dump(exclude_defaults=True),
        stop=None if asked.stop is None else asked.stop.model_dump(),
        children=children,
    )


def _title(name: str, point: Mapping[str, Any]) -> str:
    """Return the name of a job: one line of at most 200 printable characters.

    >>> _title("mine", {"algorithm.steps": 3, "seed": 1})
    'mine steps=3 seed=1'
    """
    text = f"{name} {in_short(point)}".strip()
    return "".join(sign for sign in text if sign.isprintable())[:200]
