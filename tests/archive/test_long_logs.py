"""Long logs and long records: a page costs what is on it, wherever in the log it is."""

from typing import Any

import pytest
from sqlalchemy import Connection, text

from driftfold_api.archive import reading
from driftfold_api.archive.base import Archive
from driftfold_api.archive.sql_archive import SqlArchive
from tests.archive.told import accepted, excerpt, lines, running

pytestmark = pytest.mark.asyncio

FILL = text(
    "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :last) "
    "INSERT INTO records SELECT :job, n, printf('{\"seq\":%d}', n) FROM numbers"
)


async def test_pages_of_long_records_are_short(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PAGE_BYTES", 10_000)
    fence, job = await archive.lead(), await accepted(archive)
    told = [*lines(1, 40), *lines(41, 80, "x" * 3000), *lines(81, 81, "x" * 50_000)]
    told += lines(82, 90)
    await archive.record(fence, [excerpt(running(job, seq=90), 1, told)])
    seen: list[bytes] = []
    sizes = []
    while page := await archive.read(job.id, after=len(seen)):
        sizes.append(len(page))
        seen += page
    assert seen == told
    assert max(sizes[1:]) < 20
    assert sizes[0] == 40 + 4  # short ones go together
    assert len((await archive.news(job.id, after=80)).records) == 1  # one at least


@pytest.mark.parametrize("last", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
async def test_every_page_costs_the_same(tmp_path: Any, last: int) -> None:
    async with SqlArchive.open(f"sqlite:///{tmp_path / 'a.sqlite'}") as archive:
        job = await accepted(archive)
        await archive._write(lambda at: at.execute(FILL, {"job": job.id, "last": last}))
        place = await archive._read(lambda at: reading.place_of(at, job.id))

        def steps(after: int) -> int:
            """How often the database has done a thousand things for a page."""

            def count(connection: Connection) -> int:
                done = 0

                def one() -> None:
                    nonlocal done
                    done += 1

                driver: Any = connection.connection.driver_connection
                driver.set_progress_handler(one, 1000)
                found = reading.records_of(connection, place, after, 1000)
                driver.set_progress_handler(None, 0)
                assert len(found) == 1000
                return done

            return archive._database._transaction("BEGIN", count)  # type: ignore[attr-defined, no-any-return]

        first = steps(0)
        assert 0 < first < 50
        for after in range(1000, last, last // 5):
            assert abs(steps(after - 1000) - first) <= 1
        rows = size = 0
        while page := await archive.read(job.id, after=rows, limit=5000):
            rows += len(page)
            size += sum(map(len, page))
        assert (rows, size) == (last, sum(len(f'{{"seq":{n}}}') for n in range(1, last + 1)))
