"""What geoopt and pymanopt get wrong with SPD matrices; each test fails when it is mended.

geoopt works with matrices instead of factors, and differentiates through eigenvectors.
"""

import math
from collections.abc import Callable

import geoopt
import numpy as np
import pymanopt
import pytest
import torch

from driftfold.arrays import Array
from driftfold.manifolds import GeooptSpd, Spd
from tests.manifolds import spd_reference as reference
from tests.manifolds.points import ambient, points, tangents

THEIRS = geoopt.SymmetricPositiveDefinite()
N = 8


def graded(condition: float, seed: int, dtype: type) -> Array:
    rotation = np.linalg.qr(np.random.default_rng(seed).standard_normal((N, N)))[0]
    return (rotation * np.logspace(0, -math.log10(condition) / 2, N)).astype(dtype)


@pytest.mark.parametrize(
    ("dtype", "condition", "wrong", "right"),
    [
        (np.float64, 1e8, 1e-7, 3e-15),
        (np.float64, 1e10, 1e-5, 3e-15),
        (np.float32, 1e4, 1e-4, 1e-6),
        (np.float32, 1e6, 1e-2, 1e-6),
        (np.float32, 1e8, 1e-2, 1e-6),
    ],
)
def test_badly_conditioned(dtype: type, condition: float, wrong: float, right: float) -> None:
    a, m = graded(condition, 1, dtype), graded(condition, 2, dtype)
    exact = reference.norm(reference.log(a, m))
    x, y = (torch.tensor(f.astype(np.float64) @ f.T.astype(np.float64)) for f in (a, m))
    theirs = THEIRS.dist(x.to(torch.tensor(a).dtype), y.to(torch.tensor(a).dtype)).item()
    assert not abs(theirs / exact - 1) < wrong
    assert abs(Spd(N).dist(a, m) / exact - 1) < right


@pytest.mark.parametrize(
    "matrix", [torch.eye(4), torch.diag(torch.tensor([1.0, 1.0, 2.0, 2.0]))], ids=["I", "pairs"]
)
@pytest.mark.parametrize("name", ["dist", "squared dist", "logmap", "expmap", "transp"])
def test_derivatives_at_repeated_eigenvalues(name: str, matrix: torch.Tensor) -> None:
    eye = torch.eye(4)
    maps: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "dist": lambda y: THEIRS.dist(eye, y),
        "squared dist": lambda y: THEIRS.dist(eye, y).square(),
        "logmap": lambda y: THEIRS.logmap(eye, y),
        "expmap": lambda x: THEIRS.expmap(x, eye),
        "transp": lambda x: THEIRS.transp(x, 2 * matrix, eye),
    }
    y = matrix.clone().requires_grad_()
    (derivative,) = torch.autograd.grad(maps[name](y).sum(), y)
    assert derivative.isnan().any()
    # ours: the gradient of the squared distance in closed form
    factor = matrix.numpy() ** 0.5
    gradient = -2 * Spd(4).log(factor, np.eye(4, dtype=np.float32))
    expected = 2 * np.diag(np.log(np.diagonal(matrix.numpy())))
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-6)


def test_pymanopts_transport_does_not_move() -> None:
    spd = Spd(4)
    a = points(spd, 1)
    s = tangents(spd, a, 1.0)
    m = spd.exp(a, tangents(spd, a, 2.0, visit=5))
    x, y, u = spd.embed(a)[0], spd.embed(m)[0], (a @ s @ a.mT)[0]
    theirs = pymanopt.manifolds.SymmetricPositiveDefinite(4)
    carried = theirs.transport(x, y, u)
    assert np.array_equal(carried, u)
    assert abs(theirs.norm(y, carried) - 1) > 0.1
    assert spd.norm(m, spd.transport(a, m, s)) == pytest.approx(1, abs=1e-14)


def test_geoopt_agrees_where_it_is_right() -> None:
    ours, theirs = Spd(4), GeooptSpd(4)
    a = points(ours, 8)
    s, v = tangents(ours, a, 0.8), tangents(ours, a, 1.0, visit=5)
    m = ours.exp(a, s)
    x, y = ours.embed(a), ours.embed(m)
    u, w = a @ s @ a.mT, a @ v @ a.mT
    g = theirs.project(x, ambient(ours, 8))
    pairs = [
        (ours.embed(m), theirs.exp(x, u)),
        (ours.embed(Spd(4, "second_order").retract(a, s)), theirs.retract(x, u)),
        (a @ ours.log(a, m) @ a.mT, theirs.log(x, y)),
        (ours.dist(a, m), theirs.dist(x, y)),
        (m @ ours.transport(a, m, v) @ m.mT, theirs.transport(x, y, w)),
        (a @ ours.gradient(a, 2 * g @ a) @ a.mT, theirs.gradient(x, g)),
        (ours.inner(a, s, v), theirs.inner(x, u, w)),
    ]
    for one, other in pairs:
        # random points have conditions up to 1e3
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
