"""The deployment files fit the code, and what they start works together.

No container is started here: the same commands run as plain processes, with the same environment.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold_api.command import app
from driftfold_workers.redis.server_binary import find_server
from tests.archive import databases
from tests.deployment.files import Stack, compose, dockerfile, wait_until
from tests.modules import ROOT

OURS = ("api", "worker")
DURATION = re.compile(r"[1-9]\d*s")


def sources() -> str:
    folders = ("api", "workers", "sim")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    return "\n".join(path.read_text("utf-8") for path in files)


# -- the files ----------------------------------------------------------------------------------


def test_services_and_volumes() -> None:
    told = compose()
    assert set(told["services"]) == {"redis", "postgres", *OURS}
    mounts = {
        name: [volume.split(":") for volume in service["volumes"]]
        for name, service in told["services"].items()
    }
    assert mounts["redis"] == [["redis", "/data"]]
    assert mounts["api"] == mounts["worker"] == [["runs", "/data/runs"]]
    assert mounts["postgres"] == [["postgres", "/var/lib/postgresql/data"]]
    assert set(told["volumes"]) == {"redis", "postgres", "runs"}


@pytest.mark.parametrize("service", ["redis", "postgres", *OURS])
def test_every_service_is_watched_restarted_and_given_time_to_stop(service: str) -> None:
    told = compose()["services"][service]
    assert told["restart"] == "unless-stopped"
    assert DURATION.fullmatch(told["stop_grace_period"])
    check = told["healthcheck"]
    assert check["test"][0] in ("CMD", "CMD-SHELL")
    assert all(DURATION.fullmatch(check[name]) for name in ("interval", "timeout", "start_period"))
    assert check["retries"] >= 3


def test_jobs_survive_a_restart_and_nothing_is_evicted() -> None:
    words = compose()["services"]["redis"]["command"]
    options = dict(zip(words[1::2], words[2::2], strict=True))
    assert options["--appendonly"] == "yes"
    assert options["--appendfsync"] == "everysec"
    assert options["--maxmemory-policy"] == "noeviction"
    assert "ports" not in compose()["services"]["redis"]


@pytest.mark.parametrize("service", OURS)
def test_ours_start_when_the_store_answers_and_stop_their_children(service: str) -> None:
    told = compose()["services"][service]
    assert told["depends_on"] == {
        "redis": {"condition": "service_healthy"},
        "postgres": {"condition": "service_healthy", "required": False},
    }
    assert told["init"] is True
    assert told["image"] == compose()["services"]["api"]["image"]


def test_the_archive_is_in_postgresql_where_that_is_asked_for() -> None:
    told = compose()["services"]["postgres"]
    assert told["profiles"] == ["postgres"]
    assert "ports" not in told
    given = told["environment"]
    user, database = given["POSTGRES_USER"], given["POSTGRES_DB"]
    assert f"-U {user} -d {database}" in told["healthcheck"]["test"][1]
    password = given["POSTGRES_PASSWORD"].removeprefix("${POSTGRES_PASSWORD:-").removesuffix("}")
    text = (ROOT / "docker-compose.yml").read_text("utf-8")
    assert f"DRIFTFOLD_ARCHIVE=postgresql://{user}:{password}@postgres/{database}\n" in text
    # The driver is no part of driftfold by itself: the image must have it.
    assert re.search(r"^asyncpg==", (ROOT / "requirements.lock").read_text("utf-8"), re.MULTILINE)


def test_workers_can_be_scaled() -> None:
    worker = compose()["services"]["worker"]
    assert worker["deploy"]["replicas"] >= 1
    assert not {"container_name", "ports", "hostname"} & set(worker)
    assert "--name" not in worker["command"]  # names differ by container


def test_the_page_is_published_to_this_machine_only() -> None:
    """There is no login."""
    assert compose()["services"]["api"]["ports"] == ["127.0.0.1:${PORT:-8000}:8000"]


@pytest.mark.parametrize("service", OURS)
def test_commands_and_their_options_exist(service: str) -> None:
    program, subcommand, *rest = compose()["services"][service]["command"]
    assert program == "driftfold"
    shown = CliRunner().invoke(app, [subcommand, "--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    for option in (word for word in rest if word.startswith("--")):
        assert re.search(rf"{option}\b", shown.output), option


def test_the_environment_is_what_the_code_reads() -> None:
    told: dict[str, Any] = compose()["services"]
    names = {name for service in OURS for name in told[service]["environment"]}
    image = [rest for instruction, rest in dockerfile() if instruction == "ENV"]
    names |= {name for rest in image for name in re.findall(r"(DRIFTFOLD_\w+|REDIS_\w+)=", rest)}
    assert names == {"REDIS_URL", "DRIFTFOLD_RUNS", "DRIFTFOLD_ARCHIVE"}
    code = sources()
    for name in names:
        assert re.search(rf"(environ(\.get\(|\[)|envvar=)\"{name}\"", code), name


def test_the_image_is_built_from_files_that_are_there_and_sent() -> None:
    sent = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        if line.startswith("!")
    }
    copied = [
        word
        for instruction, rest in dockerfile()
        if instruction == "COPY" and not rest.startswith("--from")
        for word in rest.split()[:-1]
    ]
    assert set(copied) == sent
    assert all((ROOT / name).exists() for name in sent)


def test_the_image_runs_as_nobody_special_and_is_watched() -> None:
    told = dict(dockerfile())  # of several, the last
    assert told["USER"] not in ("root", "0")
    assert told["STOPSIGNAL"] == "SIGTERM"
    assert '"driftfold", "serve"' in told["CMD"]
    check = compose()["services"]["api"]["healthcheck"]["test"]
    assert all(f'"{word}"' in told["HEALTHCHECK"] for word in check[1:])
    arguments = [rest.partition("=")[0] for name, rest in dockerfile() if name == "ARG"]
    assert set(compose()["services"]["api"]["build"]["args"]) <= set(arguments)


# -- the processes ------------------------------------------------------------------------------


@pytest.mark.parametrize("archive", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def test_the_services_work_together_and_lose_nothing_when_restarted(
    tmp_path: Path, archive: str
) -> None:
    with ExitStack() as servers:
        chosen = {}
        if archive == "postgres":
            programs = databases.programs()
            if programs is None:
                pytest.skip("PostgreSQL is not installed")
            chosen["DRIFTFOLD_ARCHIVE"] = servers.enter_context(databases.postgres(programs)).url
        work_together(Stack(tmp_path, find_server(), chosen))
        assert (tmp_path / "runs" / "archive.sqlite").exists() is (archive == "sqlite")


def work_together(stack: Stack) -> None:
    spec = {"extends": "pca-synthetic", "horizon": {"rounds": 20}}
    with httpx.Client(base_url=stack.url, trust_env=False, timeout=30.0) as http:
        with started(stack):
            job = http.post("/v1/jobs", json={"spec": spec}).json()["id"]
            wait_until(lambda: http.get(f"/v1/jobs/{job}").json()["state"] == "succeeded")
            before = everything(http, job)
            wanted = run(from_mapping(before["job"]["spec"]))
            assert before["result"]["event_digest"] == wanted.event_digest
            assert before["result"]["metrics_digest"] == wanted.metrics_digest
            model = http.get(f"/v1/jobs/{job}/artefacts/model.npz")
            assert model.content == (stack.folder / "runs" / job / "model.npz").read_bytes()
            assert "driftfold" in http.get("/").text
        assert not stack.healthy("api")
        assert not stack.healthy("worker")
        with started(stack):
            assert everything(http, job) == before


@contextmanager
def started(stack: Stack) -> Iterator[None]:
    """All services, each when those it depends on are healthy."""
    with ExitStack() as services:
        services.enter_context(stack.running("redis"))
        if shutil.which("redis-cli"):  # which the image has
            wait_until(partial(stack.healthy, "redis"))
        for service in OURS:
            services.enter_context(stack.running(service))
        for service in OURS:
            wait_until(partial(stack.healthy, service))
        yield


def everything(http: httpx.Client, job: str) -> dict[str, Any]:
    parts = {"job": "", **{name: f"/{name}" for name in ("records", "lifecycle", "result")}}
    return {name: http.get(f"/v1/jobs/{job}{part}").json() for name, part in parts.items()}
