"""Every test of an archive runs on each kind of database, on an empty one."""

import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import create_async_engine

from driftfold_api.archive.sql_archive import SqlArchive
from tests.archive import databases


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    programs = databases.programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    with databases.postgres(programs) as server:
        yield server.url


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftfold_api.archive.sqlite.SYNCHRONOUS", "OFF")


@pytest_asyncio.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'new' / 'archive.sqlite'}"
    pytest.importorskip("asyncpg")
    server: str = request.getfixturevalue("postgres")
    name = f"t{secrets.token_hex(4)}"
    engine = create_async_engine(
        make_url(server).set(drivername="postgresql+asyncpg"), isolation_level="AUTOCOMMIT"
    )
    async with engine.connect() as connection:
        await connection.execute(text(f"CREATE DATABASE {name}"))
    await engine.dispose()
    return server.removesuffix("postgres") + name


@pytest_asyncio.fixture
async def archive(url: str) -> AsyncIterator[SqlArchive]:
    async with SqlArchive.open(url) as archive:
        yield archive
