"""Debian's Chromium, without a screen, without a profile, without a word to anybody outside."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, BrowserContext, Page, Request, async_playwright

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@asynccontextmanager
async def chromium(program: str) -> AsyncIterator[Browser]:
    """A browser; its user-data-dir is a new empty folder that goes with it."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            await browser.close()


class Watched:
    """A page, and everything that went wrong in it.

    Attributes
    ----------
    page
        The page.
    complaints
        Errors of scripts, of the console and of the content security policy, and requests that
        went anywhere but to the service.
    """

    def __init__(self, page: Page, origin: str) -> None:
        self.page = page
        self.complaints: list[str] = []
        self._origin = origin
        page.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))
        page.on("console", lambda told: self._hear(told.type, told.text))
        page.on("request", self._look)

    def _hear(self, kind: str, text: str) -> None:
        # What a browser itself says of a server that is away is no fault of the page.
        if kind in ("error", "warning") and not text.startswith("Failed to load resource"):
            self.complaints.append(f"console: {text}")

    def _look(self, request: Request) -> None:
        if not request.url.startswith((self._origin, "data:", "blob:")):
            self.complaints.append(f"request to {request.url}")


HURRY = """
const wait = window.setTimeout;
window.setTimeout = (work, ms = 0, ...rest) => wait(work, ms < 1000 ? ms : ms / 10, ...rest);
"""
"""Lets a page look again after a tenth of the usual second or more: less is waited for."""


@asynccontextmanager
async def opened(browser: Browser, origin: str, **options: object) -> AsyncIterator[Watched]:
    """A page with a profile of its own; it must have nothing to complain of in the end."""
    context: BrowserContext = await browser.new_context(base_url=origin, **options)  # type: ignore[arg-type]
    context.set_default_timeout(20_000)
    await context.add_init_script(HURRY)
    try:
        watched = Watched(await context.new_page(), origin)
        yield watched
        assert not watched.complaints, watched.complaints
    finally:
        await context.close()
