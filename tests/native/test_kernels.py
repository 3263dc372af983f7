"""A kernel gives what the algorithm's own NumPy form gives.

Both round differently, a few units in the last place in each of a few steps: 1e-12 in double and
1e-5 in single precision, relative to the largest number, leave an order of magnitude of room.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftfold.compute.fused import fused
from driftfold.compute.stacked import StackedEngine
from driftfold.data.dirichlet import DirichletLabels
from driftfold.data.gaussian_blocks import GaussianBlocks
from driftfold.data.gaussian_classes import GaussianClasses
from driftfold.data.synthetic_spd import SyntheticSpd
from driftfold.data.wrapped_normal import WrappedNormal
from driftfold.engines import TABLE, choose
from driftfold.manifolds.lorentz import Lorentz
from driftfold.manifolds.spd import Spd
from driftfold.manifolds.sphere import Sphere
from driftfold.manifolds.stiefel import Stiefel
from driftfold.native import Library, library
from driftfold.rng import Seed
from driftfold.tasks.base import Problem
from driftfold.tasks.batch_size import BatchSize
from driftfold.tasks.hyperbolic_frechet_mean import HyperbolicFrechetMean
from driftfold.tasks.pca import Pca
from driftfold.tasks.spd_frechet_mean import SpdFrechetMean
from tests.native.stacks import agree, by_kernel, phase_of, plain, work

pytestmark = pytest.mark.skipif(
    not isinstance(library(), Library), reason="there is no library of kernels here"
)

QUICK = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))

precisions = st.sampled_from(["float64", "float32"])
descents = st.sampled_from(["stream", "endpoint"])
batches = st.sampled_from(["full", 3])


@QUICK
@given(
    st.integers(1, 8),
    st.integers(0, 40),
    st.integers(1, 60),
    st.sampled_from(["qr", "polar"]),
    precisions,
    descents,
    batches,
    st.integers(1, 4),
    st.booleans(),
)
def test_pca(
    r: int, more: int, samples: int, retraction: Any, precision: Any, descent: str, batch: Any,
    steps: int, own: bool,
) -> None:  # fmt: skip
    d = r + max(more, 1)
    manifold = Stiefel(r, d, retraction=retraction)
    data = GaussianBlocks(clients=3, samples=samples, dimension=d)
    task = Pca(data=data, rank=r, manifold=manifold, precision=precision)
    agree(task.build(Seed(1)), descent, batch, steps, own, precision)


@QUICK
@given(
    st.integers(2, 40),
    st.sampled_from(["exp", "normalise"]),
    st.sampled_from(["parallel", "projection"]),
    precisions,
    descents,
    batches,
    st.integers(1, 4),
)
def test_principal_eigenvector(
    d: int, retraction: Any, transport: Any, precision: Any, descent: str, batch: Any, steps: int
) -> None:
    manifold = Sphere(d, retraction=retraction, transport_by=transport)
    data = GaussianBlocks(clients=3, samples=7, dimension=d)
    problem = Pca(data=data, rank=1, manifold=manifold, precision=precision).build(Seed(1))
    agree(problem, descent, batch, steps, True, precision)


@QUICK
@given(
    st.integers(2, 16),
    st.integers(1, 20),
    st.sampled_from(["parallel", "path"]),
    precisions,
    descents,
    batches,
    st.integers(1, 3),
)
def test_spd_mean(
    n: int, samples: int, transport: Any, precision: Any, descent: str, batch: Any, steps: int
) -> None:
    task = SpdFrechetMean(
        data=SyntheticSpd(clients=2, samples=samples, size=n, freedom=2 * n + 2),
        manifold=Spd(n, transport_by=transport),
        precision=precision,
    )
    agree(task.build(Seed(1)), descent, batch, steps, False, precision)


@QUICK
@given(
    st.integers(2, 10),
    st.integers(1, 40),
    st.sampled_from(["parallel", "projection"]),
    precisions,
    descents,
    batches,
    st.integers(1, 4),
    st.booleans(),
)
def test_hyperbolic_mean(
    dim: int, samples: int, transport: Any, precision: Any, descent: str, batch: Any, steps: int,
    own: bool,
) -> None:  # fmt: skip
    task = HyperbolicFrechetMean(
        data=WrappedNormal(clients=3, samples=samples, dimension=dim),
        manifold=Lorentz(dim, transport_by=transport),
        precision=precision,
    )
    agree(task.build(Seed(1)), descent, batch, steps, own, precision)


def small(kind: str, precision: Any = "float64", **fields: Any) -> Problem:
    """One small problem for each row of the table; clients differ in size."""
    if kind == "spd_mean":
        data = SyntheticSpd(clients=9, samples=5, size=3, freedom=7)
        return SpdFrechetMean(data=data, precision=precision).build(Seed(2))
    if kind == "lorentz_mean":
        points = WrappedNormal(clients=9, samples=6, dimension=3)
        return HyperbolicFrechetMean(data=points, precision=precision).build(Seed(2))
    features = 150 if kind == "pca_dual" else 9
    return Pca(
        data=GaussianClasses(classes=4, features=features, samples=100),
        partition=DirichletLabels(alpha=0.6),
        clients=9,
        rank=3,
        precision=precision,
    ).build(Seed(2))


ROWS = [row.kernel for row in TABLE]


@pytest.mark.parametrize("kind", ROWS)
def test_every_row_of_the_table_is_chosen_by_some_problem(kind: str) -> None:
    row = choose(small(kind), 2 if kind == "pca_rows" else "full")
    assert row is not None
    assert row.kernel == kind


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("kind", ROWS)
def test_a_clients_bits_do_not_depend_on_who_else_is_there(kind: str, precision: str) -> None:
    problem = small(kind, precision)
    phase = phase_of(problem, "stream", 2 if kind == "pca_rows" else "full")
    everyone = np.arange(9)
    together = by_kernel(problem, work(problem, phase, everyone))
    for some in ([4], [8, 1], [0, 3, 5, 7]):
        alone = by_kernel(problem, work(problem, phase, np.array(some)))
        assert np.array_equal(alone, together[some])


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("kind", ROWS)
@np.errstate(all="ignore")
def test_what_is_not_finite_stays_with_its_client(kind: str, number: float) -> None:
    """A kernel refuses it, so that what it did not refuse need not be looked through."""
    problem = small(kind)
    size: BatchSize = 2 if kind == "pca_rows" else "full"
    phase = phase_of(problem, "stream", size)
    everyone = np.arange(9)
    sound = StackedEngine(problem, 64).run(work(problem, phase, everyone))
    spoilt = small(kind)
    rows = spoilt.kernel_data(size).rows  # type: ignore[union-attr]
    rows[5, :] = number
    stack = work(problem, phase, everyone)
    kernel = fused(spoilt, phase)
    assert kernel is not None
    assert np.flatnonzero(kernel.run(stack)[1]).tolist() == [5]
    got = StackedEngine(spoilt, 64).run(stack)
    others = everyone != 5
    assert sound.finite
    assert not got.finite
    assert np.array_equal(got.payload.vector[others], sound.payload.vector[others])
    assert not np.isfinite(got.payload.vector[5]).all()


def test_steps_too_long_for_short_formulas_are_left_to_the_plain_form() -> None:
    """Only the client that makes them: here the one whose samples are a million times larger."""
    problem = small("pca_gram")
    problem.data.x[4] *= 1e3  # type: ignore[attr-defined]
    phase = phase_of(problem, "endpoint", alpha=10.0)
    stack = work(problem, phase, np.arange(9))
    got = StackedEngine(problem, 64).run(stack).payload.point
    wanted = plain(problem, stack)
    np.testing.assert_allclose(got[4], wanted[4], atol=1e-9)  # digits lost to the length of steps
    assert problem.manifold.off_point(got).max() < 1e-13
