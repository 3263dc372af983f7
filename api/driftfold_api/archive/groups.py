"""The groups of an archive."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from sqlalchemy import Connection

from driftfold_api.archive import grouping, judging
from driftfold_api.archive.database import Database
from driftfold_api.archive.group import Child, Group, GroupWanted, Tally
from driftfold_workers.jobs.job import Job

Do: TypeAlias = Callable[[Callable[[Connection], Any]], Awaitable[Any]]
"""Does a piece of work on a connection."""


class Groups:
    """Many jobs that one request has made: all of them or none."""

    def __init__(self, database: Database, read: Do, write: Do) -> None:
        self._database = database
        self._read = read
        self._write = write

    async def accept(
        self, wanted: GroupWanted, *, key: str | None = None, room: bool = True
    ) -> tuple[Group, Sequence[Job], bool]:
        """Make a group and its jobs, or return the one that the key has made, without its jobs.

        All is on disk then, or nothing is made. A key is kept for a day; one that was used for
        another request: `KeyReused`. Without `room` no new group is made: `QueueFull`. Where its
        jobs are to wait for one that is not here: `UnknownPrerequisite`.
        """
        make = partial(grouping.make, database=self._database, wanted=wanted, key=key, room=room)
        made: tuple[Group, Sequence[Job], bool] = await self._write(make)
        return made

    async def get(self, group: str) -> Group:
        """Return a group; raises `UnknownGroup`."""
        found: Group = await self._read(partial(grouping.group_of, group=group))
        return found

    async def list(self, *, limit: int = 50, cursor: str | None = None) -> Sequence[Group]:
        """Return groups, newest first, those before a cursor: the id of one."""
        found: Sequence[Group] = await self._read(
            partial(grouping.page_of, limit=limit, cursor=cursor)
        )
        return found

    async def tallies(self, groups: Sequence[str]) -> Mapping[str, Tally]:
        """Tell how far groups are recorded."""
        found: Mapping[str, Tally] = await self._read(partial(grouping.tallies_of, wanted=groups))
        return found

    async def children(self, group: str, *, after: int = 0, limit: int = 1000) -> Sequence[Child]:
        """Return jobs of a group after a number, in order."""
        some = partial(grouping.children_of, group=group, after=after, limit=limit)
        found: Sequence[Child] = await self._read(some)
        return found

    async def end(self, group: str, reason: str) -> None:
        """Have the jobs of a group canceled that are not over; the first reason counts."""
        await self._write(partial(grouping.end, group=group, reason=reason))

    async def delete(self, group: str) -> Sequence[str]:
        """Forget a group and its jobs, and return these: the job store may know them still."""
        found: Sequence[str] = await self._write(partial(grouping.forget, group=group))
        return found

    # -- the recorder ---------------------------------------------------------------------------

    async def open(self) -> Sequence[Group]:
        """Return groups that have jobs which are not over."""
        found: Sequence[Group] = await self._read(judging.open_groups)
        return found

    async def standing(self, group: str) -> Mapping[int, tuple[int, bool]]:
        """Return of each job the last round that was judged, and whether it was stopped there."""
        found: Mapping[int, tuple[int, bool]] = await self._read(
            partial(judging.standing_of, group=group)
        )
        return found

    async def values(
        self, group: str, metric: str, heard: Mapping[int, int]
    ) -> tuple[Mapping[int, Sequence[tuple[int, float]]], Mapping[int, int]]:
        """Return values of a metric after the records that were heard, and what is heard then."""
        found: tuple[Any, Any] = await self._read(
            partial(judging.values_of, group=group, metric=metric, heard=heard)
        )
        return found

    async def decide(
        self,
        fence: int,
        group: str,
        judged: Mapping[int, int],
        stopped: Mapping[int, str],
        reached: tuple[int, str] | None,
    ) -> None:
        """Keep what was judged; a recorder that is no more in charge is `Overtaken`."""
        decide = partial(judging.decide, fence=fence, group=group)
        await self._write(partial(decide, judged=judged, stopped=stopped, reached=reached))

    async def doomed(self, limit: int) -> Sequence[tuple[str, str]]:
        """Return jobs that are to be canceled and are not recorded so, and why."""
        found: Sequence[tuple[str, str]] = await self._read(partial(judging.doomed, limit=limit))
        return found

    async def close(self) -> None:
        """Leave alone from now on groups all of whose jobs are over."""
        await self._write(judging.close)
