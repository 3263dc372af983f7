"""A rule that gives one number does what the number does, bit for bit."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms import RFedAGS, RFedAvg, RFedProj, RFedProx, RFedSVRG
from driftfold.algorithms.step_size import Decay, Fixed, Piecewise
from driftfold.algorithms.step_size import PerStep as StepsPerStep
from driftfold.compute import Stacked
from driftfold.data import GaussianClasses
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.tasks import Growing, PerStep, SoftmaxRegression
from driftfold.tasks.sampling import batch_sizes, draw

CLIENTS, VISITS = np.array([0, 2, 3]), np.array([4, 4, 7])


@pytest.fixture(scope="module")
def problem() -> Any:
    """Clients have different numbers of samples."""
    data = GaussianClasses(classes=3, features=2, samples=37)
    return SoftmaxRegression(data=data, clients=5).build(Seed(3))


def same(ours: Any, theirs: Any) -> bool:
    return len(ours) == len(theirs) and all(
        np.array_equal(a.weights, b.weights)
        and (np.array_equal(a.indices, b.indices) if a.indices is not None else b.indices is None)
        for a, b in zip(ours, theirs, strict=True)
    )


@pytest.mark.parametrize(
    ("number", "rules"),
    [
        (3, [PerStep((3,)), PerStep((3, 3, 3)), Growing(3, factor=1.0), Growing(3, period=9)]),
        (0.4, [PerStep((0.4,)), PerStep((0.4, 0.4))]),
        (1, [PerStep((1,)), Growing(1, factor=1.0)]),
        (1.0, [PerStep((1.0,)), Growing(99)]),
    ],
)
def test_a_constant_size_draws_what_the_number_draws(
    number: Any, rules: list[Any], problem: Any
) -> None:
    view = problem.view(CLIENTS, VISITS)
    for rule in rules:
        assert same(view.batches(rule, 5, np.array(8)), view.batches(number, 5)), rule


def test_a_sample_and_a_whole_are_not_one_size(problem: Any) -> None:
    """1 is one sample, 1.0 all of them, though 1 == 1.0."""
    batches = problem.view(CLIENTS, VISITS).batches(PerStep((1, 1.0)), 3, np.array(0))
    assert [batch.weights[0].max() == 1 for batch in batches] == [True, False, False]
    for size, count in ((1, 1), (1.0, problem.data.samples[0])):
        assert problem.batch_samples(size, np.array([0])) == count


def test_changing_sizes_read_on_where_the_last_step_ended(problem: Any) -> None:
    """By `draw` itself, and fewer steps are a prefix. Who takes all of its samples draws none."""
    sizes = (2, 5, 1.0, 0.5, 0.5)
    view, samples = problem.view(CLIENTS, VISITS), problem.data.samples
    got = view.batches(PerStep(sizes), 5, np.array(0))
    start = 0
    for size, batch in zip(sizes, got, strict=True):
        if size == 1.0:
            assert batch.whole
            continue
        each = batch_sizes(size, samples)
        pad = int(each.max())
        stream, held = Seed(3).stream("batch"), samples[CLIENTS]
        (rows,) = draw(stream, CLIENTS, VISITS, held, each[CLIENTS], 1, pad, start)
        np.testing.assert_array_equal(batch.indices, rows)
        start += pad
    for fewer, more in pairwise(range(6)):
        few, many = (view.batches(PerStep(sizes), k, np.array(0)) for k in (fewer, more))
        assert same(few, many[:fewer])


SPEC = from_mapping(
    {
        "task": {
            "kind": "pca",
            "rank": 2,
            "data": {"kind": "gaussian_blocks", "clients": 3, "samples": 8, "dimension": 5},
        },
        "algorithm": {"kind": "rfedags"},
        "horizon": {"rounds": 3},
    }
)
SLOW = pytest.mark.slow
KINDS = pytest.mark.parametrize(
    "kind",
    [
        RFedAGS,
        RFedProx,
        *(pytest.param(kind, marks=SLOW) for kind in (RFedAvg, RFedSVRG, RFedProj)),
    ],
)


def model(algorithm: Any, kernels: bool) -> Any:
    return run(replace(SPEC, algorithm=algorithm, compute=Stacked(kernels=kernels))).model


@KINDS
def test_a_constant_step_size_takes_the_steps_of_the_number(kind: Any) -> None:
    """With kernels, where plain descent has one, and without."""
    for kernels in (True, False):
        number = model(kind(step_size=0.02), kernels)
        for rule in (Fixed(0.02), Piecewise(0.02, period=9), StepsPerStep(0.02, (1.0,))):
            assert np.array_equal(model(kind(step_size=rule), kernels), number)
    assert not np.array_equal(model(kind(step_size=Decay(0.02)), kernels=False), number)


@KINDS
def test_a_constant_batch_size_takes_the_steps_of_the_number(kind: Any) -> None:
    """Bit for bit without kernels, which take numbers only; to rounding with them."""
    for rule in (PerStep((5,)), Growing(5, factor=1.0)):
        by_rule = model(kind(batch=rule), kernels=False)
        assert np.array_equal(by_rule, model(kind(batch=5), kernels=False))
        np.testing.assert_allclose(by_rule, model(kind(batch=5), kernels=True), rtol=0, atol=1e-13)
