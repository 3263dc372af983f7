"""Streams that go wrong: what an adaptation cannot know ends in words, never in NaN."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms.adaptation import FedADE
from driftfold.assembly import build
from driftfold.data import FashionMnist, GaussianClasses
from driftfold.drift import LabelMixture
from driftfold.drift.schedules import Constant
from driftfold.drift.targets import OneClass
from driftfold.errors import CapabilityError, DataError, DriftfoldError, SpecError
from driftfold.label_shift import Em, Inverse, Ridge, Rlls
from driftfold.participation import Adversarial
from driftfold.rates import FixedRate
from driftfold.risks import BbsePseudo, BbseSource, Entropy
from driftfold.run import run
from driftfold.spec import load_spec, validate
from driftfold.spec.job import JobSpec
from driftfold.tasks.streams import Pretraining
from driftfold.telemetry import read_records
from driftfold.world.cadences import OnlineSteps
from driftfold.world.policy import Horizon
from tests.algorithms.adaptation.systems import STREAM

TASK = replace(STREAM, clients=5, batch=8, steps=4, reference=2)
UNTRAINED = replace(TASK, pretraining=Pretraining(epochs=1, rate=1e-6))


def spec(**fields: Any) -> JobSpec:
    usual: dict[str, Any] = {
        "task": TASK,
        "algorithm": FedADE(risk=Entropy(), rate=FixedRate(0.1)),
        "cadence": OnlineSteps(),
        "horizon": Horizon(rounds=4),
        "evaluate_every": 1,
    }
    return JobSpec(**(usual | fields))


def all_finite(folder: Path) -> bool:
    values = [v for record in read_records(folder) for v in record.values.values()]
    return bool(np.isfinite(values).all())


def test_a_singular_confusion_matrix_is_told_before_the_run() -> None:
    with pytest.raises(DataError, match=r"has no inverse.*'ridge'"):
        build(spec(task=UNTRAINED, algorithm=FedADE(risk=BbseSource())))


@pytest.mark.parametrize("rule", [Ridge(), Rlls(), Em(calibrate=False)], ids=repr)
def test_regularised_estimates_go_on_with_it(rule: Any, tmp_path: Path) -> None:
    risk = BbseSource(rule)
    result = run(spec(task=UNTRAINED, algorithm=FedADE(risk=risk)), folder=tmp_path)
    assert result.counts["accepted"] == 2 * 4 * 5
    assert np.isfinite(result.model).all()
    assert all_finite(tmp_path)


def test_a_client_whose_own_matrix_gets_singular_is_skipped_with_a_reason(tmp_path: Path) -> None:
    """Large steps make the entropy's minimiser name one class; its matrix has no inverse then."""
    risk = BbseSource(Inverse(), model="current")
    result = run(spec(algorithm=FedADE(risk=risk, rate=FixedRate(60.0))), folder=tmp_path)
    assert result.counts["failed"] > 0
    reasons = [r.note for r in read_records(tmp_path) if r.kind == "fault"]
    assert any("has no inverse" in note for note in reasons)
    assert np.isfinite(result.model).all()


def test_an_empty_class_is_refused() -> None:
    data = GaussianClasses(classes=3, features=4, samples=300)
    task = replace(TASK, data=data, source=100, held_out=2, reference=1)
    with pytest.raises(DriftfoldError, match="class"):
        build(spec(task=task, algorithm=FedADE(risk=BbseSource())))


@pytest.mark.parametrize("risk", [Entropy(), BbseSource(), BbsePseudo()], ids=repr)
def test_a_batch_of_one_and_of_one_class(risk: Any, tmp_path: Path) -> None:
    """Most classes are never predicted in it."""
    one = replace(TASK, batch=1, drift=(LabelMixture(Constant(1.0), OneClass()),))
    result = run(spec(task=one, algorithm=FedADE(risk=risk)), folder=tmp_path)
    assert result.counts["accepted"] == 2 * 4 * 5
    assert all_finite(tmp_path)


def test_an_empty_batch_is_refused() -> None:
    with pytest.raises(SpecError, match=r"batch: got 0"):
        validate(spec(task=replace(TASK, batch=0)))


def test_a_client_that_never_answers_holds_nobody_up(tmp_path: Path) -> None:
    result = run(spec(participation=Adversarial(mode="silent", client=2)), folder=tmp_path)
    assert result.rounds == 4
    assert result.counts["accepted"] == 2 * 4 * 4
    assert all_finite(tmp_path)


def test_a_loss_that_is_not_finite_costs_that_update_alone(tmp_path: Path) -> None:
    algorithm = FedADE(risk=Entropy(), rate=FixedRate(1e38))
    result = run(spec(algorithm=algorithm), folder=tmp_path)
    assert result.counts["rejected"] > 0
    assert np.isfinite(result.model).all()
    assert all_finite(tmp_path)


def test_damaged_data_are_refused_before_anything_runs(tmp_path: Path) -> None:
    folder = tmp_path / "fashion_mnist"
    folder.mkdir()
    for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"):
        (folder / name).write_bytes(b"\0" * 47_040_016 if "images" in name else b"\0" * 60_008)
    task = replace(TASK, data=FashionMnist(folder=str(tmp_path)))
    with pytest.raises(DataError, match="has SHA256"):
        build(spec(task=task))


def test_an_algorithm_for_other_tasks_says_what_streams_lack() -> None:
    table = load_spec("pca-synthetic")
    with pytest.raises(CapabilityError, match="has none"):
        build(replace(table, algorithm=FedADE()))
