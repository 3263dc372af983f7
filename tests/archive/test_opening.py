"""Opening an archive: tables are made once, a later version's are refused, bad addresses told."""

import asyncio
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from driftfold_api.archive import migrating
from driftfold_api.archive.base import ArchiveError
from driftfold_api.archive.migrating import FOLDER, HEAD
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_api.archive.tables import metadata
from driftfold_workers.jobs.store import StoreRefuses, StoreUnreachable
from driftfold_workers.jobs.terms import USUAL
from driftfold_workers.jobs.usage import UNUSED
from tests.archive.databases import free_port, no_more_pages
from tests.archive.told import WANTED, accepted


def test_the_newest_migration_is_the_one_that_is_asked_for() -> None:
    assert ScriptDirectory(FOLDER).get_current_head() == HEAD


@pytest.mark.asyncio
async def test_migrations_make_the_tables_that_the_code_knows(archive: SqlArchive) -> None:
    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return list(compare_metadata(context, metadata))

    assert await archive._read(differences) == []


@pytest.mark.asyncio
async def test_several_open_a_new_archive_at_once(url: str) -> None:
    async def use() -> str:
        async with SqlArchive.open(url) as archive:
            return (await accepted(archive)).id

    made = await asyncio.gather(*(use() for _ in range(4)))
    async with SqlArchive.open(url) as archive:
        assert {job.id for job in (await archive.list()).jobs} == set(made)


@pytest.mark.asyncio
async def test_an_earlier_versions_jobs_have_the_usual_terms(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = text(
        "INSERT INTO jobs (id, name, spec, needs, created, state, reason, attempt, epoch, worker, "
        "seq, events, rounds) "
        "VALUES ('0192', 'old', '{}', '[]', 1.5, 'queued', '', 0, 0, '', 0, 0, 0)"
    )
    earlier = SqlArchive(url)
    with monkeypatch.context() as patch:
        patch.setattr(migrating, "HEAD", "0001")
        await earlier._write(partial(migrating.migrate, database=earlier._database))
    await earlier._write(lambda connection: connection.execute(job))
    await earlier._database.close()
    async with SqlArchive.open(url) as archive:
        old = await archive.get("0192")
        assert (old.name, old.terms, old.group, old.origin) == ("old", USUAL, "", None)
        assert (old.dead, old.diverged, old.used) == (False, None, UNUSED)
        assert await archive.send(["0192"]) == ["0192"]
        assert archive.id
        assert await accepted(archive)


@pytest.mark.asyncio
async def test_a_later_versions_archive_is_refused(url: str) -> None:
    later = text("UPDATE alembic_version SET version_num = '9999'")
    async with SqlArchive.open(url) as archive:
        await archive._write(lambda connection: connection.execute(later))
    with pytest.raises(ArchiveError, match=f"revision 9999.*up to {HEAD}: a later version"):
        async with SqlArchive.open(url):
            pass


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "url", ["mysql://here/x", "no url", "sqlite://", "sqlite:///:memory:", "sqlite+aiosqlite:///x"]
)
async def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(ArchiveError, match="cannot keep the archive at"):
        async with SqlArchive.open(url):
            pass


@pytest.mark.asyncio
async def test_a_password_is_not_told() -> None:
    pytest.importorskip("asyncpg")
    url = f"postgresql://me:secret@127.0.0.1:{free_port()}/x"
    with pytest.raises(StoreUnreachable, match="DRIFTFOLD_ARCHIVE") as told:
        async with SqlArchive.open(url):
            pass
    assert "secret" not in str(told.value)


@pytest.mark.asyncio
async def test_a_file_that_is_in_use_is_told_and_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftfold_api.archive.sqlite.BUSY", 0.05)
    url = f"sqlite:///{tmp_path / 'a.sqlite'}"
    async with SqlArchive.open(url) as one, SqlArchive.open(url) as other:
        held, done = threading.Event(), threading.Event()

        def hold(_: Connection) -> None:
            held.set()
            done.wait(60)

        holding = asyncio.create_task(one._write(hold))
        await asyncio.to_thread(held.wait, 60)
        with pytest.raises(StoreUnreachable, match="locked"):
            await other.accept(WANTED)
        assert (await other.list()).jobs == []  # readers do not wait
        done.set()
        await holding
        assert (await other.accept(WANTED))[1]


@pytest.mark.asyncio
async def test_a_full_disk_is_told(tmp_path: Path) -> None:
    async with SqlArchive.open(f"sqlite:///{tmp_path / 'a.sqlite'}") as archive:
        await archive._write(no_more_pages)
        with pytest.raises(StoreRefuses, match="full"):
            await archive.accept(replace(WANTED, spec={"long": "x" * 1_000_000}))


@pytest.mark.asyncio
async def test_what_is_committed_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # as it is outside of tests

    def settings(connection: Connection) -> list[object]:
        return [connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in names]

    names = ("synchronous", "journal_mode", "foreign_keys")
    async with SqlArchive.open(f"sqlite:///{tmp_path / 'a.sqlite'}") as archive:
        assert await archive._write(settings) == [2, "wal", 1]
