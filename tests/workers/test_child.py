"""The process of an attempt: the library's numbers, its last word, and its end."""

import ast
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftfold.registry import kind_of
from driftfold.run import run
from driftfold.spec import from_mapping, to_mapping
from driftfold.telemetry.reader import read_records
from driftfold_workers.artefacts.runs import OUTPUT, Runs
from driftfold_workers.attempts.messages import Done, Failed, Recorded, Saved, Stopped
from tests.workers.children import child
from tests.workers.experiments import SAME, Behaviour, experiment, undisturbed
from tests.world import toys


def test_numbers_and_artefacts_are_those_of_the_library(tmp_path: Path) -> None:
    spec = experiment(checkpoint_every=7)
    result, records = undisturbed(spec)
    with child() as process:
        process.order("a", spec, tmp_path)
        done = process.hear_all()
    assert isinstance(done, Done)
    assert {name: done.result[name] for name in SAME} == {
        name: result.to_json()[name] for name in SAME
    }
    assert process.records == records
    assert [saved.seq for saved in process.saved] == sorted(saved.seq for saved in process.saved)
    assert len(process.saved) == 40 // 7
    folder = tmp_path / "a"
    assert sorted(file.name for file in folder.iterdir()) == [
        "checkpoints", "config.json", "model.npz", OUTPUT, "result.json", "rounds.parquet",
    ]  # fmt: skip
    with np.load(folder / "model.npz") as model:
        assert model["model"].tobytes() == np.asarray(result.model).tobytes()


def test_stopped_at_the_end_of_a_round_and_resumed_elsewhere(
    tmp_path: Path, behaviour: Behaviour
) -> None:
    spec = experiment()
    result, records = undisturbed(spec)
    behaviour.set(pause=0.05)
    (tmp_path / "elsewhere").mkdir()
    with child() as first:
        first.order("a", spec, tmp_path)
        first.hear_records(5)
        first.process.send_signal(signal.SIGTERM)
        assert first.hear_all() == Stopped()
    (saved,) = first.saved
    assert 5 <= saved.seq == len(first.records) < len(records)
    behaviour.set()
    with child(tmp_path / "elsewhere") as second:
        second.order("a", spec, tmp_path, epoch=2, checkpoint=f"a.1:{saved.name}")
        done = second.hear_all()
    assert isinstance(done, Done)
    assert first.records + second.records == records
    assert done.result["metrics_digest"] == result.metrics_digest
    assert done.result["model_digest"] == result.model_digest


def test_without_its_snapshot_a_run_begins_anew(tmp_path: Path) -> None:
    spec = experiment()
    with child() as process:
        process.order("a", spec, tmp_path, epoch=2, checkpoint=f"a.1:000000001-{'0' * 32}")
        assert isinstance(process.hear_all(), Done)
    assert process.records == undisturbed(spec)[1]
    assert "begins anew" in (tmp_path / "a" / OUTPUT).read_text()


BAD: dict[str, tuple[dict[str, Any], dict[str, Any], bool, str]] = {
    "a specification that fits nothing": ({"algorithm": {"kind": "fedavg"}}, {}, True, "choose"),
    "a bug in a plug-in": ({}, {"raise": "no"}, False, "ZeroDivisionError: no"),
    "memory": ({}, {"memory": 1 << 40}, False, "out of memory: Unable to allocate"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_failures_are_told(case: str, tmp_path: Path, behaviour: Behaviour) -> None:
    changes, how, final, reason = BAD[case]
    behaviour.set(**how)
    with child() as process:
        process.order("a", experiment(**changes), tmp_path)
        failed = process.hear_all()
    assert isinstance(failed, Failed)
    assert failed.final == final
    assert reason in failed.reason
    assert "Traceback" in failed.trace
    assert "Traceback" in (tmp_path / "a" / OUTPUT).read_text()
    assert not (tmp_path / "a" / "result.json").exists()


def test_a_broken_plug_in_is_no_fault_of_the_job(tmp_path: Path) -> None:
    with child() as process:
        process.order("a", experiment(), tmp_path, plugins=("no_such_plug_in",))
        failed = process.hear_all()
    assert isinstance(failed, Failed)
    assert not failed.final
    assert "no_such_plug_in" in failed.reason


def test_a_limit_on_memory_is_kept(tmp_path: Path, behaviour: Behaviour) -> None:
    behaviour.set(memory=2 << 30)
    with child() as process:
        process.order("a", experiment(), tmp_path, memory=2 << 30)
        failed = process.hear_all()
    assert isinstance(failed, Failed)
    assert (failed.final, failed.reason[:13]) == (False, "out of memory")


def test_it_ends_when_it_is_not_needed() -> None:
    with child() as process:
        process.orders.close()
        assert process.process.wait(30) == 0


def test_it_ends_with_whoever_reads_its_pipe(tmp_path: Path, behaviour: Behaviour) -> None:
    behaviour.set(pause=0.05)
    with child() as process:
        process.order("a", experiment(10_000), tmp_path)
        process.hear_records(2)
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), process.pipe)
        assert process.process.wait(30) == 1


def test_detail_of_clients_is_that_of_a_run_in_a_folder(tmp_path: Path) -> None:
    task, algorithm = {"kind": kind_of(toys.Quadratic)}, {"kind": kind_of(toys.TwoPhase)}
    spec = from_mapping({"task": task, "algorithm": algorithm, "horizon": {"rounds": 6}})
    run(spec, folder=tmp_path / "reference")
    wanted = read_records(tmp_path / "reference")
    assert any(record.detail for record in wanted)
    with child() as process:
        process.order("a", to_mapping(spec), tmp_path, plugins=("tests.world.toys",))
        assert isinstance(process.hear_all(), Done)
    assert len(process.lines) == len(wanted)
    for line, record in zip(process.lines, wanted, strict=True):
        form = json.loads(line)
        assert ("detail" in form) == (record.detail is not None)
        if record.detail is not None:
            with np.load(tmp_path / "a" / form["detail"]) as detail:
                assert {name: detail[name].tolist() for name in detail} == {
                    name: array.tolist() for name, array in record.detail.items()
                }


def test_it_imports_neither_redis_nor_anything_heavy() -> None:
    code = "import sys, driftfold_workers.attempts.child; print([*sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    names = {name.partition(".")[0] for name in ast.literal_eval(done.stdout)}
    assert not names & {"redis", "torch", "geoopt", "matplotlib", "fastapi", "rich"}


def test_the_order_of_messages_lets_a_snapshot_follow_its_records(tmp_path: Path) -> None:
    with child() as process:
        process.order("a", experiment(checkpoint_every=1), tmp_path)
        process.hear_all()
    last = 0
    for message in process.heard:
        if isinstance(message, Recorded):
            assert message.seq == last + 1
            last = message.seq
        elif isinstance(message, Saved):
            assert message.seq == last
    store = Runs.at(tmp_path).checkpoints("a")
    assert store.names("a.1")[-1] == process.saved[-1].name
