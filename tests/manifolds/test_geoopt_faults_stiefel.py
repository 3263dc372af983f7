"""Faults of geoopt that made us write our own maps. A test here that fails is good news:

geoopt has mended the fault, and the map may go through the adapter.
"""

import geoopt
import numpy as np
import pytest
import torch

from driftfold.arrays import Array
from driftfold.manifolds import Stiefel
from tests.manifolds.points import points, tangents

CANONICAL = Stiefel(3, 8, "cayley", "canonical", "cayley")


def step(length: float) -> tuple[Array, Array]:
    x = points(CANONICAL, 4)
    u = tangents(CANONICAL, x, length)
    assert np.abs(u @ x.mT).max() > 0.1 * length  # it also turns the rows among themselves
    return x, u


def columns(a: Array) -> torch.Tensor:
    return torch.asarray(a).mT


@pytest.mark.parametrize("name", ["retr", "expmap"])
def test_canonical_retraction_starts_in_another_direction(name: str) -> None:
    h = 1e-6
    x, u = step(h)
    theirs = getattr(geoopt.CanonicalStiefel(), name)(columns(x), columns(u)).mT.numpy()
    ours = CANONICAL.retract(x, u)
    # A retraction errs by h^2; theirs by x x^T u, a good part of the step.
    assert np.abs(ours - x - u).max() < 10 * h**2
    assert np.abs(theirs - x - u).max() > 0.05 * h
    np.testing.assert_allclose(theirs - x, u - (x @ u.mT) @ x, rtol=0, atol=10 * h**2)


def test_canonical_projection_changes_tangent_vectors() -> None:
    x, u = step(1.0)
    theirs = geoopt.CanonicalStiefel().proju(columns(x), columns(u)).mT.numpy()
    np.testing.assert_allclose(CANONICAL.project(x, u), u, rtol=0, atol=1e-15)
    assert np.abs(theirs - u).max() > 0.1
    # It is the conversion of gradients, which is something else.
    np.testing.assert_allclose(theirs, CANONICAL.gradient(x, u), rtol=0, atol=1e-14)


def test_exponential_does_not_broadcast() -> None:
    stiefel = Stiefel(3, 8)
    x = points(stiefel, 1)[0]
    u = tangents(stiefel, np.broadcast_to(x, (4, 3, 8)), 0.5)
    exact = geoopt.EuclideanStiefelExact()
    with pytest.raises(RuntimeError):
        exact.expmap(columns(x), columns(u))
    one_by_one = [exact.expmap(columns(x), columns(vector)).mT.numpy() for vector in u]
    np.testing.assert_allclose(stiefel.exp(x, u), one_by_one, rtol=0, atol=1e-13)
