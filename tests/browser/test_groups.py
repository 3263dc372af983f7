"""Groups on the page: in the list, and one with its jobs and points."""

import httpx
import pytest
from playwright.async_api import expect

from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import SPEC, claimed, finish
from tests.browser.chromium import Watched

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_group_is_watched_and_canceled(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    sweep = {"grid": {"algorithm.steps": [1, 2]}, "seeds": [7, 8]}
    asked = {"spec": SPEC, "sweep": sweep, "name": "steps"}
    group = (await http.post("/v1/groups", json=asked)).json()["id"]
    children = (await http.get(f"/v1/groups/{group}/jobs")).json()["jobs"]
    first = children[0]["job"]["id"]
    await page.goto("/")
    section = page.get_by_role("region", name="Groups")
    await expect(section).to_contain_text("0 of 4 jobs over: 4 queued")
    await section.get_by_role("link", name="steps").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("h1")).to_have_text("steps")
    rows = page.locator("tbody tr")
    await expect(rows).to_have_count(4)
    cells = await rows.nth(2).locator("td").all_inner_texts()
    assert cells[:3] == ["3", "2", "7"]
    await finish(store, first, await claimed(store, first))
    await expect(rows.first.locator(".state")).to_have_text("✓ succeeded")
    await page.get_by_role("button", name="Cancel group").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Keep them")).to_be_focused()
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Enter")
    await expect(rows.nth(3).locator(".state")).to_have_text("■ canceled")
    await expect(page.get_by_role("button", name="Cancel group")).to_be_hidden()
    await expect(rows.nth(3)).to_contain_text("its group was canceled")
    await rows.first.get_by_role("link").click()
    await expect(page.locator(".state")).to_have_count(1)  # the job's own page is there
    await expect(page.locator(".state")).to_have_text("✓ succeeded")
