"""The commands of the service, with real processes: serve, submit, watch, list, cancel, result."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from driftfold.telemetry.base import Record
from driftfold_api.client import Client
from driftfold_api.models import JobDetail
from driftfold_workers.jobs.job import State
from tests.command.cli import QUICK, call, spawn, spawn_all
from tests.command.service import Served, serving
from tests.workers.workers import alive

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")

LONG = ("--set", "horizon.rounds=100000", "--set", "checkpoint_every=5")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("service")
    (folder / "sets").mkdir()
    np.savez(folder / "sets" / "own.npz", x=np.eye(12, 5))
    with serving(folder, "--slots", "2", "--memory", "4096", "--data", "sets") as served:
        yield served


@pytest.fixture(autouse=True)
def environment(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTFOLD_URL", served.url)


def soon(holds: Callable[[], bool], within: float = 60.0) -> None:
    """Wait for what will come, for so long only that a hang is told."""
    end = time.monotonic() + within
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def has_begun(client: Client, job: JobDetail) -> Callable[[], bool]:
    return lambda: client.get(job.id).progress.rounds > 10


def test_a_job_gives_what_a_run_gives_bit_for_bit(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("run", "pca-synthetic", *QUICK, "--json", "--quiet", "--no-plot") == 0
    alone = json.loads(capsys.readouterr().out)
    assert call("submit", "pca-synthetic", *QUICK, "--watch", "--json") == 0
    out, err = capsys.readouterr()
    *records, job = map(json.loads, out.splitlines())
    assert [record["seq"] for record in records] == list(range(1, len(records) + 1))
    assert job["state"] == "succeeded"
    assert job["id"] in err
    for name in ("spec_digest", "event_digest", "metrics_digest", "evaluation_digest",
                 "model_digest", "metrics", "counts", "rounds"):  # fmt: skip
        assert job["result"][name] == alone[name]
    assert call("result", job["id"], "--json") == 0
    assert json.loads(capsys.readouterr().out) == job["result"]
    assert call("result", job["id"]) == 0
    assert alone["event_digest"] in capsys.readouterr().out
    (log,) = here.glob("runs/*/records.jsonl")
    kept = [json.loads(line) for line in log.read_text().splitlines()]
    for one, other in zip(records, kept, strict=True):
        one.pop("timing", None), other.pop("timing", None)
        assert one == other


def test_a_watch_shows_progress_and_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("submit", "pca-synthetic", *QUICK, "--name", "mine") == 0
    out, err = capsys.readouterr()
    job = out.split()[0]
    assert f"driftfold watch {job}" in err
    assert call("watch", job) == 0
    out, err = capsys.readouterr()
    assert "round 6/6" in err
    assert "metrics digest" in out
    assert job in out
    assert re.search(r"used +│ \S+ s of CPU in \S+ s, 1 attempt ", out)
    assert call("list", "--limit", "1") == 0
    line = capsys.readouterr().out
    assert line.startswith(job)
    assert "6/6" in line
    assert line.endswith("mine\n")
    assert call("list", "--state", "succeeded", "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["id"] == job


def test_a_cancelled_job_ends_its_watch_with_1(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    with Client(served.url) as client:
        assert call("submit", "pca-synthetic", *LONG, "--json") == 0
        job = JobDetail.model_validate_json(capsys.readouterr().out)
        soon(has_begun(client, job))
        assert call("cancel", job.id) == 0
        assert "stops at the end of its round" in capsys.readouterr().out
        assert call("watch", job.id) == 1
        out, err = capsys.readouterr()
        assert f"job {job.id} was canceled" in out
        assert re.search(r"it has used \S+ s of CPU in \S+ s, 1 attempt\n", err)
        assert client.get(job.id).state is State.CANCELED
    assert call("cancel", job.id) == 2
    assert capsys.readouterr().err.startswith(f"error: job {job.id} was canceled")


def test_a_job_reads_files_of_the_folders_that_were_offered(
    served: Served, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = "task={kind='pca', rank=2, clients=3, partition='iid', data={kind='npz', path='%s'}}"
    quick = (*QUICK, "--set", "participation=always", "--watch")
    own = served.errors.parent / "sets" / "own.npz"
    assert call("submit", "pca-synthetic", "--set", data % own, *quick) == 0
    assert call("submit", "pca-synthetic", "--set", data % here, *quick) == 1
    told = capsys.readouterr().out.splitlines()[-1]
    assert f"has failed: task.data.path: got {here}, but" in told
    assert f"below {own.parent} only" in told
    assert "--data FOLDER" in told


def test_an_interrupted_watch_leaves_the_job_and_says_how_to_go_on(
    served: Served, here: Path
) -> None:
    with Client(served.url) as client:
        watching = subprocess.Popen(
            [sys.executable, "-c", "from driftfold_api.command import main; main()",
             "submit", "pca-synthetic", *LONG, "--watch", "--json"],
            cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert watching.stdout is not None
        for _ in range(20):
            record = json.loads(watching.stdout.readline())
        watching.send_signal(signal.SIGINT)
        _, err = watching.communicate(timeout=60)
        assert watching.returncode == 130
        assert "Traceback" not in err
        job = err.splitlines()[0].split()[1]
        assert f"driftfold watch {job}" in err
        soon(lambda: client.get(job).progress.seq > record["seq"])
        client.cancel(job)
        assert client.wait(job).state is State.CANCELED


ERRORS = {
    "unknown job": (["watch", "1"], "no job has the id '1'; ids look like"),
    "result of nothing": (["result", ""], "no job has the id ''; ids look like"),
    "a path": (["watch", "../../x"], "no job has the id '../../x'; ids look like"),
    "bad spec": (["submit", "pca-synthetic", "--set", "seed=-1"], "seed: got -1"),
    "no such file": (["submit", "missing.toml"], "missing.toml: cannot read it"),
    "bad state": (["list", "--state", "lost"], "wanted one of: queued, running"),
    "bad address": (["list", "--url", "localhost"], "wanted one such as http://"),
    "port in use": (["serve", "--port", "PORT"], "choose another --port"),
    "no such host": (["serve", "--host", "no.such.host.invalid"], "cannot listen at"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_bad_input_is_told_in_one_line_with_code_2(
    served: Served, here: Path, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    arguments, message = ERRORS[case]
    port = served.url.rpartition(":")[2]
    assert call(*(port if word == "PORT" else word for word in arguments)) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("error: ")
    assert message in err
    assert list(here.iterdir()) == []


def test_without_a_service_it_is_said_how_to_start_one(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DRIFTFOLD_URL")
    assert call("list") == 2
    assert "driftfold serve" in capsys.readouterr().err


def test_the_commands_import_no_torch(here: Path) -> None:
    heavy = {"torch", "geoopt", "matplotlib", "scipy", "fastapi", "uvicorn"}
    done = spawn_all([["list"], ["submit", "pca-synthetic", *QUICK, "--json"]], here, heavy)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("heavy")] == (
        ["heavy: []"] * 2
    )


@pytest.mark.slow
def test_the_service_is_found_by_its_folder_and_ends_with_one_signal_whole(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stopped in the middle of a job, and started again, it goes on with it: no process is left."""
    monkeypatch.delenv("DRIFTFOLD_URL")
    with serving(here, "--workers", "2") as served:
        assert json.loads((here / "runs" / "service.json").read_text())["url"] == served.url
        assert call("serve", "--port", "0") == 2
        assert f"is at {served.url} already" in capsys.readouterr().err
        assert call("submit", "pca-synthetic", *LONG, "--json") == 0
        job = JobDetail.model_validate_json(capsys.readouterr().out)
        with Client(served.url) as client:
            soon(has_begun(client, job))
        everybody = served.everybody()
        assert len(everybody) >= 6  # itself, two workers, an attempt, the store and its guard
        assert served.stop() == 0
        assert not [pid for pid in everybody if alive(pid)]
        assert not (here / "runs" / "service.json").exists()
        assert "Traceback" not in served.errors.read_text()
    with serving(here) as served, Client(served.url) as client:
        before = client.get(job.id)
        assert before.progress.rounds > 10
        soon(lambda: client.get(job.id).progress.rounds > before.progress.rounds)
        assert [one.outcome for one in client.attempts(job.id)] == ["drained", "running"]
        assert client.attempts(job.id)[1].resumed
        assert client.get(job.id).attempt == 1  # the drain was not its fault
        client.cancel(job.id)
        assert client.wait(job.id).state is State.CANCELED
        assert served.stop(signal.SIGTERM) == 0


@pytest.mark.slow
def test_what_dies_of_the_service_is_replaced_and_it_takes_all_with_it_when_it_is_killed(
    here: Path,
) -> None:
    rounds = 300
    with serving(here, "--lease", "2") as served, Client(served.url) as client:
        spec = {
            "extends": "pca-synthetic",
            "horizon": {"rounds": rounds},
            "checkpoint_every": 10,
            "evaluate_every": 1000,
        }
        job = client.submit(spec)
        soon(has_begun(client, job))
        (worker,) = client.workers()
        os.kill(int(worker.name.split("-")[-2]), signal.SIGKILL)
        soon(lambda: len(client.attempts(job.id)) == 2)
        facts = json.loads((here / "runs" / "redis" / "server.json").read_text())
        os.kill(facts["pid"], signal.SIGKILL)
        seen = [event.seq for event in client.watch(job.id) if isinstance(event, Record)]
        assert seen == list(range(1, len(seen) + 1))
        assert client.result(job.id)["rounds"] == rounds
        assert [one.outcome for one in client.attempts(job.id)] == ["lease lost", "finished"]
        told = served.errors.read_text()
        assert "another one takes its place" in told
        assert "the job store ended; it is started again" in told
        job = client.submit({**spec, "horizon": {"rounds": 10**5}})
        soon(has_begun(client, job))
        everybody = served.everybody()
        assert served.stop(signal.SIGKILL) == -signal.SIGKILL
        soon(lambda: not [pid for pid in everybody if alive(pid)])


KIND = """
from dataclasses import dataclass
from driftfold.estimators.none import Unweighted
from driftfold.registry import register

@register("of-a-plug-in")
@dataclass(frozen=True)
class OfAPlugIn(Unweighted):
    "Weighs like the one it derives from."
"""


def test_a_kind_that_only_the_service_lacks_is_told_as_that(here: Path) -> None:
    """In a process of its own, since a plug-in stays."""
    (here / "own.py").write_text(KIND)
    words = [*("submit", "pca-synthetic", "--plugin", "own.py"), "--set", "estimator=of-a-plug-in"]
    done = spawn(words, here)
    assert done.returncode == 2
    assert done.stderr.startswith("error: the service refuses ")
    assert "unknown estimator kind 'of-a-plug-in'" in done.stderr
    assert "`driftfold serve --plugin FILE`" in done.stderr
