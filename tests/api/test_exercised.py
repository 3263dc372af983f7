"""The API answers what its description says, to requests right and wrong that are made from it."""

import time
from pathlib import Path

import httpx
import pytest

from tests.api.serving import SPEC, Api, submitted
from tests.command.service import serving

CASES = 2000
UNMET = ("GET /v1/jobs/{job}/artefacts/{name}", "GET /problems/{slug}")
"""Operations for which no right name is ever made up."""


@pytest.mark.slow
def test_a_service_that_runs(tmp_path: Path) -> None:
    from tests.api.exercising import Exercise  # what it needs takes a second to import

    with (
        serving(tmp_path) as service,
        httpx.Client(base_url=service.url, trust_env=False) as client,
    ):
        jobs = [_over(client, rounds) for rounds in (3, 5)]
        exercise = Exercise(service.url, jobs, SPEC)
        exercise.run(120)
        assert exercise.findings == []
        assert exercise.count >= CASES
        assert not any(status >= 500 for told in exercise.answers.values() for status in told)
        for label, told in exercise.answers.items():
            met = any(status < 300 or status == 409 for status in told)  # of a job that is over
            assert met or label in UNMET or "/v1/groups" in label, (label, told)
        assert client.get("/readyz").status_code == 200  # it is well after all that
    assert "Traceback" not in service.errors.read_text()


def _over(client: httpx.Client, rounds: int) -> str:
    spec = {"extends": "pca-synthetic", "horizon": {"rounds": rounds}}
    job: str = client.post("/v1/jobs", json={"spec": spec}).json()["id"]
    while client.get(f"/v1/jobs/{job}").json()["state"] not in ("succeeded", "failed"):
        time.sleep(0.1)
    return job


@pytest.mark.asyncio
async def test_an_unknown_parameter_is_a_documented_refusal(
    api: Api, http: httpx.AsyncClient
) -> None:
    paths = api.app.openapi()["paths"]
    job = await submitted(http)
    for path, methods in paths.items():
        if path.startswith("/v1/") and path != "/v1/workers" and "get" in methods:
            answer = await http.get(path.replace("{job}", job), params={"odd": "1"})
            assert str(answer.status_code) in methods["get"]["responses"], path
