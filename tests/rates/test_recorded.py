"""Rates of an earlier run: who gets which, and what is said where there are none."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from driftfold.algorithms.adaptation import FedADE
from driftfold.arrays import Floats
from driftfold.errors import DataError, SpecError
from driftfold.participation import Adversarial
from driftfold.rates import Adaptive, Rate, Recorded
from driftfold.result import Result
from driftfold.risks import Entropy
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec.job import JobSpec
from driftfold.telemetry import read_records
from driftfold.world.cadences import OnlineSteps
from driftfold.world.policy import Horizon
from tests.algorithms.adaptation.systems import STREAM

JOB = JobSpec(
    task=STREAM,
    algorithm=FedADE(Entropy(), Adaptive(0.1, 0.9)),
    cadence=OnlineSteps(),
    horizon=Horizon(rounds=3),
)


def rated(rate: Rate) -> JobSpec:
    return replace(JOB, algorithm=FedADE(Entropy(), rate))


def rates(folder: Path) -> Mapping[tuple[int, int], float]:
    """By client and step."""
    told = {}
    for record in read_records(folder):
        if record.kind == "round" and record.detail is not None:
            clients, steps, each = (column(record.detail, n) for n in ("client", "step", "rate"))
            for c, t, r in zip(clients, steps, each, strict=True):
                told[int(c), int(t)] = float(r)
    return told


def column(detail: Mapping[str, Floats], name: str) -> Floats:
    return detail[name] if name in detail else detail[f"0.{name}"]


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    folder = tmp_path_factory.mktemp("earlier")
    return folder, run(JOB, folder=folder)


@pytest.fixture(autouse=True)
def found(earlier: tuple[Path, Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTFOLD_RUNS", str(earlier[0]))


def test_the_same_rates_are_the_same_run(earlier: tuple[Path, Result], tmp_path: Path) -> None:
    folder, first = earlier
    again = run(rated(Recorded(first.spec_digest)), folder=tmp_path)
    assert again.model_digest == first.model_digest
    assert rates(tmp_path) == rates(folder)
    assert len(set(rates(folder).values())) > 8


@pytest.mark.slow
def test_shuffled_they_stay_within_a_step(earlier: tuple[Path, Result], tmp_path: Path) -> None:
    folder, first = earlier
    other = run(rated(Recorded(first.spec_digest, "shuffled")), folder=tmp_path)
    assert other.model_digest != first.model_digest
    was, now = rates(folder), rates(tmp_path)
    assert was != now
    for step in range(3):
        pairs = [sorted(r for (_, t), r in told.items() if t == step) for told in (was, now)]
        assert pairs[0] == pairs[1]


@pytest.mark.slow
def test_the_mean_is_everybodys_always(earlier: tuple[Path, Result], tmp_path: Path) -> None:
    folder, first = earlier
    run(rated(Recorded(first.spec_digest, "mean")), folder=tmp_path)
    assert set(rates(tmp_path).values()) == {np.mean(list(rates(folder).values()))}


def test_a_step_without_rates_ends_the_run(earlier: tuple[Path, Result]) -> None:
    longer = replace(JOB, task=replace(STREAM, steps=4), horizon=Horizon(rounds=4))
    rule = replace(longer, algorithm=rated(Recorded(earlier[1].spec_digest)).algorithm)
    with pytest.raises(SpecError, match=r"no rates at step 3; it recorded 3 steps.*horizon"):
        run(rule)


@pytest.mark.slow
def test_a_client_without_a_rate_is_left_out_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was silent in the earlier run, and is not in this one."""
    monkeypatch.setenv("DRIFTFOLD_RUNS", str(tmp_path))
    silent = replace(JOB, participation=Adversarial(mode="silent", client=2))
    first = run(silent, folder=tmp_path / "first")
    assert first.counts["accepted"] == 2 * 3 * 3
    second = run(rated(Recorded(first.spec_digest)), folder=tmp_path / "second")
    assert second.counts["failed"] == 3
    notes = [r.note for r in read_records(tmp_path / "second") if r.kind == "fault"]
    assert any("no rate of client 2 at step 0" in note for note in notes)


@pytest.mark.slow
def test_rates_of_every_round_are_not_rates_of_a_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTFOLD_RUNS", str(tmp_path))
    rounds = replace(
        rated(Adaptive(0.1, 0.9, signal_every="round")),
        cadence=OnlineSteps(rounds=2),
        horizon=Horizon(rounds=4),
    )
    first = run(rounds, folder=tmp_path / "first")
    with pytest.raises(DataError, match=r"more than one rate at step.*signal_every"):
        Recorded(first.spec_digest).begin(STREAM.build(Seed(JOB.seed)))


def test_a_run_that_is_nowhere_is_told_before_the_run() -> None:
    with pytest.raises(DataError, match="no finished run with the digest"):
        run(rated(Recorded("0" * 32)))
