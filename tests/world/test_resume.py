"""A run that is killed and resumed equals one that was not, bit for bit."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.telemetry.base import Record, RecordSink
from driftfold.telemetry.reader import read_records
from tests.world import toys

SYNCHRONOUS: dict[str, Any] = {
    "task": {"kind": "test-quadratic"},
    "algorithm": {"kind": "test-two-phase"},
    "participation": {"kind": "bernoulli", "p": 0.6},
    "estimator": {"kind": "inclusive"},
    "latency": {"kind": "lognormal"},
    "horizon": {"rounds": 40},
    "checkpoint_every": 7,
}
BUFFERED: dict[str, Any] = {
    **SYNCHRONOUS,
    "cadence": {"kind": "test-buffered"},
    "estimator": {"kind": "none"},
    "participation": {"kind": "diurnal", "slot": 5.0, "duty": 0.6},
    "latency": {"kind": "lognormal", "per_sample": 0.1},
}
DECIDING: dict[str, Any] = {**BUFFERED, "cadence": {"kind": "test-buffered", "decides": True}}
DOWNLOADING: dict[str, Any] = {  # so slowly that most clients in flight are at it
    **BUFFERED,
    "participation": {"kind": "always"},
    "latency": {"kind": "lognormal", "per_sample": 0.001, "down": 20.0},
}
FEDBUFF: dict[str, Any] = {  # with memories of clients whose answers are dropped
    **BUFFERED,
    "task": {
        "kind": "pca", "rank": 1,
        "data": {"kind": "gaussian_blocks", "clients": 12, "samples": 6, "dimension": 4},
    },
    "algorithm": {"kind": "rfedproj", "steps": 2, "batch": 3},
    "estimator": {"kind": "inclusive"},
    "cadence": {"kind": "buffered", "concurrency": 6, "buffer": 3, "max_staleness": 1},
}  # fmt: skip
FEDASYNC: dict[str, Any] = {
    **FEDBUFF,
    "cadence": {"kind": "immediate", "concurrency": 6, "selection": {"kind": "round_robin"}},
}
PERIODIC: dict[str, Any] = {
    **FEDBUFF,
    "cadence": {
        "kind": "periodic",
        "period": 0.7,
        "concurrency": 4,
        "selection": {"kind": "f3ast"},
    },
}
TIERED: dict[str, Any] = {
    **SYNCHRONOUS,
    "cadence": {"kind": "tiered", "cohort": 3, "minimum": 2, "selection": {"kind": "f3ast"}},
}
FLOWS = {"fedbuff": FEDBUFF, "fedasync": FEDASYNC, "periodic": PERIODIC}
CASES = {
    "synchronous": SYNCHRONOUS,
    "buffered": BUFFERED,
    "deciding": DECIDING,
    "downloading": DOWNLOADING,
}
MORE = {**FLOWS, "tiered": TIERED}
SLOW = [pytest.param(case, marks=pytest.mark.slow) for case in MORE]

assert toys  # importing it registers its kinds


class Bomb(RecordSink):
    """Ends the run when record number `at` is told."""

    def __init__(self, at: int) -> None:
        self.at = at

    def emit(self, record: Record) -> None:
        if record.seq == self.at:
            raise KeyboardInterrupt


def outcome(result: Any) -> tuple[Any, ...]:
    return (
        result.event_digest,
        result.metrics_digest,
        result.evaluation_digest,
        result.model_digest,
        result.counts,
        result.events,
        result.time,
    )


def told(folder: Path) -> list[Any]:
    """Everything but the timing of each record."""
    return [
        (
            r.seq,
            r.kind,
            r.time,
            r.version,
            r.values,
            r.note,
            {name: values.tolist() for name, values in (r.detail or {}).items()},
        )
        for r in read_records(folder)
    ]


@pytest.mark.parametrize("times", [2, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", [*CASES, *SLOW])
def test_interrupted_anywhere_and_resumed(case: str, times: int, tmp_path: Path) -> None:
    spec = from_mapping({**CASES, **MORE}[case])
    whole = run(spec, folder=tmp_path / "whole")
    assert whole.rounds == 40
    seqs = len(told(tmp_path / "whole"))
    for at in random.Random(case).sample(range(2, seqs), times):
        folder = tmp_path / str(at)
        with pytest.raises(KeyboardInterrupt):
            run(spec, folder=folder, sinks=[Bomb(at)])
        resumed = run(spec, folder=folder, resume=True)
        assert outcome(resumed) == outcome(whole)
        assert told(folder) == told(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.parametrize("case", FLOWS)
def test_snapshots_without_rounds_have_results_in_flight(case: str) -> None:
    """Or the test above would show nothing about replay."""
    from driftfold.checkpoint.memory import MemoryStore

    store = MemoryStore()
    result = run(from_mapping(FLOWS[case]), store=store)
    snapshot = store.latest(result.spec_digest)
    assert snapshot is not None
    assert not snapshot.meta["quiet"]
    assert (result.counts["unused"] > 0) == (case == "fedbuff")


def test_buffered_snapshots_have_results_in_flight(tmp_path: Path) -> None:
    """Or the test above would show nothing about replay."""
    from driftfold.checkpoint.memory import MemoryStore

    store = MemoryStore()
    spec = from_mapping(BUFFERED)
    result = run(spec, store=store)
    snapshot = store.latest(result.spec_digest)
    assert snapshot is not None
    assert not snapshot.meta["quiet"]
    assert snapshot.meta["tickets"]["tickets"]
    assert result.counts["dropped"] > 0
    assert result.counts["missed"] > 0


def test_synchronous_rounds_resume_without_replay(tmp_path: Path) -> None:
    """Nothing is in flight at the end of a round: the loop starts at the snapshot's time."""
    spec = from_mapping(SYNCHRONOUS)
    whole = run(spec)
    with pytest.raises(KeyboardInterrupt):
        run(spec, folder=tmp_path, sinks=[Bomb(40)])
    from driftfold.checkpoint.url import open_store

    past = open_store(tmp_path / "checkpoints").latest(whole.spec_digest)
    assert past is not None
    assert past.meta["quiet"]
    resumed = run(spec, folder=tmp_path, resume=True)
    assert resumed.resumed_from == past.meta["version"] > 0
    assert outcome(resumed) == outcome(whole)


def killed_and_resumed(table: dict[str, Any], folder: Path, kills: int, seed: int) -> Any:
    """Run `table` in processes of their own, killed with SIGKILL `kills` times at random."""
    chance = random.Random(seed)
    path = folder / "spec.json"
    path.write_text(json.dumps(table))
    program = (
        "import sys, json; from pathlib import Path\n"
        "from tests.world import toys\n"
        "from driftfold.run import run; from driftfold.spec import load_spec\n"
        "result = run(load_spec(sys.argv[1]), folder=Path(sys.argv[2]), resume=True)\n"
        "print(json.dumps(result.to_json()))\n"
    )
    command = [sys.executable, "-c", program, str(path), str(folder / "run")]
    log = folder / "run" / "records.jsonl"
    killed = 0
    for _ in range(kills):
        before = written(log)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=Path.cwd())
        while process.poll() is None and written(log) == before:
            time.sleep(0.002)
        time.sleep(chance.uniform(0.0, 0.2))
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
    assert killed, "every process had ended before it was to be killed; give the run more rounds"
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path.cwd())
    return json.loads(done.stdout)


def written(log: Path) -> int:
    """When the log was last written to."""
    return log.stat().st_mtime_ns if log.exists() else 0


LONG: dict[str, Any] = {"checkpoint_every": 15, "evaluate_every": 5}


# By default the case that has everything: results in flight, memories, decisions. A process takes
# a second to begin; the other cases are interrupted within this one by the first test above.
KILLS = [pytest.param("deciding", 2, 80)] + [
    pytest.param(case, 20, 1500, marks=pytest.mark.slow) for case in [*CASES, *MORE]
]


@pytest.mark.parametrize(("case", "kills", "rounds"), KILLS)
def test_killed_by_the_system_and_resumed(
    case: str, kills: int, rounds: int, tmp_path: Path
) -> None:
    table = {**CASES, **MORE}[case] | {**LONG, "horizon": {"rounds": rounds}}
    whole = run(from_mapping(table)).to_json()
    resumed = killed_and_resumed(table, tmp_path, kills, seed=kills)
    for name in (
        "spec_digest",
        "event_digest",
        "metrics_digest",
        "evaluation_digest",
        "model_digest",
        "metrics",
        "counts",
        "events",
        "time",
    ):
        assert resumed[name] == whole[name], name
