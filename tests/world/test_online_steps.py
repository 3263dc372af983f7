"""Rounds by the clock of the streams."""

from pathlib import Path
from typing import Any

import pytest

from driftfold.algorithms.adaptation import FedADE
from driftfold.assembly import build
from driftfold.drift import LabelMixture
from driftfold.drift.schedules import Step
from driftfold.errors import CapabilityError
from driftfold.latency import Constant, Lognormal, Stragglers
from driftfold.nets import Mlp
from driftfold.rates import FixedRate
from driftfold.risks import Entropy
from driftfold.run import run
from driftfold.spec.job import JobSpec
from driftfold.tasks import DriftingClassification
from driftfold.tasks.streams import Pretraining
from driftfold.telemetry import read_records
from driftfold.world.cadences import OnlineSteps
from driftfold.world.policy import Horizon

TASK = DriftingClassification(
    clients=6,
    batch=8,
    steps=5,
    period=10.0,
    reference=1,
    drift=(LabelMixture(Step(at=(2.0,))),),
    net=Mlp((4,)),
    pretraining=Pretraining(epochs=1),
    keep_trained=False,
)


def spec(**fields: Any) -> JobSpec:
    usual: dict[str, Any] = {
        "task": TASK,
        "algorithm": FedADE(risk=Entropy(), rate=FixedRate(0.1)),
        "cadence": OnlineSteps(period=10.0, rounds=2),
        "horizon": Horizon(rounds=10),
    }
    return JobSpec(**(usual | fields))


def rounds_of(folder: Path) -> list[Any]:
    return [r for r in read_records(folder) if r.kind == "round"]


def test_each_step_has_its_rounds_and_its_batch(tmp_path: Path) -> None:
    run(spec(), folder=tmp_path)
    told = rounds_of(tmp_path)
    assert [(r.time, r.values["step"]) for r in told] == [
        (10.0 * (v // 2), v // 2) for v in range(10)
    ]
    assert told[0].detail is not None
    assert set(told[0].detail) >= {"0.client", "0.accuracy", "0.rate", "1.accuracy_after"}


def test_changes_of_the_data_are_in_the_log(tmp_path: Path) -> None:
    run(spec(), folder=tmp_path)
    (change,) = [r for r in read_records(tmp_path) if r.kind == "drift"]
    assert change.time == 20.0
    assert change.values == {"step": 2.0, "labels": 6.0}


def test_who_is_late_is_dropped_or_carried(tmp_path: Path) -> None:
    slow = Lognormal(per_sample=0.6, device_spread=1.0)
    counts = {}
    for late in ("drop", "carry"):
        cadence = OnlineSteps(period=10.0, rounds=1, late=late)
        result = run(spec(latency=slow, cadence=cadence, horizon=Horizon(rounds=5)))
        counts[late] = result.counts
        assert result.conventions["late"].startswith("sent home" if late == "drop" else "counted")
    assert counts["drop"]["late"] > 0
    assert counts["carry"].get("late", 0) == 0
    assert counts["carry"]["arrived"] > 0


def test_a_step_that_nobody_comes_to_passes(tmp_path: Path) -> None:
    away = spec(cadence=OnlineSteps(period=10.0, minimum=7), horizon=Horizon(rounds=3))
    result = run(away, folder=tmp_path)
    assert result.rounds == 3
    assert result.counts["skipped"] == 3


@pytest.mark.parametrize("late", ["drop", "carry"])
def test_a_run_resumed_is_the_run_itself(late: Any, tmp_path: Path) -> None:
    whole = spec(
        latency=Lognormal(per_sample=0.6, device_spread=1.0),
        cadence=OnlineSteps(period=10.0, rounds=2, late=late),
        checkpoint_every=1,
    )
    once = run(whole, folder=tmp_path / "once")
    asked = iter(range(100))
    run(whole, folder=tmp_path / "twice", stop=lambda: next(asked) == 4)
    again = run(whole, folder=tmp_path / "twice", resume=True)
    assert again.resumed_from is not None
    assert again.event_digest == once.event_digest
    assert again.metrics_digest == once.metrics_digest
    assert again.model_digest == once.model_digest


@pytest.mark.parametrize("late", ["drop", "carry"])
def test_one_who_is_late_takes_no_exchange_from_the_others(late: Any, tmp_path: Path) -> None:
    """Time is divided among the exchanges: the second one has its half of the step."""
    slow = Stragglers(Constant(overhead=1.0), clients=1, factor=30.0)
    cadence = OnlineSteps(period=10.0, late=late)
    result = run(spec(latency=slow, cadence=cadence, horizon=Horizon(rounds=5)), folder=tmp_path)
    told = rounds_of(tmp_path)
    assert all("accuracy_after" in r.values for r in told)
    assert result.counts.get("skipped", 0) == 0
    assert result.metrics["accuracy_after"] > 0
    if late == "drop":  # both exchanges of the others take a second; one waits for 5
        assert [r.time for r in told] == [10.0 * step + 6.0 for step in range(5)]
        assert result.counts["accepted"] == 2 * 5 * 5


def test_rounds_follow_the_streams_own_clock() -> None:
    with pytest.raises(CapabilityError, match="set both `period` alike"):
        build(spec(cadence=OnlineSteps(period=1.0)))
