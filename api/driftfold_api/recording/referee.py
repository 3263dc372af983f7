"""The referee: carries out what is decided of groups: early stops, and that they are canceled."""

import logging
from collections.abc import Mapping

from pydantic import TypeAdapter

from driftfold_api.archive.base import Archive
from driftfold_api.archive.group import Group
from driftfold_api.recording.reconciler import queue_again
from driftfold_api.sweeping.jury import Jury
from driftfold_api.sweeping.stop_rule import MedianRule, StopRule, TargetRule
from driftfold_workers.jobs.store import Conflict, UnknownJob
from driftfold_workers.redis_store import RedisJobStore

JOBS = 500  # that one step cancels

log = logging.getLogger("driftfold.api")
RULES: TypeAdapter[MedianRule | TargetRule] = TypeAdapter(StopRule)


class Referee:
    """Judges jobs by what is recorded of them, keeps the verdict, and only then cancels.

    So whoever takes over goes on with the same verdicts: none is given twice, none is lost.
    """

    def __init__(self, store: RedisJobStore, archive: Archive) -> None:
        self._store = store
        self._archive = archive
        self._groups = archive.groups
        self._juries: dict[str, tuple[Jury, dict[int, int]]] = {}
        self._fence: int | None = None

    async def step(self, fence: int) -> None:
        """Do what is due."""
        if fence != self._fence:  # another one may have judged meanwhile
            self._juries, self._fence = {}, fence
        groups = await self._groups.open()
        self._juries = {
            group.id: self._juries[group.id] for group in groups if group.id in self._juries
        }
        if not groups:
            return
        for group in groups:
            if group.stop is not None and not group.ended:
                await self._judge(group, group.stop, fence)
        for job, reason in await self._groups.doomed(JOBS):
            await self._cancel(job, reason)
        await self._groups.close()

    async def _judge(self, group: Group, rule: Mapping[str, object], fence: int) -> None:
        if group.id not in self._juries:
            standing = await self._groups.standing(group.id)
            judged = {child: round_ for child, (round_, _) in standing.items()}
            stopped = {child: round_ for child, (round_, over) in standing.items() if over}
            self._juries[group.id] = Jury(RULES.validate_python(rule), judged, stopped), {}
        jury, heard = self._juries[group.id]
        while True:  # all that is there, so that what was read first counts no more than the rest
            values, last = await self._groups.values(group.id, jury.rule.metric, heard)
            if not last:
                break
            heard.update(last)
            for child, told in values.items():
                for round_, value in told:
                    jury.hear(child, round_, value)
        verdicts = jury.judge()
        if not verdicts.judged:
            return
        reached = verdicts.reached
        if reached is not None:
            child, why = reached
            reached = child, f"job {child} of the group {why}"
        try:
            await self._groups.decide(fence, group.id, verdicts.judged, verdicts.stopped, reached)
        except BaseException:
            del self._juries[group.id]  # what was not kept is judged again
            raise

    async def _cancel(self, job: str, reason: str) -> None:
        try:
            await self._store.cancel(job, reason)
        except UnknownJob:  # it was not queued yet
            if await queue_again(self._store, self._archive, job):
                await self._store.cancel(job, reason)
        except Conflict:  # it has ended meanwhile
            return
        log.info("job %s is canceled: %s", job, reason)
