"""Jobs whose records are written by the test, and what a page shows of them."""

import json
import math
from typing import Any

import httpx
from playwright.async_api import Page

from driftfold_workers.jobs.store import JobStore
from tests.api.serving import SPEC, claimed, submitted

DATA = "figure => figure.plot.data.map((column) => Array.from(column))"


def record(seq: int, gap: float | str | None = None) -> bytes:
    """Record `seq` of a story: a round and its evaluation take turns."""
    version = (seq + 1) // 2
    values: dict[str, Any] = {"accepted": 10 + version % 5, "step_norm": 1 / version}
    kind = "round"
    if seq % 2 == 0:
        kind = "evaluation"
        values = {"gap": math.exp(-version / 50) if gap is None else gap, "loss": -2.0}
    facts = {"seq": seq, "kind": kind, "time": 37.5 * version, "version": version}
    return json.dumps({**facts, "values": values}).encode()


def records(first: int, last: int) -> list[bytes]:
    return [record(seq) for seq in range(first, last + 1)]


def gaps(last: int) -> list[list[float]]:
    """What must be drawn of `gap` against rounds when records 1 .. `last` are there."""
    versions = range(1, last // 2 + 1)
    return [[float(v) for v in versions], [math.exp(-v / 50) for v in versions]]


class Story:
    """A job that the test itself runs."""

    def __init__(self, store: JobStore, job: str, epoch: int) -> None:
        self.store = store
        self.job = job
        self.epoch = epoch
        self.last = 0

    async def write(self, count: int) -> None:
        last = self.last + count
        await self.append(records(self.last + 1, last))

    async def append(self, lines: list[bytes]) -> None:
        first, self.last = self.last + 1, self.last + len(lines)
        await self.store.append(self.job, self.epoch, first, lines, rounds=(self.last + 1) // 2)


async def story(store: JobStore, http: httpx.AsyncClient, name: str, **spec: Any) -> Story:
    """A new job that is running."""
    job = await submitted(http, name=name, spec={**SPEC, "horizon": {"rounds": 300}, **spec})
    return Story(store, job, await claimed(store, job))


def figure(metric: str = "evaluation/gap") -> str:
    return f'figure[data-metric="{metric}"]'


async def drawn(page: Page, metric: str = "evaluation/gap") -> list[list[float | None]]:
    """What uPlot was given to draw: places, then values, null where there is a hole."""
    data: list[list[float | None]] = await page.locator(figure(metric)).evaluate(DATA)
    return data


async def drawn_so_far(page: Page, points: int, metric: str = "evaluation/gap") -> None:
    """Wait until so many points are drawn, at least; what is out of sight is not drawn."""
    await page.locator(figure(metric)).scroll_into_view_if_needed()
    await page.wait_for_function(
        "([figure, points]) => document.querySelector(figure)?.plot?.data[0].length >= points",
        arg=[figure(metric), points],
    )
