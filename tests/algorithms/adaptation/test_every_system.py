"""What holds of every system: the same bits in any tiles and after a stop, and streams gone bad."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from driftfold.algorithms.adaptation import Adaptation
from driftfold.compute import Stacked
from driftfold.compute.base import Engine
from driftfold.drift import FeatureNoise, LabelMixture
from driftfold.drift.schedules import Constant, Step
from driftfold.drift.targets import OneClass
from driftfold.participation import Adversarial
from driftfold.registry import kind_of
from driftfold.result import Result
from driftfold.run import run
from driftfold.telemetry import read_records
from tests.algorithms.adaptation.systems import QUICK, SYSTEMS, TASK, job
from tests.modules import own_kinds

SEVERAL = [pytest.param(a, marks=() if a in QUICK else pytest.mark.slow) for a in SYSTEMS]
every_system = pytest.mark.parametrize("algorithm", SEVERAL, ids=lambda a: repr(a)[:60])
each_slowly = pytest.mark.parametrize("algorithm", SYSTEMS, ids=lambda a: repr(a)[:60])


def digests(result: Result) -> tuple[str, ...]:
    return (
        result.metrics_digest,
        result.evaluation_digest,
        result.model_digest,
        result.event_digest,
    )


def all_finite(folder: Path) -> bool:
    told = [
        v
        for record in read_records(folder)
        for name, v in record.values.items()
        if name != "loss"  # of the server's model on inputs that no model can bear
    ]
    return bool(np.isfinite(told).all())


def test_every_kind_is_among_them() -> None:
    kinds = {kind for kind, cls in own_kinds("algorithm").items() if issubclass(cls, Adaptation)}
    assert {kind_of(system) for system in SYSTEMS} == kinds


@every_system
def test_tiles_and_a_stop_change_no_bit(
    algorithm: Adaptation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped within a step, after the first of its two rounds, and resumed from a snapshot.

    One client's payload at a time, where the server needs their sum alone.
    """
    spec = job(algorithm)
    whole = run(spec)
    small = replace(spec, compute=Stacked(tile=1))
    monkeypatch.setattr(Engine, "payload_bytes", 1)
    tiled = run(small, folder=tmp_path, stop=Countdown(3))
    assert tiled.ended == "stopped"
    assert (tiled.rounds, whole.rounds) == (3, 6)
    rest = run(small, folder=tmp_path, resume=True)
    assert digests(rest) == digests(whole)
    assert rest.metrics == whole.metrics


class Countdown:
    """True from the n-th time that it is asked."""

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self) -> bool:
        self.left -= 1
        return self.left <= 0


@pytest.mark.slow
@each_slowly
def test_single_inputs_of_one_class_and_a_client_that_never_returns(
    algorithm: Adaptation, tmp_path: Path
) -> None:
    task = replace(TASK, batch=1, drift=(LabelMixture(Constant(1.0), OneClass()),))
    silent = Adversarial(mode="silent", client=2)
    result = run(job(algorithm, task, participation=silent), folder=tmp_path)
    assert result.rounds == 6
    assert result.counts["accepted"] > 0
    phases = 2 if result.counts["accepted"] > 3 * 6 else 1
    assert result.counts["accepted"] == 3 * 6 * phases
    assert result.counts["rejected"] == result.counts["failed"] == 0
    assert np.isfinite(result.model).all()
    assert all_finite(tmp_path)


@pytest.mark.slow
@each_slowly
def test_inputs_that_are_not_finite_spoil_nothing(algorithm: Adaptation, tmp_path: Path) -> None:
    """From the second step on they are beyond all numbers; what was before stays as it was."""
    task = replace(TASK, drift=(FeatureNoise(Step(at=(1.0,)), sd=1e39),))
    with np.errstate(all="ignore"):
        result = run(job(algorithm, task), folder=tmp_path)
    assert result.rounds == 6
    assert np.isfinite(result.model).all()
    assert all_finite(tmp_path)


class Crash(Countdown):
    """Fails the n-th time that it is asked, as a machine does."""

    def __call__(self) -> bool:
        if super().__call__():
            raise OSError("power cut")
        return False


@pytest.mark.slow
@each_slowly
def test_a_crash_changes_no_bit(algorithm: Adaptation, tmp_path: Path) -> None:
    """After five rounds, with a snapshot of the fourth: the fifth is in the log, and done again."""
    spec = job(algorithm, checkpoint_every=2)
    whole = run(spec)
    with pytest.raises(OSError, match="power cut"):
        run(spec, folder=tmp_path, stop=Crash(5))
    rest = run(spec, folder=tmp_path, resume=True)
    assert rest.resumed_from == 4
    assert digests(rest) == digests(whole)
    assert rest.metrics == whole.metrics
