"""One Chromium and one Redis server for all tests here; a store, an API and a page for each.

Browser and tests share one event loop, which lives as long as the session.
"""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser

from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import Api, api_on
from tests.browser.chromium import Watched, chromium, opened
from tests.workers import servers
from tests.workers.conftest import behaviour

__all__ = ["behaviour"]

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    if PROGRAM is None:
        pytest.skip("no Chromium is installed; Debian's package is called chromium")
    async with chromium(PROGRAM) as browser:
        yield browser


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedServer]:
    with servers.running() as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def store(server: EmbeddedServer) -> AsyncIterator[RedisJobStore]:
    async with servers.store_on(server) as store:
        yield store


@pytest_asyncio.fixture(loop_scope="session")
async def api(store: RedisJobStore, tmp_path: Path) -> AsyncIterator[Api]:
    async with api_on(store, tmp_path) as api:
        yield api


@pytest_asyncio.fixture(loop_scope="session")
async def http(api: Api) -> AsyncIterator[httpx.AsyncClient]:
    async with api.client() as client:
        yield client


@pytest_asyncio.fixture(loop_scope="session")
async def watched(browser: Browser, api: Api) -> AsyncIterator[Watched]:
    async with opened(browser, api.url) as watched:
        yield watched
