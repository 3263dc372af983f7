"""Derivatives that geoopt's Stiefel manifold has not got; ours are closed forms, and need none."""

import geoopt
import numpy as np
import pytest
import torch

from driftfold.manifolds import Stiefel
from tests.manifolds.points import points, tangents

THEIRS = geoopt.EuclideanStiefel()
OURS = Stiefel(3, 5, "polar")


def test_projection_of_an_orthonormal_matrix() -> None:
    x = torch.eye(5, 3, requires_grad=True)
    (derivative,) = torch.autograd.grad(THEIRS.projx(x).sum(), x)
    assert derivative.isnan().any()
    at = points(OURS, 4)
    u, h = tangents(OURS, at, 1.0), 1e-7
    # of the polar factor: the identity on tangent vectors, up to h
    np.testing.assert_allclose((OURS.retract(at, h * u) - at) / h, u, rtol=0, atol=1e-6)


def test_qr_retraction() -> None:
    x, u = torch.eye(5, 3), torch.zeros(5, 3, requires_grad=True)
    moved = THEIRS.retr(x, u)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(moved.sum(), u)
