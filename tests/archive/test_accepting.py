"""Accepting jobs: kept whole, once for each idempotency key, listed newest first."""

import asyncio
from dataclasses import replace

import pytest

from driftfold_api.archive import accepting
from driftfold_api.archive.base import Archive, Wanted
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.new_id import new_id
from driftfold_workers.jobs.store import Conflict, StoreError, UnknownJob
from driftfold_workers.jobs.terms import Limits, Terms
from tests.archive.told import WANTED, accepted, excerpt, running

pytestmark = pytest.mark.asyncio


async def test_what_is_accepted_is_kept(archive: Archive, url: str) -> None:
    job = await accepted(archive, replace(WANTED, needs=["b:x", "a:y", "b:x"]))
    assert (job.spec, job.name, job.horizon_rounds) == (WANTED.spec, "häß", 40)
    assert (job.needs, job.state) == (("a:y", "b:x"), State.QUEUED)
    assert job.created > 1.7e9
    assert await archive.get(job.id) == job
    async with SqlArchive.open(url) as again:
        assert await again.get(job.id) == job
        assert await again.unfinished() == [job.id]


async def test_terms_are_kept(archive: Archive) -> None:
    before = await accepted(archive)
    terms = Terms(5, 1.9e9, 3, Limits(60.0, 90.5, 2**40), (before.id,))
    origin = {"job": new_id(), "how": "retry"}
    wanted = replace(WANTED, terms=terms, group=new_id(), origin=origin)
    job = await accepted(archive, wanted)
    assert (job.terms, job.group, job.origin) == (terms, wanted.group, origin)
    assert (job.dead, job.diverged) == (False, None)
    assert await archive.get(job.id) == job
    job = await accepted(archive, replace(wanted, delay=60.0))
    assert job.terms == replace(terms, not_before=round(job.created + 60.0, 3))


async def test_unknown_jobs(archive: Archive) -> None:
    for ask in (archive.get, archive.delete, archive.read, archive.events, archive.news):
        with pytest.raises(UnknownJob, match="nobody"):
            await ask("nobody")
    assert await archive.positions(["nobody"]) == {}


async def test_a_key_makes_one_job(archive: Archive) -> None:
    first, new = await archive.accept(WANTED, key="k")
    same = replace(WANTED, spec=dict(reversed(list(WANTED.spec.items()))))
    again, new_again = await archive.accept(same, key="k")
    assert (new, new_again, again) == (True, False, first)
    for other in (
        replace(WANTED, spec={}),
        replace(WANTED, name="x"),
        replace(WANTED, horizon_rounds=9),
        replace(WANTED, needs=[]),
        replace(WANTED, terms=Terms(priority=1)),
        replace(WANTED, terms=Terms(limits=Limits(cpu=1.0))),
        replace(WANTED, delay=1.0),
        replace(WANTED, group="g"),
        replace(WANTED, origin={"job": "j", "how": "clone"}),
    ):
        with pytest.raises(Conflict, match=f"{first.id}.*another specification, name or terms"):
            await archive.accept(other, key="k")
    assert (await archive.accept(WANTED, key="another"))[1]
    assert len((await archive.list()).jobs) == 2


async def test_a_key_of_a_failed_job_makes_another(archive: Archive) -> None:
    fence = await archive.lead()
    first, _ = await archive.accept(WANTED, key="k")
    await archive.record(fence, [excerpt(replace(first, state=State.FAILED, reason="no"))])
    with pytest.raises(Conflict):
        await archive.accept(replace(WANTED, name="another"), key="k")
    second, new = await archive.accept(WANTED, key="k")
    assert new
    assert second.id != first.id
    assert (await archive.accept(WANTED, key="k")) == (second, False)
    # One that has failed, though it is not recorded so yet.
    third, new = await archive.accept(WANTED, key="k", instead_of=second.id)
    assert new
    assert third.id != second.id
    assert (await archive.accept(WANTED, key="k", instead_of=second.id)) == (third, False)
    # Of those that ended otherwise there is nothing to repeat.
    for state in (State.CANCELED, State.SUCCEEDED):
        await archive.record(fence, [excerpt(replace(third, state=state))])
        assert (await archive.accept(WANTED, key="k"))[0].id == third.id


async def test_a_key_goes_with_its_job_and_with_time(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = await archive.accept(WANTED, key="k")
    await archive.delete(first.id)
    with pytest.raises(UnknownJob):
        await archive.get(first.id)
    second, new = await archive.accept(WANTED, key="k")
    assert new
    monkeypatch.setattr(accepting, "KEEP", 0.0)
    third, new = await archive.accept(replace(WANTED, name="another"), key="k")
    assert new
    assert len({first.id, second.id, third.id}) == 3


async def test_equal_requests_at_once_make_one_job(archive: Archive) -> None:
    made = await asyncio.gather(*(archive.accept(WANTED, key="k") for _ in range(20)))
    assert len({job.id for job, _ in made}) == 1
    assert sum(new for _, new in made) == 1
    assert len((await archive.list()).jobs) == 1
    failed = made[0][0].id
    made = await asyncio.gather(
        *(archive.accept(WANTED, key="k", instead_of=failed) for _ in range(20))
    )
    assert len({job.id for job, _ in made}) == 1
    assert sum(new for _, new in made) == 1


async def test_different_requests_at_once_with_one_key(archive: Archive) -> None:
    wanted = [replace(WANTED, name=str(k % 2)) for k in range(20)]
    made = await asyncio.gather(
        *(archive.accept(each, key="k") for each in wanted), return_exceptions=True
    )
    assert sum(isinstance(answer, Conflict) for answer in made) == 10
    assert len((await archive.list()).jobs) == 1


async def test_two_processes_accept_at_once(archive: Archive, url: str) -> None:
    async with SqlArchive.open(url) as other:
        made = await asyncio.gather(
            *(each.accept(WANTED, key=f"k{k % 5}") for k in range(10) for each in (archive, other))
        )
        assert len({job.id for job, _ in made}) == sum(new for _, new in made) == 5


async def test_lists(archive: Archive) -> None:
    assert (await archive.list()).jobs == []
    jobs = [(await accepted(archive, Wanted({}, [], str(k)))).id for k in range(7)]
    newest = jobs[::-1]
    assert [job.id for job in (await archive.list()).jobs] == newest
    first = await archive.list(limit=3)
    assert [job.id for job in first.jobs] == newest[:3]
    # What is accepted or deleted meanwhile moves nothing from page to page.
    await accepted(archive)
    await archive.delete(jobs[4])
    second = await archive.list(limit=3, cursor=first.cursor)
    third = await archive.list(limit=3, cursor=second.cursor)
    assert [job.id for job in (*second.jobs, *third.jobs)] == newest[3:]
    assert third.cursor is None
    with pytest.raises(StoreError, match="one or more"):
        await archive.list(limit=0)


async def test_lists_by_state(archive: Archive) -> None:
    fence = await archive.lead()
    queued, at_work, over = [await accepted(archive) for _ in range(3)]
    succeeded = replace(over, state=State.SUCCEEDED)
    await archive.record(fence, [excerpt(running(at_work)), excerpt(succeeded)])
    for state, wanted in [
        (State.QUEUED, [queued.id]),
        (State.RUNNING, [at_work.id]),
        (State.SUCCEEDED, [over.id]),
        (State.CANCELED, []),
    ]:
        assert [job.id for job in (await archive.list(state=state)).jobs] == wanted
    assert await archive.unfinished() == [queued.id, at_work.id]
    assert await archive.unfinished(after=queued.id) == [at_work.id]
    assert await archive.unfinished(limit=1) == [queued.id]
