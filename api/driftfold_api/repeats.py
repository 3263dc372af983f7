"""Doing again what a job did: from where it stopped, from the start, or with changes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from driftfold.spec.merge import merge
from driftfold_api.archive.base import Wanted
from driftfold_api.archived_store import ArchivedStore
from driftfold_api.repeat_models import (
    MOST,
    CloneAsked,
    NotReplayed,
    Replay,
    ReplayAsked,
    Replayed,
    RetryAsked,
)
from driftfold_api.submission import accept
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.store import Conflict, UnknownJob
from driftfold_workers.jobs.terms import Terms

GIVEN = ("priority", "not_before", "attempts", "limits", "after")


async def retry(store: ArchivedStore, job: str, asked: RetryAsked, key: str | None = None) -> Job:
    """Make a job that tries again what another one failed at, or was canceled in.

    It goes on from that one's last record and snapshot, or begins anew. Raises `Conflict` unless
    the other has failed or was canceled.
    """
    known = await store.get(job)
    if known.state not in (State.FAILED, State.CANCELED):
        has = "has" if known.state is State.SUCCEEDED else "is"
        raise Conflict(
            f"job {job} {has} {known.state}; only one that has failed or was canceled can be "
            "retried; clone it instead"
        )
    if asked.start == "checkpoint":
        known = await store.recorded(job)
    # What it had to wait for is over, if it has begun.
    after = known.terms.after if known.started is None else ()
    wanted = Wanted(
        spec=known.spec,
        needs=known.needs,
        name=known.name,
        horizon_rounds=known.horizon_rounds,
        terms=replace(known.terms, not_before=None, after=after),
        origin={"job": job, "how": "retry"},
        log_of=job if asked.start == "checkpoint" else "",
    )
    return (await store.submit(wanted, key=key))[0]


async def clone(store: ArchivedStore, job: str, asked: CloneAsked, key: str | None = None) -> Job:
    """Make a job like another one, with changes, from the start.

    Raises `SpecError` when it cannot be run with them.
    """
    known = await store.get(job)
    name = known.name if asked.name is None else asked.name
    wanted = accept(merge(known.spec, asked.spec), name, asked)
    wanted = replace(wanted, terms=changed(known.terms, asked), origin={"job": job, "how": "clone"})
    return (await store.submit(wanted, key=key))[0]


def changed(terms: Terms, asked: CloneAsked) -> Terms:
    """Return a job's terms for its copy: what is not asked for stays, but for when it may begin.

    >>> changed(Terms(priority=3, after=("0192",)), CloneAsked(attempts=2)).to_table()
    {'priority': 3, 'attempts': 2}
    """
    wanted = asked.terms()
    given: dict[str, Any] = {
        name: getattr(wanted, name) for name in GIVEN if name in asked.model_fields_set
    }
    return replace(terms, **{"not_before": None, "after": (), **given})


async def replay(store: ArchivedStore, asked: ReplayAsked) -> Replay:
    """Try dead jobs again, each once however often this is asked for."""
    jobs, more = await _dead(store, asked)
    replayed, refused = [], []
    for job in jobs:
        try:
            replayed.append(Replayed(job=job, by=await _replay(store, job, asked)))
        except (Conflict, UnknownJob) as error:
            refused.append(NotReplayed(job=job, detail=str(error)))
    return Replay(replayed=replayed, refused=refused, more=more)


async def _replay(store: ArchivedStore, job: str, asked: ReplayAsked) -> str:
    known = await store.get(job)
    if not known.dead:
        raise Conflict(f"job {job} is {known.state}, not dead; only attempts that ran out are")
    # No user's key has spaces. With one, requests side by side make one job.
    return known.retried_by or (await retry(store, job, asked, f"replay of {job}")).id


async def _dead(store: ArchivedStore, asked: ReplayAsked) -> tuple[Sequence[str], bool]:
    if asked.jobs is not None:
        return list(dict.fromkeys(asked.jobs)), False
    assert asked.before is not None
    before, found, cursor = asked.before.timestamp(), list[str](), None
    while True:
        page = await store.list(limit=200, cursor=cursor, dead=True)
        found += [
            job.id for job in page.jobs if (job.finished or 0.0) < before and not job.retried_by
        ]
        if page.cursor is None or len(found) > MOST:
            return found[:MOST], len(found) > MOST
        cursor = page.cursor
