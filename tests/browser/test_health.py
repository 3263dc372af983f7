"""The page of the service's health: parts, queue, workers, as they change."""

import os

import httpx
import pytest
from playwright.async_api import expect

from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import submitted
from tests.browser.chromium import Watched
from tests.browser.stories import story

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_parts_queue_and_workers_are_shown(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    await page.goto("/")
    await page.get_by_role("link", name="Health").click()
    await expect(page).to_have_title("driftfold: health")
    await expect(page.locator("h1")).to_be_focused()
    await expect(page.locator(".top")).to_contain_text("All parts answer.")
    await expect(page.locator("main")).to_contain_text("No worker is there")
    await store.announce("anne", ["task:pca"], slots=2, ttl=60.0)
    running = await story(store, http, "first")
    await submitted(http, priority=5)
    await submitted(http, delay_seconds=1000)
    parts = page.get_by_role("region", name="Parts")
    await expect(parts.get_by_role("row", name="Job store")).to_contain_text("✓ up")
    await expect(parts.get_by_role("row", name="Recorder")).to_contain_text("in this process")
    queue = page.get_by_role("region", name="Jobs that begin")
    await expect(queue.get_by_role("row", name="high")).to_contain_text("1")
    await expect(page.locator("dl")).to_contain_text("1 of 2 slots")
    workers = page.get_by_role("region", name="Workers that are there")
    await expect(workers.get_by_role("row", name="anne")).to_contain_text("1 of 2")
    await expect(workers.get_by_role("link")).to_have_attribute("href", f"#/jobs/{running.job}")
    if folder := os.environ.get("DRIFTFOLD_SCREENSHOTS"):
        await page.screenshot(path=f"{folder}/health.png", full_page=True)
    await page.get_by_role("link", name="driftfold", exact=True).click()
    await expect(page).to_have_title("driftfold: jobs")
    assert not watched.complaints
