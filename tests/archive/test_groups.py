"""Groups in the archive: all or none, tallied, judged under a fence, deleted with their jobs."""

from dataclasses import replace

import pytest

from driftfold_api.archive.base import KeyReused, Overtaken, Wanted
from driftfold_api.archive.group import Group, GroupWanted, UnknownGroup
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.store import UnknownJob
from tests.archive.told import WANTED, accepted, excerpt, running

pytestmark = pytest.mark.asyncio

SWEEP = {"grid": {"b": [1], "a": [1, 2, 3]}}


def wanted(count: int = 3, **facts: object) -> GroupWanted:
    """A group with seeds for points."""
    children = [({"seed": seed}, replace(WANTED, name=f"häß {seed}")) for seed in range(count)]
    asked = GroupWanted("n", {"seed": 7}, SWEEP, {"kind": "median", "metric": "gap"}, children)
    return replace(asked, **facts)  # type: ignore[arg-type]


async def made(archive: SqlArchive, count: int = 3) -> tuple[Group, list[Job]]:
    group, jobs, new = await archive.groups.accept(wanted(count))
    assert new
    return group, list(jobs)


def told(seq: int, round_: int, gap: object) -> bytes:
    return f'{{"seq":{seq},"version":{round_},"values":{{"gap":{gap},"x":1}}}}'.encode()


async def record(archive: SqlArchive, fence: int, job: Job, first: int, *lines: bytes) -> None:
    last = first + len(lines) - 1
    await archive.record(fence, [excerpt(running(job, seq=last, rounds=last), first, lines)])


async def test_a_group_and_its_jobs_are_kept(archive: SqlArchive) -> None:
    group, jobs = await made(archive)
    assert await archive.groups.get(group.id) == group
    assert list(group.sweep["grid"]) == ["b", "a"]  # the order of paths is that of points
    assert [job.id for job in jobs] == sorted(job.id for job in jobs)
    for job in jobs:
        assert await archive.get(job.id) == job
        assert (job.group, job.state) == (group.id, State.QUEUED)
    found = await archive.groups.children(group.id)
    assert [(child.number, child.point["seed"], child.job) for child in found] == [
        (number, number - 1, job) for number, job in enumerate(jobs, 1)
    ]
    assert [
        child.number for child in await archive.groups.children(group.id, after=1, limit=1)
    ] == [2]
    assert await archive.groups.list() == [group]
    assert await archive.groups.list(cursor=group.id) == []
    tally = (await archive.groups.tallies([group.id]))[group.id]
    assert (tally.states, tally.rounds, tally.horizon_rounds) == ({State.QUEUED: 3}, 0, 120)
    with pytest.raises(UnknownGroup):
        await archive.groups.get(jobs[0].id)


async def test_a_key_makes_one_group(archive: SqlArchive) -> None:
    first, jobs, new = await archive.groups.accept(wanted(), key="k")
    assert (new, len(jobs)) == (True, 3)
    assert await archive.groups.accept(wanted(), key="k") == (first, [], False)
    with pytest.raises(KeyReused):
        await archive.groups.accept(wanted(2), key="k")
    await archive.groups.delete(first.id)
    again, _, new = await archive.groups.accept(wanted(), key="k")
    assert (new, again.id != first.id) == (True, True)


async def test_all_jobs_are_made_or_none(archive: SqlArchive) -> None:
    broken = replace(WANTED, name=None)  # type: ignore[arg-type]
    children: list[tuple[dict[str, int], Wanted]] = [({"seed": 1}, WANTED), ({"seed": 2}, broken)]
    with pytest.raises(Exception, match=r"(?i)null"):
        await archive.groups.accept(wanted(children=children))
    assert await archive.groups.list() == []
    assert (await archive.list()).jobs == []


async def test_values_are_told_once_and_verdicts_kept_under_a_fence(archive: SqlArchive) -> None:
    group, jobs = await made(archive)
    other = await accepted(archive)
    fence = await archive.lead()
    await record(archive, fence, jobs[0], 1, told(1, 5, 1.5), told(2, 10, '"NaN"'))
    await record(archive, fence, jobs[1], 1, b'{"seq":1,"version":5,"values":{}}')
    await record(archive, fence, other, 1, told(1, 5, 9.0))
    values, last = await archive.groups.values(group.id, "gap", {})
    assert last == {1: 2, 2: 1}
    assert [*values] == [1]
    assert (values[1][0], values[1][1][0]) == ((5, 1.5), 10)
    assert values[1][1][1] != values[1][1][1]  # NaN
    assert await archive.groups.values(group.id, "gap", last) == ({}, {})

    groups = archive.groups
    assert await groups.standing(group.id) == {1: (-1, False), 2: (-1, False), 3: (-1, False)}
    await groups.decide(fence, group.id, {1: 10, 2: 5}, {1: "worse"}, None)
    assert await groups.standing(group.id) == {1: (10, True), 2: (5, False), 3: (-1, False)}
    assert await groups.doomed(10) == [(jobs[0].id, "worse")]
    await groups.decide(fence, group.id, {2: 10}, {}, (2, "reached"))
    assert sorted(await groups.doomed(10)) == [(jobs[0].id, "worse"), (jobs[2].id, "reached")]
    await groups.end(group.id, "later")
    assert (await groups.get(group.id)).ended == "reached"  # the first reason counts
    assert await archive.lead() > fence
    with pytest.raises(Overtaken):
        await groups.decide(fence, group.id, {3: 5}, {}, None)
    assert (await groups.standing(group.id))[3] == (-1, False)


async def test_a_group_is_open_until_its_jobs_are_over(archive: SqlArchive) -> None:
    group, jobs = await made(archive, 2)
    groups, fence = archive.groups, await archive.lead()
    for job in jobs:
        await groups.close()
        assert [each.id for each in await groups.open()] == [group.id]
        over = replace(running(job), state=State.SUCCEEDED)
        await archive.record(fence, [excerpt(over)])
    await groups.close()
    assert await groups.open() == []
    await groups.delete(group.id)
    for job in jobs:
        with pytest.raises(UnknownJob):
            await archive.get(job.id)
    with pytest.raises(UnknownGroup):
        await groups.get(group.id)
