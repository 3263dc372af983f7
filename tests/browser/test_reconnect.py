"""A page that loses its connection misses nothing and shows nothing twice."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, expect

from driftfold_api.cursor import Cursor, Place
from driftfold_workers.jobs.job import State
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import Api
from tests.browser.chromium import Watched, opened
from tests.browser.processes import ApiProcess, started
from tests.browser.stories import Story, drawn, drawn_so_far, gaps, story

pytestmark = pytest.mark.asyncio(loop_scope="session")

LOST = "Connection lost. Trying again …"


@pytest_asyncio.fixture(loop_scope="session")
async def process(
    server: EmbeddedServer, store: RedisJobStore, tmp_path: Path
) -> AsyncIterator[ApiProcess]:
    async with started(server.url, store.keys.prefix, tmp_path) as process:
        yield process


async def finish(told: Story, page: Page) -> None:
    """The job ends, and the page shows all of it."""
    await told.write(600 - told.last)
    await told.store.finish(told.job, told.epoch, State.SUCCEEDED, result={"rounds": 300})
    await expect(page.locator(".state")).to_have_text("✓ succeeded", timeout=20_000)
    await drawn_so_far(page, 300)
    assert await drawn(page) == gaps(600)


@pytest.mark.parametrize("times", [1, pytest.param(2, marks=pytest.mark.slow)])
async def test_an_api_that_is_killed_and_comes_back(
    browser: Browser, process: ApiProcess, store: RedisJobStore, times: int
) -> None:
    """Seen by a page that draws a job and by one that lists all jobs."""
    async with (
        opened(browser, process.origin) as watched,
        opened(browser, process.origin) as listed,
    ):
        page, rows = watched.page, listed.page.locator("tbody tr")
        connections = [one.page.locator("#connection") for one in (watched, listed)]
        async with httpx.AsyncClient(base_url=process.origin, trust_env=False) as http:
            told = await story(store, http, "goes on")
        await told.write(100)
        await page.goto(f"/#/jobs/{told.job}")
        await drawn_so_far(page, 50)
        await listed.page.goto("/")
        await expect(rows).to_contain_text("50 / 300")
        for at in (200, 300)[:times]:
            process.kill()
            for connection in connections:
                await expect(connection).to_have_text(LOST)
            await told.write(100)  # the job does not need the API
            assert await drawn(page) == gaps(at - 100)  # what was known stays
            await expect(rows).to_contain_text(f"{at // 2 - 50} / 300")
            await process.start()
            await drawn_so_far(page, at // 2)
            await expect(rows).to_contain_text(f"{at // 2} / 300", timeout=20_000)
            for connection in connections:
                await expect(connection).to_have_text("")
            assert await drawn(page) == gaps(at)
        await finish(told, page)


async def test_an_api_that_stops_in_good_order(
    watched: Watched, api: Api, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    told = await story(store, http, "goes on")
    await told.write(100)
    await page.goto(f"/#/jobs/{told.job}")
    await drawn_so_far(page, 50)
    await api.stop()
    await told.write(100)
    await api.start()
    await drawn_so_far(page, 100)
    assert await drawn(page) == gaps(200)
    await finish(told, page)


async def test_an_answer_that_browsers_do_not_come_back_from(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    """A proxy that answers 502 for a while ends an EventSource for good."""
    page = watched.page
    told = await story(store, http, "behind a proxy")
    await told.write(100)
    await page.route("**/events?*", lambda route: route.fulfill(status=502, body="no"))
    await page.goto(f"/#/jobs/{told.job}")
    await expect(page.locator("#connection")).to_have_text(LOST)
    await page.unroute("**/events?*")
    await drawn_so_far(page, 50)
    assert await drawn(page) == gaps(100)
    await finish(told, page)


async def test_a_gap_and_a_repetition_on_the_way_are_noticed(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    """Records 1 to 4, then again 3 and 4, then 7: the page asks for what is missing."""
    page = watched.page
    told = await story(store, http, "broken proxy")
    await told.write(100)
    answer = await http.get(f"/v1/jobs/{told.job}/records")
    lines = answer.text.removeprefix('{"records":[').partition('],"last"')[0]
    known = [f"{{{line}" for line in lines.removeprefix("{").split(",{")]

    def event(*numbers: int) -> str:
        cursor = Cursor({told.job: Place(numbers[-1], 2)}).text
        records = ",".join(known[number - 1] for number in numbers)
        return (
            f'id: {cursor}\nevent: records\ndata: {{"job":"{told.job}","records":[{records}]}}\n\n'
        )

    frames = event(1, 2) + event(3, 4) + event(3, 4) + event(7)
    asked: list[str] = []

    async def once(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) > 1:
            await route.continue_()
        else:
            await route.fulfill(headers={"content-type": "text/event-stream"}, body=frames)

    await page.route("**/events?*", once)
    await page.goto(f"/#/jobs/{told.job}")
    await drawn_so_far(page, 50)
    assert await drawn(page) == gaps(100)
    assert "cursor" not in asked[0]
    assert Cursor({told.job: Place(4, 2)}).text in unquote(asked[1])


async def test_a_hidden_page_lets_go_and_catches_up(
    watched: Watched, api: Api, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    told = await story(store, http, "hidden")
    await told.write(100)
    await page.goto(f"/#/jobs/{told.job}")
    await drawn_so_far(page, 50)
    become = """(hidden) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
      document.dispatchEvent(new Event('visibilitychange'));
    }"""
    await page.evaluate(become, True)
    async with asyncio.timeout(20):
        while api.service.feeds.followed:
            await page.wait_for_timeout(20)
    await told.write(100)
    await page.evaluate(become, False)
    await drawn_so_far(page, 100)
    assert await drawn(page) == gaps(200)
