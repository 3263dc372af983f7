"""Many jobs at once, from many clients: all end, none is stuck, and equal requests make one."""

import asyncio
from collections import Counter
from pathlib import Path

import httpx
import pytest

from tests.command.service import serving

JOBS, CLIENTS, EQUAL = 1000, 20, 100
TINY = {
    "extends": "pca-synthetic",
    "task": {"data": {"clients": 3, "samples": 5, "dimension": 4}, "rank": 1},
    "participation": {"kind": "bernoulli", "p": 0.7},
    "horizon": {"rounds": 1},
}
FINAL = ("succeeded", "failed", "canceled")


async def submit(url: str, count: int, client: int) -> list[str]:
    """One client's jobs, one after the other."""
    async with httpx.AsyncClient(base_url=url, timeout=120.0, trust_env=False) as http:
        found = []
        for number in range(count):
            spec = {**TINY, "seed": count * client + number}
            answer = await http.post("/v1/jobs", json={"spec": spec})
            assert answer.status_code == 202, answer.text
            found.append(answer.json()["id"])
        return found


async def states(url: str) -> dict[str, str]:
    """State of every job, page by page."""
    found: dict[str, str] = {}
    address: str | None = "/v1/jobs?limit=200"
    async with httpx.AsyncClient(base_url=url, timeout=60.0, trust_env=False) as http:
        while address is not None:
            page = (await http.get(address)).json()
            found |= {job["id"]: job["state"] for job in page["jobs"]}
            address = page["next"]
    return found


async def equal(url: str) -> set[str]:
    """The jobs that many equal requests at once have made."""
    async with httpx.AsyncClient(base_url=url, timeout=120.0, trust_env=False) as http:
        headers = {"Idempotency-Key": "the-same"}
        sent = [http.post("/v1/jobs", json={"spec": TINY}, headers=headers) for _ in range(EQUAL)]
        answers = await asyncio.gather(*sent)
    assert [answer.text for answer in answers if answer.status_code != 202] == []
    return {answer.json()["id"] for answer in answers}


@pytest.mark.slow
def test_a_thousand_jobs_of_twenty_clients(tmp_path: Path) -> None:
    async def work() -> None:
        each = JOBS // CLIENTS
        sent = [submit(service.url, each, client) for client in range(CLIENTS)]
        ids = [job for jobs in await asyncio.gather(*sent) for job in jobs]
        assert len(set(ids)) == JOBS
        assert len(await equal(service.url)) == 1
        done, still = -1, 0
        while True:
            known = await states(service.url)
            ended = sum(state in FINAL for state in known.values())
            if ended == JOBS + 1:
                break
            still = still + 1 if ended == done else 0
            assert still < 60, f"nothing has ended for a minute: {Counter(known.values())}"
            done = ended
            await asyncio.sleep(1.0)
        assert Counter(known.values()) == {"succeeded": JOBS + 1}
        assert set(ids) <= known.keys()

    with serving(tmp_path, "--workers", "2", "--slots", "2") as service:
        asyncio.run(work())
