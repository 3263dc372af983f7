"""Group commit: many requests share a transaction, and each has its own outcome."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy import Connection, make_url

from driftfold_api.archive import together
from driftfold_api.archive.database import Work
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_api.archive.sqlite import Sqlite
from driftfold_workers.jobs.job import Job
from driftfold_workers.jobs.store import Conflict, StoreRefuses
from tests.archive.databases import no_more_pages
from tests.archive.told import WANTED
from tests.workers.jobs import until

pytestmark = pytest.mark.asyncio

T = TypeVar("T")


class Counted(Sqlite):
    """Counts transactions that write, and can have the disk full at the end of one."""

    tried = 0
    written = 0
    full = False

    async def write(self, work: Work[T]) -> T:
        self.tried += 1

        def counted(connection: Connection) -> T:
            result = work(connection)
            self.written += 1
            if self.full:
                raise StoreRefuses("full")
            return result

        return await super().write(counted)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[tuple[SqlArchive, Counted]]:
    async with SqlArchive.open(f"sqlite:///{folder / 'a.sqlite'}") as archive:
        database = archive._database = Counted(make_url(f"sqlite:///{folder / 'a.sqlite'}"))
        yield archive, database


async def test_requests_at_once_share_transactions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(together, "MOST", 10)
    async with opened(tmp_path) as (archive, database):
        made = await asyncio.gather(*(archive.accept(WANTED) for _ in range(25)))
        assert database.written == 3
        listed = (await archive.list(limit=99)).jobs
        assert {job.id for job in listed} == {job.id for job, new in made if new}
        assert len(listed) == 25


async def test_one_that_is_refused_costs_the_others_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as (archive, _):
        wanted = [WANTED, replace(WANTED, name="other"), WANTED]
        first, refused, again = await asyncio.gather(
            *(archive.accept(each, key="k") for each in wanted), return_exceptions=True
        )
        assert isinstance(refused, Conflict)
        assert isinstance(first, tuple)
        assert again == (first[0], False)


async def test_a_commit_that_fails_is_told_to_all_and_nothing_is_kept(tmp_path: Path) -> None:
    async with opened(tmp_path) as (archive, database):
        database.full = True
        made = await asyncio.gather(
            *(archive.accept(WANTED) for _ in range(3)), return_exceptions=True
        )
        assert all(isinstance(outcome, StoreRefuses) for outcome in made)
        database.full = False
        assert (await archive.list()).jobs == []
        assert (await archive.accept(WANTED))[1]


async def test_the_work_of_a_caller_who_leaves_is_done(tmp_path: Path) -> None:
    async with opened(tmp_path) as (archive, _):
        leaving: asyncio.Task[tuple[Job, bool]] = asyncio.create_task(archive.accept(WANTED))
        await asyncio.sleep(0)
        leaving.cancel()

        async def there() -> bool:
            return len((await archive.list()).jobs) == 1

        await until(there)
        assert leaving.cancelled()


async def test_trouble_of_the_database_is_told_to_all_after_one_try(tmp_path: Path) -> None:
    async with opened(tmp_path) as (archive, database):
        await archive._write(no_more_pages)
        database.tried = 0
        wanted = replace(WANTED, spec={"long": "x" * 100_000})
        made = await asyncio.gather(
            *(archive.accept(wanted) for _ in range(9)), return_exceptions=True
        )
        assert {type(outcome) for outcome in made} == {StoreRefuses}
        assert database.tried == 1


async def test_one_that_fails_does_so_alone(tmp_path: Path) -> None:
    async with opened(tmp_path) as (archive, database):

        def broken(connection: Connection) -> None:
            raise KeyError("ours")

        fine, failed = await asyncio.gather(
            archive.accept(WANTED), database.join(broken), return_exceptions=True
        )
        assert isinstance(fine, tuple)
        assert isinstance(failed, KeyError)
        assert (await archive.list()).jobs == [fine[0]]
