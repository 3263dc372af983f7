"""The list of jobs: what waits, runs and is over, as it changes."""

import httpx
import pytest
from playwright.async_api import expect

from driftfold_workers.jobs.job import State
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import submitted
from tests.browser.chromium import Watched
from tests.browser.stories import story

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_empty_service_says_how_to_submit(watched: Watched) -> None:
    await watched.page.goto("/")
    await expect(watched.page).to_have_title("driftfold: jobs")
    await expect(watched.page.locator(".empty")).to_contain_text("driftfold submit")
    await expect(watched.page.locator(".top")).to_contain_text("No worker is there.")


async def test_jobs_appear_and_change_while_one_looks(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    await page.goto("/")
    first = await story(store, http, "first")
    await submitted(http, name="second")
    rows = page.locator("tbody tr")
    await expect(rows).to_have_count(2)
    second_row, first_row = rows.nth(0), rows.nth(1)  # newest first
    await expect(second_row).to_contain_text("queued")
    await expect(first_row).to_contain_text("running")
    await expect(page.locator(".top")).to_contain_text("Queued jobs wait")
    await store.announce("anne", ["task:pca"], slots=2, ttl=60.0)
    await expect(page.locator(".top")).to_have_text("Jobs1 worker, 1 of 2 slots busy")

    await first_row.get_by_role("link").focus()
    await first.write(200)
    await expect(first_row).to_contain_text("100 / 300")
    assert await first_row.locator("progress").evaluate("bar => bar.value") == pytest.approx(1 / 3)
    await store.finish(first.job, first.epoch, State.SUCCEEDED, result={})
    await expect(first_row).to_contain_text("✓ succeeded")
    await expect(first_row.get_by_role("link")).to_be_focused()  # through all the changes
    assert (await http.delete(f"/v1/jobs/{first.job}")).status_code == 204
    await expect(rows).to_have_count(1)

    await page.get_by_label("State").select_option("failed")
    await expect(page.locator(".empty")).to_be_visible()
    await page.get_by_label("State").select_option("queued")
    await expect(rows).to_have_count(1)
    await rows.get_by_role("link").click()
    await expect(page.locator("h1")).to_have_text("second")
    await expect(page.locator("h1")).to_be_focused()
    await page.go_back()
    await expect(page.locator("h1")).to_have_text("Jobs")


async def test_a_failed_job_says_why_in_the_list(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    told = await story(store, http, "broken")
    await store.finish(told.job, told.epoch, State.FAILED, reason="no such data")
    await watched.page.goto("/")
    await expect(watched.page.locator("tbody tr")).to_contain_text("no such data")


@pytest.mark.slow
async def test_more_jobs_than_one_page_holds(watched: Watched, http: httpx.AsyncClient) -> None:
    for number in range(55):
        await submitted(http, name=f"job {number}")
    page = watched.page
    await page.goto("/")
    await expect(page.locator("tbody tr")).to_have_count(50)
    await page.get_by_role("button", name="Show more").click()
    await expect(page.locator("tbody tr")).to_have_count(55)
    await expect(page.get_by_role("button", name="Show more")).to_be_hidden()
    names = await page.locator("tbody a").all_inner_texts()
    assert names == [f"job {number}" for number in reversed(range(55))]


async def test_names_are_text_not_markup(watched: Watched, http: httpx.AsyncClient) -> None:
    name = "<img src=x onerror=alert(1)> &amp; 'quoted'"
    await submitted(http, name=name)
    await watched.page.goto("/")
    await expect(watched.page.locator("tbody a")).to_have_text(name)
    await watched.page.locator("tbody a").click()
    await expect(watched.page.locator("h1")).to_have_text(name)
