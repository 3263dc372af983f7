"""Metrics that a specification asks for by name."""

from typing import Any

import numpy as np
import pytest

from driftfold.assembly import build
from driftfold.data import WrappedNormal
from driftfold.errors import RecordError, SpecError
from driftfold.participation import Bernoulli, Uniform
from driftfold.participation.cohort import cohort_weights
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.tasks import CohortGap, GradientNorm, HyperbolicFrechetMean, OffManifold

TABLE: dict[str, Any] = {
    "task": {
        "kind": "pca",
        "rank": 2,
        "data": {"kind": "gaussian_blocks", "clients": 300, "samples": 4, "dimension": 6},
    },
    "algorithm": {"kind": "rfedags", "step_size": 0.01},
    "horizon": {"rounds": 3},
}


def test_gradient_norm_is_that_of_the_pooled_data() -> None:
    """More clients than are computed at a time; against the pooled second-moment matrix."""
    problem: Any = build(from_mapping(TABLE)).problem
    x = problem.initial_point()
    pooled = problem.data.x.reshape(-1, 6)
    egrad = -2 * x @ (pooled.T @ pooled / len(pooled))
    rgrad = egrad - (egrad @ x.T + x @ egrad.T) / 2 @ x
    measured = GradientNorm().measure(problem, x, 0.0)["gradient_norm"]
    assert measured == pytest.approx(np.linalg.norm(rgrad), rel=1e-12)


def test_off_manifold_tells_a_point_that_is_off() -> None:
    problem = build(from_mapping(TABLE)).problem
    x = problem.initial_point()
    assert OffManifold().measure(problem, x, 0.0)["off_manifold"] < 1e-14
    assert OffManifold().measure(problem, 1.1 * x, 0.0)["off_manifold"] > 0.1


def test_metrics_are_evaluated_and_change_nothing() -> None:
    plain = run(from_mapping(TABLE))
    more = run(from_mapping({**TABLE, "metrics": ["gradient_norm", {"kind": "off_manifold"}]}))
    assert set(more.metrics) - set(plain.metrics) == {"gradient_norm", "off_manifold"}
    for name in ("event_digest", "metrics_digest", "model_digest"):
        assert getattr(more, name) == getattr(plain, name)
    assert more.spec_digest != plain.spec_digest


def test_a_name_twice_is_refused() -> None:
    twice = from_mapping({**TABLE, "metrics": ["gradient_norm", "gradient_norm"]})
    with pytest.raises(RecordError, match="'gradient_norm' is given twice"):
        run(twice)


def test_the_gap_of_the_cohort_vanishes_at_the_optimum_of_the_reweighted_objective() -> None:
    p = tuple((0.05 + 0.9 * np.arange(300) / 299).tolist())
    participation = {"kind": "bernoulli", "p": p}
    world = build(
        from_mapping(
            {
                **TABLE,
                "participation": participation,
                "metrics": [{"kind": "cohort_gap", "participation": participation}],
            }
        )
    )
    problem: Any = world.problem
    total = sum(
        w * rows.T @ rows / len(rows)
        for w, rows in zip(cohort_weights(np.array(p)), problem.data.x, strict=True)
    )
    x = np.linalg.eigh(total)[1][:, -2:].T
    metric = CohortGap(Bernoulli(p=p))
    assert abs(metric.measure(problem, x, 0.0)["cohort_gap"]) < 1e-13
    assert problem.evaluate(x, 0.0)["gap"] > 1e-5


def test_the_gap_of_the_cohort_needs_independent_answers_and_a_task_that_can_be_weighed() -> None:
    problem: Any = build(from_mapping(TABLE)).problem
    x = problem.initial_point()
    with pytest.raises(SpecError, match="needs independent responses"):
        CohortGap(Uniform(rho=0.5)).measure(problem, x, 0.0)
    other = WrappedNormal(clients=2, samples=2)
    task = HyperbolicFrechetMean(data=other).build(Seed(1))
    with pytest.raises(SpecError, match="can be weighed anew"):
        CohortGap(Bernoulli(p=0.5)).measure(task, task.initial_point(), 0.0)
