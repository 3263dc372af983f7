"""Whole runs with kernels and without end at the same model."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from driftfold.compute.stacked import StackedEngine
from driftfold.native import Library, library
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.tasks.batch_size import BatchSize
from tests.native.stacks import by_kernel, phase_of, plain, starts, work
from tests.native.test_kernels import ROWS, small

pytestmark = pytest.mark.skipif(
    not isinstance(library(), Library), reason="there is no library of kernels here"
)

BLOCKS = {"kind": "gaussian_blocks", "clients": 8, "samples": 12, "dimension": 10}
LONG = {"kind": "gaussian_blocks", "clients": 8, "samples": 4, "dimension": 30}
SPD = {"kind": "synthetic_spd", "clients": 5, "samples": 4, "size": 3, "freedom": 7}
POINTS = {"kind": "wrapped_normal", "clients": 8, "samples": 6}
TASKS: dict[str, dict[str, Any]] = {
    "gram": {"kind": "pca", "rank": 3, "data": BLOCKS},
    "dual": {"kind": "pca", "rank": 3, "data": LONG},
    "sphere": {"kind": "pca", "rank": 1, "data": BLOCKS},
    "spd": {"kind": "spd_frechet_mean", "data": SPD},
    "hyperbolic": {"kind": "hyperbolic_frechet_mean", "data": POINTS},
}


def table(task: str, kernels: bool, algorithm: str = "rfedags", **more: Any) -> dict[str, Any]:
    return {
        "task": TASKS[task],
        "algorithm": {"kind": algorithm, "steps": 3, "step_size": 0.05, **more},
        "participation": {"kind": "bernoulli", "p": 0.8},
        "estimator": {"kind": "inclusive"},
        "horizon": {"rounds": 50},
        "evaluate_every": 50,
        "compute": {"kind": "stacked", "kernels": kernels},
    }


@pytest.mark.parametrize(
    ("task", "algorithm", "more"),
    [
        ("gram", "rfedags", {}),
        ("gram", "rfedavg", {}),
        ("gram", "rfedags", {"batch": 5}),
        ("dual", "rfedags", {}),
        ("sphere", "rfedags", {}),
        ("spd", "rfedags", {}),
        ("hyperbolic", "rfedags", {}),
    ],
)
def test_fifty_rounds_agree(task: str, algorithm: str, more: dict[str, Any]) -> None:
    """To 1e-10: rounding of 1e-15 a round, which steps towards a minimum do not amplify."""
    fast, slow = (run(from_mapping(table(task, k, algorithm, **more))) for k in (True, False))
    assert fast.event_digest == slow.event_digest
    np.testing.assert_allclose(fast.model, slow.model, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", ROWS)
def test_one_step_streams_the_gradient(kind: str) -> None:
    """T1 of RFedAGS: with K = 1 and all samples, alpha times the gradient at the start."""
    problem = small(kind)
    phase = phase_of(problem, "stream", alpha=0.3, steps=1)
    everyone = np.arange(problem.fleet.size)
    x = problem.initial_point()
    got = by_kernel(problem, work(problem, phase, everyone))
    view = problem.view(everyone, everyone)
    stacked = np.broadcast_to(x, (len(everyone), *x.shape))
    wanted = 0.3 * view.gradient(stacked, view.everything())
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-13 * np.abs(wanted).max())


@pytest.mark.parametrize("kind", ROWS)
def test_truncated_work_is_a_prefix(kind: str) -> None:
    """Fewer steps are what a shorter piece of work makes, bit for bit."""
    problem = small(kind)
    size: BatchSize = 2 if kind == "pca_rows" else "full"
    long, short = (phase_of(problem, "endpoint", size, steps=k) for k in (5, 2))
    everyone = np.arange(9)
    whole = work(problem, long, everyone)
    cut = by_kernel(problem, replace(whole, steps=2))
    assert np.array_equal(cut, by_kernel(problem, work(problem, short, everyone)))


@pytest.mark.parametrize("kind", ROWS)
def test_each_may_have_a_start_and_a_step_size_of_its_own(kind: str) -> None:
    """As when they were sent out at different server versions."""
    problem = small(kind)
    phase = phase_of(problem, "stream")
    stack = work(problem, phase, np.arange(9), starts(problem, 3))
    sizes = np.linspace(0.01, 0.09, 9)
    own = [replace(d, step_size=np.array([a])) for d, a in zip(stack.downloads, sizes, strict=True)]
    stack = replace(stack, downloads=own)
    wanted = plain(problem, stack)
    got = by_kernel(problem, stack)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


def test_a_client_without_samples_sends_nothing() -> None:
    empty = small("lorentz_mean")
    weights = empty.weights.copy()  # type: ignore[attr-defined]
    weights[2] = 0
    empty.weights = weights  # type: ignore[attr-defined]
    phase = phase_of(empty, "stream")
    sent = StackedEngine(empty, 64).run(work(empty, phase, np.arange(9))).payload.vector
    assert not sent[2].any()
    assert sent[[0, 1, 3]].any()
