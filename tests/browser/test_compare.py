"""Jobs compared: their curves in one figure, their values and settings side by side."""

import httpx
import pytest
from playwright.async_api import expect

from driftfold_workers.redis_store import RedisJobStore
from tests.browser.chromium import Watched
from tests.browser.stories import drawn, drawn_so_far, gaps, record, story

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_two_jobs_chosen_from_the_list(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    one = await story(store, http, "one")
    two = await story(store, http, "two", seed=5)
    await one.write(100)
    await two.append([record(1), record(2, 0.5)])
    await page.goto("/")
    compare = page.get_by_role("button", name="Compare")
    await expect(compare).to_be_disabled()
    await page.get_by_role("checkbox", name="Compare one").check()
    await expect(compare).to_be_disabled()
    await page.get_by_role("checkbox", name="Compare two").check()
    await expect(compare).to_have_text("Compare 2")
    await compare.click()
    await expect(page.locator("h1")).to_have_text("2 jobs compared")
    await drawn_so_far(page, 50)
    places, values = gaps(100)
    assert await drawn(page) == [places, values, [0.5, *[None] * 49]]
    await two.append([record(3), record(4, 0.25)])  # both go on while one looks
    await one.write(2)
    await drawn_so_far(page, 51)
    places, values = gaps(102)
    holes = "column => column === '0.5,0.25'"
    await page.wait_for_function(
        f"figure => ({holes})(document.querySelector(figure).plot.data[2].slice(0, 2).join())",
        arg="figure",
    )
    assert (await drawn(page))[:2] == [places, values]
    differ = page.get_by_role("table", name="What differs").locator("tbody tr")
    assert await differ.all_inner_texts() == ["seed\t0\t5"]
    row = page.locator('.values tr[data-metric="evaluation/gap"] td')
    assert await row.all_inner_texts() == ["0.3606", "0.25", "51, 2"]
    await page.go_back()
    await expect(compare).to_have_text("Compare 2")  # one goes on choosing
    await page.get_by_role("checkbox", name="Compare two").uncheck()
    await expect(compare).to_be_disabled()


async def test_curves_with_places_of_their_own_are_not_broken(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    """Places between two points of a curve are no holes in it: they are undefined, not null."""
    page = watched.page
    dense = await story(store, http, "dense")
    sparse = await story(store, http, "sparse")
    await dense.write(20)
    form = b'{"seq":%d,"kind":"evaluation","time":1,"version":%d,"values":{"gap":%b}}'
    lines = [(1, 1, b"1.0"), (2, 5, b'"NaN"'), (3, 9, b"0.5"), (4, 9, b"0.4")]
    await sparse.append([form % line for line in lines])
    await page.goto(f"/#/compare/{dense.job},{sparse.job}")
    await page.wait_for_function("() => document.querySelector('figure')?.plot?.data.length === 3")
    await drawn_so_far(page, 11)
    kinds = "figure => Array.from(figure.plot.data[2], (y) => y === undefined ? '' : String(y))"
    shown = await page.locator("figure").evaluate(kinds)
    assert shown == ["1", "", "", "", "null", "", "", "", "0.5", "0.4", ""]


async def test_five_jobs_at_most_and_colours_are_not_all_that_tells_them_apart(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    stories = [await story(store, http, f"arm {number}") for number in range(5)]
    for number, told in enumerate(stories):
        await told.append([record(1), record(2, 0.1 * number), record(3), record(4, 0.3)])
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.goto(f"/#/compare/{','.join(told.job for told in stories)}")
    await page.wait_for_function("() => document.querySelector('figure')?.plot?.data.length === 6")
    assert len([url for url in asked if "/events" in url]) == 1  # browsers grant few connections
    lines = "figure => figure.plot.series.slice(1).map((one) => [one.stroke(), one.dash.join()])"
    told_apart = await page.locator("figure").evaluate(lines)
    for kind in zip(*told_apart, strict=True):
        assert len(set(kind)) == 5
    await expect(page.locator("section")).to_have_count(5)
