"""Everybody can use the page: by keyboard, with a screen reader, in the dark, on a phone."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Browser, Page, expect

from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import Api, submitted
from tests.browser.chromium import Watched, opened
from tests.browser.stories import drawn_so_far, story

pytestmark = pytest.mark.asyncio(loop_scope="session")

FOCUS = """() => {
  const { activeElement: it } = document;
  const { outlineStyle, outlineWidth } = getComputedStyle(it);
  const box = it.getBoundingClientRect();
  return {
    name: it.ariaLabel || (it.labels?.[0] ?? it).firstChild?.textContent.trim()
      || (it.labels?.[0] ?? it).textContent.trim(),
    visible: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && box.width > 0,
  };
}"""

CONTRAST = """() => {
  const light = (text) => {
    const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const { backgroundColor } = getComputedStyle(element);
    return /, 0\\)$/.test(backgroundColor) && element.parentElement
      ? behind(element.parentElement) : backgroundColor;
  };
  const low = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !element.checkVisibility() || element.disabled) continue;
    const [a, b] = [light(getComputedStyle(element).color), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push([element.outerHTML.slice(0, 80), ratio]);
  }
  return low;
}"""

NAMELESS = """[...document.querySelectorAll('input, select, button, a')]
  .filter((e) => !(e.textContent.trim() || e.labels?.length || e.ariaLabel)).length"""


async def tab(page: Page) -> str:
    """Press the tabulator, check that the focus can be seen; return the name of what has it."""
    await page.keyboard.press("Tab")
    focus: dict[str, Any] = await page.evaluate(FOCUS)
    assert focus["visible"], focus
    assert focus["name"], focus
    return str(focus["name"])


async def test_everything_works_by_keyboard(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    for name in ("one", "two"):
        await (await story(store, http, name)).write(20)
    await page.goto("/")
    await expect(page.locator("tbody tr")).to_have_count(2)
    assert [await tab(page) for _ in range(4)] == [
        *("driftfold", "Health", "State", "Compare two"),
    ]
    await page.keyboard.press("Space")
    assert [await tab(page), await tab(page)] == ["two", "Compare one"]
    await page.keyboard.press("Space")
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Shift+Tab")
    assert (await page.evaluate(FOCUS))["name"] == "Compare 2"
    await page.keyboard.press("Enter")
    await expect(page.locator("h1")).to_be_focused()
    await drawn_so_far(page, 10)
    await page.go_back()
    await page.get_by_role("link", name="two").focus()
    await page.keyboard.press("Enter")
    await drawn_so_far(page, 10)

    assert [await tab(page), await tab(page)] == ["Pause job", "Cancel job"]
    links = [await tab(page) for _ in range(3)]
    assert links == ["job", "records", "lifecycle"]
    assert await tab(page) == "round"
    await page.keyboard.press("ArrowRight")
    assert (await page.evaluate(FOCUS))["name"] == "virtual time"
    assert await tab(page) == "logarithmic"
    assert await tab(page) == "Latest values"  # scrolls by keyboard
    assert await tab(page) == "gap"  # measured values first
    await page.keyboard.press("Space")
    await expect(page.locator("figure")).to_have_count(0)
    await page.keyboard.press("Space")
    await expect(page.locator("figure")).to_have_count(1)
    assert [await tab(page) for _ in range(4)] == ["loss", "accepted", "step_norm", "Specification"]
    await page.keyboard.press("Enter")
    await expect(page.locator("pre")).to_be_visible()

    await page.get_by_role("button", name="Cancel job").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Keep it")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(page.get_by_role("button", name="Cancel job")).to_be_focused()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Enter")
    await expect(page.locator(".state")).to_have_text("■ canceling")


async def test_everything_has_a_name_and_a_role(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    told = await story(store, http, "one")
    await told.write(20)
    await page.goto("/")
    await expect(page.get_by_role("table", name="Jobs, newest first")).to_be_visible()
    heads = await page.get_by_role("columnheader").all_inner_texts()
    assert heads == ["Compare", "Job", "State", "Progress", "Worker", "Submitted", "Took"]
    await expect(page.get_by_role("rowheader", name="one")).to_be_visible()
    await expect(page.get_by_role("progressbar", name="Progress of one")).to_be_visible()
    await page.goto(f"/#/jobs/{told.job}")
    await drawn_so_far(page, 10)
    for landmark in ("banner", "main"):
        await expect(page.get_by_role(landmark)).to_have_count(1)
    await expect(page.get_by_role("heading", level=1)).to_have_count(1)
    await expect(page.get_by_role("region", name="one", exact=True)).to_be_visible()
    await expect(page.get_by_role("group", name="Against")).to_be_visible()
    await expect(page.get_by_role("img", name="gap against round")).to_be_visible()
    await expect(page.get_by_role("table", name="Latest values")).to_be_visible()
    assert await page.evaluate(NAMELESS) == 0
    ids = await page.evaluate("Array.from(document.querySelectorAll('[id]'), (e) => e.id)")
    assert len(ids) == len(set(ids)) > 2
    assert await page.evaluate("document.documentElement.lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_colours_follow_the_system_and_can_be_read(
    browser: Browser, api: Api, store: RedisJobStore, http: httpx.AsyncClient, scheme: Any,
    tmp_path: Path,
) -> None:  # fmt: skip
    told = await story(store, http, "one")
    await told.write(20)
    await submitted(http, name="waits")
    await store.cancel(await submitted(http, name="canceled"))
    async with opened(browser, api.url, color_scheme=scheme) as watched:
        page = watched.page
        for view in ("/", f"/#/jobs/{told.job}"):
            await page.goto(view)
            await expect(page.locator("th[scope=row]").first).to_be_visible()
            assert await page.evaluate(CONTRAST) == []
        paper = await page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}[scheme]
        await page.screenshot(path=tmp_path / f"{scheme}.png", full_page=True)
        stroke = "figure => figure.plot.series[1].stroke()"
        await drawn_so_far(page, 10)
        before = await page.locator("figure").evaluate(stroke)
        other = "light" if scheme == "dark" else "dark"
        await page.emulate_media(color_scheme=other)  # type: ignore[arg-type]
        await page.wait_for_function(
            "before => document.querySelector('figure').plot.series[1].stroke() !== before",
            arg=before,
        )


async def test_a_phone_shows_it_all_without_scrolling_sideways(
    browser: Browser, api: Api, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    told = await story(store, http, "a job with a rather long name " + "and-one-long-word" * 5)
    await told.write(20)
    phone = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
    async with opened(browser, api.url, **phone) as watched:
        page = watched.page
        views = ("/", f"/#/jobs/{told.job}", f"/#/compare/{told.job},{told.job}")
        for view in views:
            await page.goto(view)
            await expect(page.locator("th[scope=row]").first).to_be_visible()
            wide = "document.documentElement.scrollWidth - innerWidth"
            assert await page.evaluate(wide) <= 0, view
        box = await page.locator("canvas").bounding_box()
        assert box is not None
        assert 300 <= box["width"] <= 360
