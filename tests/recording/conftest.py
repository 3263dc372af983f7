"""A job store on a real server, and an archive in a file of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from driftfold_api.archive.sql_archive import SqlArchive
from tests.workers.fixtures import server, store

__all__ = ["server", "store"]  # used by the tests here


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftfold_api.archive.sqlite.SYNCHRONOUS", "OFF")


@pytest_asyncio.fixture
async def archive(tmp_path: Path) -> AsyncIterator[SqlArchive]:
    async with SqlArchive.open(f"sqlite:///{tmp_path / 'archive.sqlite'}") as archive:
        yield archive
