"""A real experiment, submitted to the API, run by real workers, watched in a real browser."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import expect

from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import Api
from tests.browser.chromium import Watched
from tests.browser.stories import drawn, drawn_so_far
from tests.workers.experiments import Behaviour, experiment
from tests.workers.workers import ready, worker

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROUNDS = 60


async def points(http: httpx.AsyncClient, job: str, metric: str) -> list[list[float]]:
    """Rounds and values of a metric, from the job's records."""
    answer = await http.get(f"/v1/jobs/{job}/records", params={"limit": 5000})
    records: list[dict[str, Any]] = answer.json()["records"]
    assert [record["seq"] for record in records] == list(range(1, len(records) + 1))
    found = [record for record in records if metric in record["values"]]
    return [[record["version"] for record in found], [r["values"][metric] for r in found]]


@pytest.mark.slow
async def test_a_job_that_loses_its_worker_is_watched_to_its_end(
    watched: Watched, server: EmbeddedServer, store: RedisJobStore, api: Api,
    http: httpx.AsyncClient, behaviour: Behaviour, tmp_path: Path,
) -> None:  # fmt: skip
    page = watched.page
    api.service.runs = Runs.at(tmp_path / "runs")
    behaviour.set(pause=0.05)  # seconds for each dispatch, so that there is something to watch
    await page.goto("/")
    with (
        worker(server, store, tmp_path, "anne") as anne,
        worker(server, store, tmp_path, "bert") as bert,
    ):
        await ready(store, "anne", "bert")
        spec = experiment(ROUNDS, evaluate_every=1, checkpoint_every=10)
        answer = await http.post("/v1/jobs", json={"spec": spec, "name": "passed on"})
        assert answer.status_code == 202, answer.text
        job = answer.json()["id"]
        await page.get_by_role("link", name="passed on").click()
        await drawn_so_far(page, 12)
        first = (await store.get(job)).worker
        {"anne": anne, "bert": bert}[first].kill()
        behaviour.set()
        await expect(page.locator(".state")).to_have_text("✓ succeeded", timeout=60_000)
        second = (await store.get(job)).worker
        assert {first, second} == {"anne", "bert"}
    assert await drawn(page) == await points(http, job, "gap")
    assert (await drawn(page))[0] == list(range(ROUNDS + 1))
    rows = page.get_by_role("table", name="Attempts").locator("tbody tr")
    cells = [await row.locator("td").all_inner_texts() for row in await rows.all()]
    outcomes = [(row[1], row[3].partition(":")[0]) for row in cells]
    assert outcomes == [(first, "lease lost"), (second, "finished")]
    href = await page.get_by_role("link", name="result.json").get_attribute("href")
    result = (await http.get(f"/{href}")).json()
    assert json.loads((tmp_path / "runs" / job / "result.json").read_text()) == result
    await expect(page.get_by_label("Result", exact=True)).to_contain_text(
        result["metrics_digest"][:16]
    )
