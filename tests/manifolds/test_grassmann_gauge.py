"""Any orthonormal basis stands for its subspace: aligned maps do not notice which one."""

import numpy as np
import pytest

from driftfold.arrays import Array
from driftfold.manifolds import GradientStream, Grassmann
from tests.manifolds.horizontal import rotation
from tests.manifolds.points import points, tangents

ALIGNED = pytest.mark.parametrize(
    "grassmann",
    [
        Grassmann(3, 8, "cayley", "cayley"),
        Grassmann(3, 8, "exp", "parallel"),
        Grassmann(3, 8, "polar", "projection"),
        Grassmann(3, 8, "qr", "projection"),
    ],
    ids=repr,
)


def walk(grassmann: Grassmann, x: Array, steps: int, length: float) -> Array:
    for k in range(steps):
        x = grassmann.retract(x, tangents(grassmann, x, length, visit=5 + k))
    return x


@ALIGNED
def test_maps_do_not_depend_on_the_basis(grassmann: Grassmann) -> None:
    x = points(grassmann, 6)
    y = walk(grassmann, x, 2, 0.7)
    u = tangents(grassmann, x, 1.0)
    a, b = rotation(3), rotation(3)
    ax, by, au = a @ x, b @ y, a @ u
    for name, got, expected in [
        ("dist", grassmann.dist(ax, by), grassmann.dist(x, y)),
        ("log", grassmann.log(ax, by), a @ grassmann.log(x, y)),
        ("inverse", grassmann.inverse_retract(ax, by), a @ grassmann.inverse_retract(x, y)),
        ("transport", grassmann.transport(ax, by, au), b @ grassmann.transport(x, y, u)),
        ("exp", grassmann.embed(grassmann.exp(ax, au)), grassmann.embed(grassmann.exp(x, u))),
        (
            "retract",
            grassmann.embed(grassmann.retract(ax, au)),
            grassmann.embed(grassmann.retract(x, u)),
        ),
    ]:
        np.testing.assert_allclose(got, expected, rtol=0, atol=2e-14, err_msg=name)


def test_after_one_step_the_published_maps_are_the_aligned_ones() -> None:
    aligned, paper = Grassmann(3, 8), Grassmann(3, 8, gauge="paper")
    x = points(aligned, 6)
    y = walk(aligned, x, 1, 1.0)
    u = tangents(aligned, y, 1.0)
    for name in ("cayley", "projection"):
        one = Grassmann(3, 8, "cayley", "cayley" if name == "cayley" else "projection")
        other = Grassmann(3, 8, "cayley", one.transport_by, "paper")
        np.testing.assert_allclose(
            other.transport(y, x, u), one.transport(y, x, u), rtol=0, atol=1e-14
        )
    np.testing.assert_allclose(
        paper.inverse_retract(x, y), aligned.inverse_retract(x, y), rtol=0, atol=1e-14
    )


def test_published_transport_is_the_cayley_transform_in_the_basis_as_it_is() -> None:
    paper = Grassmann(3, 8, gauge="paper")
    x = points(paper, 4)
    y = walk(paper, x, 3, 0.5)
    u = tangents(paper, x, 1.0)
    v = paper.inverse_retract(x, y)
    for i, got in enumerate(paper.transport(x, y, u)):
        w = v[i].T @ x[i] - x[i].T @ v[i]
        turned = np.linalg.solve(np.eye(8) - w / 2, (np.eye(8) + w / 2) @ u[i].T)
        np.testing.assert_allclose(got.T, turned, rtol=0, atol=5e-15)


@pytest.mark.parametrize(("length", "tangency", "direction"), [(0.05, 3e-6, 3e-4), (1, 0.02, 0.12)])
def test_published_transport_errs_from_the_second_step_on(
    length: float, tangency: float, direction: float
) -> None:
    aligned, paper = Grassmann(3, 10), Grassmann(3, 10, gauge="paper")
    x = points(aligned, 50)
    y = walk(aligned, x, 2, length)
    u = tangents(aligned, y, 1.0, visit=50)
    right, published = aligned.transport(y, x, u), paper.transport(y, x, u)
    assert aligned.off_tangent(x, right).max() < 2e-15
    # the medians that the class's documentation tells of
    assert np.median(paper.off_tangent(x, published)) == pytest.approx(tangency, rel=0.5)
    assert np.median(aligned.norm(x, right - published)) == pytest.approx(direction, rel=0.5)
    np.testing.assert_allclose(paper.norm(x, published), 1, rtol=1e-14)


def test_cayley_transport_is_parallel_transport() -> None:
    # Both turn each principal row into its mate and leave the rest: the name of the angle between
    # them, 2 atan(s/2) or s, does not matter.
    cayley, parallel = Grassmann(3, 8), Grassmann(3, 8, "exp", "parallel")
    x = points(cayley, 5)
    u = tangents(cayley, x, 1.0)
    v = tangents(cayley, x, 1.0, visit=3)
    y = cayley.retract(x, u)
    carried = cayley.transport(x, y, v)
    for i in range(5):
        w = u[i].T @ x[i] - x[i].T @ u[i]
        turned = np.linalg.solve(np.eye(8) - w / 2, (np.eye(8) + w / 2) @ v[i].T)
        np.testing.assert_allclose(carried[i].T, turned, rtol=0, atol=3e-15)
    assert np.array_equal(parallel.transport(x, y, v), carried)


@pytest.mark.parametrize("by", ["cayley", "parallel", "projection"])
@pytest.mark.parametrize("gauge", ["aligned", "paper"])
def test_streams_are_sums_of_transports(by: str, gauge: str) -> None:
    kinds = {
        (k, g): Grassmann(3, 8, transport_by=k, gauge=g)
        for k in ("cayley", "parallel", "projection")
        for g in ("aligned", "paper")
    }
    grassmann = kinds[by, gauge]
    x = points(grassmann, 5)
    once, each, here = grassmann.gradient_stream(x), GradientStream(grassmann, x), x
    for k in range(4):
        g = tangents(grassmann, here, 1.0, visit=20 + k)
        kept = g.copy()
        once.add(here, g)
        each.add(here, g)
        here = grassmann.retract(here, -0.3 * g)
        assert np.array_equal(g, kept)
    np.testing.assert_allclose(once.total(), each.total(), rtol=0, atol=1e-14)


def test_a_stream_of_aligned_gradients_does_not_depend_on_the_bases() -> None:
    grassmann = Grassmann(3, 8, transport_by="projection")
    x = points(grassmann, 5)
    y = walk(grassmann, x, 2, 0.8)
    g, h = tangents(grassmann, x, 1.0, visit=6), tangents(grassmann, y, 1.0, visit=7)
    turn = rotation(3)
    one, other = grassmann.gradient_stream(x), grassmann.gradient_stream(x)
    one.add(x, g)
    one.add(y, h)
    other.add(x, g)
    other.add(turn @ y, turn @ h)
    np.testing.assert_allclose(one.total(), other.total(), rtol=0, atol=1e-14)
