"""What geoopt's hyperboloid gets wrong, which is why ours is our own; each test fails when mended.

Its norm has a floor of 1e-4, and its inner products cancel far from the origin.
"""

import math

import geoopt
import numpy as np
import pytest
import torch

from driftfold.arrays import Array
from driftfold.manifolds import Lorentz
from driftfold.manifolds.hyperbolic_forms import (
    from_ball,
    tangent_from_ambient,
    tangent_to_ambient,
)
from tests.manifolds import hyperbolic_reference as reference
from tests.manifolds.points import points, tangents

THEIRS, OURS = geoopt.Lorentz(), Lorentz(3)
S = np.array([0.3, -0.2, 0.5])
E = np.eye(3)


def lifted(s: Array) -> torch.Tensor:
    s = torch.as_tensor(s)
    return torch.cat([(1 + s.square().sum(-1, keepdim=True)).sqrt(), s], -1)


def turned(radius: float, angle: float) -> Array:
    return math.sinh(radius) * np.array([math.cos(angle), math.sin(angle), 0.0])


@pytest.mark.parametrize(("distance", "times"), [(1e-5, 9), (1e-6, 90), (1e-8, 3000)])
def test_logarithm_of_a_near_point(distance: float, times: float) -> None:
    t = OURS.exp(S, distance * np.array([0.6, 0.0, 0.8]))
    x = lifted(S)
    log = THEIRS.logmap(x, lifted(t))
    assert THEIRS.inner(x, log).abs().sqrt().item() < distance / times
    # the near point is rounded
    assert np.linalg.norm(OURS.log(S, t)) == pytest.approx(distance, abs=2e-16)


@pytest.mark.parametrize("length", [0.0, 1e-12])
def test_exponential_of_no_or_a_tiny_step(length: float) -> None:
    x = lifted(S)
    u = THEIRS.proju(x, torch.tensor([0.0, length, 0.0, 0.0], dtype=torch.float64))
    moved = (THEIRS.expmap(x, u) - x).abs().max().item()
    assert moved > 1e-9
    w = np.array([length, 0.0, 0.0])
    assert np.abs(OURS.exp(S, w) - S).max() <= 1.1 * length


@pytest.mark.parametrize(("dtype", "wrong"), [(np.float64, 3e-8), (np.float32, 1e-3)])
def test_equal_points_and_zero_vectors(dtype: type, wrong: float) -> None:
    s = points(OURS, 20).astype(dtype)
    assert THEIRS.dist(lifted(s), lifted(s)).max().item() > wrong
    assert THEIRS.norm(torch.zeros(4, dtype=torch.float64)).item() == pytest.approx(1e-4)
    assert np.array_equal(OURS.dist(s, s), np.zeros(20))
    assert np.array_equal(OURS.norm(s, 0 * s), np.zeros(20))


@pytest.mark.parametrize(("radius", "off"), [(10.0, 5e-6), (15.0, 1e-3), (20.0, 10.0)])
def test_radial_neighbours_far_out(radius: float, off: float) -> None:
    s, t = math.sinh(radius) * E[0], math.sinh(radius + 1e-3) * E[0]
    assert not abs(THEIRS.dist(lifted(s), lifted(t)).item() - 1e-3) < off
    assert OURS.dist(s, t) == pytest.approx(1e-3, rel=1e-11)


@pytest.mark.parametrize(
    ("dtype", "radius", "right"), [(np.float64, 20.0, 1e-6), (np.float32, 15.0, 0.1)]
)
def test_neighbours_in_angle_far_out(dtype: type, radius: float, right: float) -> None:
    angle = 2 * math.asin(math.sinh(0.5) / math.sinh(radius))
    s, t = turned(radius, 0.0).astype(dtype), turned(radius, angle).astype(dtype)
    assert not abs(THEIRS.dist(lifted(s), lifted(t)).item() - 1) < 0.5
    # rounding a point moves it by eps sinh(radius)
    assert OURS.dist(s, t) == pytest.approx(1, abs=right)


def test_logarithm_far_out() -> None:
    s, t = turned(20.0, 0.0), turned(20.0, 2.0)
    x = lifted(s)
    log = THEIRS.logmap(x, lifted(t))
    right = math.acosh(1 + math.sinh(20.0) ** 2 * (1 - math.cos(2.0)))
    length = THEIRS.inner(x, log).abs().sqrt().item()
    assert not abs(length - right) < 1
    assert np.linalg.norm(OURS.log(s, t)) == pytest.approx(right, rel=1e-14)


def test_exponential_undoes_the_logarithm_far_out() -> None:
    ours = Lorentz(20)
    far = points(ours, 8)
    far *= math.sinh(10.0) / np.linalg.norm(far, axis=1, keepdims=True)
    s, t = far[:4], far[4:]
    x = lifted(s)
    landed = THEIRS.expmap(x, THEIRS.logmap(x, lifted(t)))
    theirs = ours.dist(landed[:, 1:].numpy(), t)
    assert not (theirs < 0.1).any()
    assert (ours.dist(ours.exp(s, ours.log(s, t)), t) < 1e-6).all()


def test_transport_of_a_neighbour_far_out() -> None:
    s, w = math.sinh(12.0) * np.array([0.6, 0.8, 0.0]), np.array([0.3, 0.5, -0.2])
    t = OURS.exp(s, 1e-3 * np.array([0.6, 0.0, 0.8]))
    u = torch.tensor(tangent_to_ambient(s, w))
    theirs = tangent_from_ambient(t, THEIRS.transp(lifted(s), lifted(t), u).numpy())
    x, y = (reference.lifted(reference.exact(a)) for a in (s, t))
    carried = reference.parallel(x, y, reference.ambient(x, reference.exact(w)))
    right = reference.coordinates(y, carried)
    assert reference.distance(theirs, right) > 3e-6
    assert reference.distance(OURS.transport(s, t, w), right) < 1e-13


def test_the_gradient_conversion_writes_into_its_argument() -> None:
    g = torch.ones(4, dtype=torch.float64)
    THEIRS.egrad2rgrad(lifted(S), g)
    assert not torch.equal(g, torch.ones(4, dtype=torch.float64))
    ours = np.ones(3)
    OURS.gradient(S, ours)
    assert np.array_equal(ours, np.ones(3))


def test_random_points_ignore_their_scale() -> None:
    torch.manual_seed(0)
    near, far = (THEIRS.random_normal(2000, 4, std=std)[:, 0].mean().item() for std in (0.1, 10.0))
    assert near == pytest.approx(far, rel=0.2)


def test_gradient_of_the_squared_distance() -> None:
    t = OURS.exp(S, 1e-8 * np.array([0.6, 0.0, 0.8]))
    y = lifted(t).requires_grad_()
    THEIRS.dist(lifted(S), y).square().backward()
    assert y.grad is not None
    gradient = THEIRS.egrad2rgrad(y.detach(), y.grad.clone())
    assert THEIRS.inner(None, gradient, gradient).abs().sqrt().item() < 1e-15
    assert np.linalg.norm(-2 * OURS.log(t, S)) == pytest.approx(2e-8, rel=1e-7)


def test_conversion_from_the_ball() -> None:
    b = 0.9992 * np.array([[0.6, 0.8, 0.0]])
    x = geoopt.manifolds.lorentz.math.poincare_to_lorentz(torch.tensor(b), k=torch.tensor(1.0))
    assert abs(THEIRS.inner(None, x, x).item() + 1) > 1e-3
    ours = OURS.embed(from_ball(b))
    assert np.sum(ours[:, 1:] ** 2) - ours[0, 0] ** 2 == pytest.approx(-1, abs=1e-9)


def test_agrees_where_it_is_right() -> None:
    s = points(OURS, 8)
    w, v = tangents(OURS, s, 0.8), tangents(OURS, s, 1.0, visit=5)
    t = OURS.exp(s, w)
    x, y, u = lifted(s), lifted(t), torch.tensor(tangent_to_ambient(s, w))
    pairs = [
        (OURS.embed(t), THEIRS.expmap(x, u)),
        (tangent_to_ambient(s, OURS.log(s, t)), THEIRS.logmap(x, y)),
        (OURS.dist(s, t), THEIRS.dist(x, y)),
        (
            tangent_to_ambient(t, OURS.transport(s, t, v)),
            THEIRS.transp(x, y, torch.tensor(tangent_to_ambient(s, v))),
        ),
        (
            tangent_to_ambient(s, OURS.gradient(s, v)),
            THEIRS.egrad2rgrad(x, torch.tensor(np.pad(v, ((0, 0), (1, 0))))),
        ),
        (OURS.inner(s, w, v), THEIRS.inner(x, u, torch.tensor(tangent_to_ambient(s, v)))),
    ]
    for ours, theirs in pairs:
        # points are up to 4 from the origin
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-10, atol=1e-10)
