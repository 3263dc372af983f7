"""Grassmann maps at hard inputs: tiny, zero, repeated and right angles, long steps, float32."""

from collections.abc import Sequence

import numpy as np
import pytest

from driftfold.manifolds import Grassmann
from tests.manifolds.digits import cayley, exponential, turned
from tests.manifolds.horizontal import SPREADS, rotation, step
from tests.manifolds.points import points, tangents

SPREAD = pytest.mark.parametrize("singular", SPREADS, ids=str)
EXP = Grassmann(3, 8, "exp", "parallel")


@SPREAD
def test_exp_cayley_and_transport_at_forty_digits(singular: Sequence[float]) -> None:
    x, u = step(singular)
    v = EXP.project(x, step((1.0, 0.5, 0.1))[0])
    y = EXP.exp(x, u)
    turned_x, turned_v = np.split(turned(exponential, x, u, np.concatenate([x, v])), 2)
    np.testing.assert_allclose(y, turned_x, rtol=0, atol=1e-15)
    end = Grassmann(3, 8).retract(x, u)
    np.testing.assert_allclose(end, turned(cayley, x, u, x), rtol=0, atol=1e-15)
    # Near a right angle the shortest way itself is known to eps / cos only.
    lost = 4e-15 + 1e-15 / np.cos(max(singular))
    np.testing.assert_allclose(EXP.transport(x, y, v), turned_v, rtol=0, atol=lost)


@SPREAD
def test_log_and_dist_find_the_step_again(singular: Sequence[float]) -> None:
    x, u = step(singular)
    y = rotation(3) @ EXP.exp(x, u)
    length = float(np.linalg.norm(singular))
    # Points are rounded: an absolute error of some eps.
    assert EXP.dist(x, y) == pytest.approx(length, abs=2e-15)
    log = EXP.log(x, y)
    lost = 4e-15 + 1e-15 / np.cos(max(singular))
    np.testing.assert_allclose(log, u, rtol=0, atol=lost)
    assert EXP.norm(x, log) == pytest.approx(length, abs=2e-15)
    # However the direction is, it leads to the subspace.
    np.testing.assert_allclose(EXP.embed(EXP.exp(x, log)), EXP.embed(y), rtol=0, atol=3e-15)


@pytest.mark.parametrize("angle", [np.pi / 2, np.pi / 2 + 1e-12])
def test_at_right_angles_one_of_the_shortest_ways_is_taken(angle: float) -> None:
    x, u = step((angle, angle, 0.2))
    y = EXP.exp(x, u)
    log = EXP.log(x, y)
    assert EXP.norm(x, log) == pytest.approx(EXP.norm(x, u), abs=3e-12)
    assert EXP.off_tangent(x, log) < 1e-15
    np.testing.assert_allclose(EXP.embed(EXP.exp(x, log)), EXP.embed(y), rtol=0, atol=3e-15)
    v = EXP.project(x, step((1.0, 1.0, 1.0))[0])
    carried = EXP.transport(x, y, v)
    assert EXP.off_tangent(y, carried) < 3e-15
    assert EXP.norm(y, carried) == pytest.approx(EXP.norm(x, v), rel=1e-14)


@pytest.mark.parametrize("retraction", ["cayley", "qr", "polar", "exp"])
@pytest.mark.parametrize("length", [1e-8, 1e-12])
def test_tiny_steps_keep_the_digits_the_points_have(retraction: str, length: float) -> None:
    # Beside rows of the identity a double holds a displacement to full relative precision.
    kinds = {name: Grassmann(3, 8, name) for name in ("cayley", "qr", "polar", "exp")}
    grassmann, x = kinds[retraction], np.eye(3, 8)
    u = tangents(grassmann, x[None], length)[0]
    y = grassmann.retract(x, u)
    np.testing.assert_allclose(grassmann.inverse_retract(x, y)[:, 3:], u[:, 3:], rtol=1e-13)
    np.testing.assert_allclose(grassmann.log(x, y)[:, 3:], u[:, 3:], rtol=1e-13)
    np.testing.assert_allclose(grassmann.dist(x, y), length, rtol=1e-13)


@pytest.mark.parametrize("retraction", ["cayley", "qr", "polar", "exp"])
@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("length", [9.0, 11.0, 1e3, 1e6])
def test_long_steps_stay_on_the_manifold(retraction: str, rank: int, length: float) -> None:
    kinds = {name: Grassmann(3, 8, name) for name in ("cayley", "qr", "polar", "exp")}
    x, u = step([length] * rank + [1.0] * (3 - rank))
    y = kinds[retraction].retract(x, u)
    assert EXP.off_point(y) < 3e-14
    # Short directions beside long ones are known to eps |u|.
    lost = 2e-15 * (1 + length)
    if retraction == "cayley" and rank == 1:
        np.testing.assert_allclose(y, turned(cayley, x, u, x), rtol=0, atol=lost)
    elif retraction == "exp" and rank == 1:
        np.testing.assert_allclose(y, turned(exponential, x, u, x), rtol=0, atol=lost)


def test_zero_steps_are_exact() -> None:
    x = points(EXP, 4)
    for grassmann in (Grassmann(3, 8, "cayley"), EXP):
        np.testing.assert_allclose(grassmann.retract(x, 0 * x), x, rtol=0, atol=3e-16)
        assert np.abs(grassmann.inverse_retract(x, x)).max() < 2e-15
    assert EXP.dist(x, x).max() < 2e-15


@pytest.mark.parametrize("by", ["cayley", "parallel", "projection"])
def test_single_precision(by: str) -> None:
    kinds = {k: Grassmann(4, 20, "exp", k) for k in ("cayley", "parallel", "projection")}
    grassmann = kinds[by]
    x = points(grassmann, 6)
    for length in (1e-4, 0.5, 1.5):
        u = tangents(grassmann, x, length)
        y = grassmann.exp(x, u)
        x_, u_, y_ = (a.astype(np.float32) for a in (x, u, y))
        for got, expected in [
            (grassmann.exp(x_, u_), y),
            (grassmann.log(x_, y_), u),
            (grassmann.transport(x_, y_, u_), grassmann.transport(x, y, u)),
            (grassmann.dist(x_, y_), length * np.ones(6)),
        ]:
            assert got.dtype == np.float32
            # eps is 6e-8 and an angle of 1.5 has a cosine of 0.07
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-6 if length < 1 else 1e-5)


def test_a_broken_item_spoils_only_itself() -> None:
    x = points(EXP, 6)
    u = tangents(EXP, x, 0.6)
    u[4] *= 1e2
    y = EXP.exp(x, u)
    for broken in (np.nan, np.inf):
        bad_u, bad_y = u.copy(), y.copy()
        bad_u[2, 1, 1] = bad_y[2, 1, 1] = broken
        for grassmann in (Grassmann(3, 8), Grassmann(3, 8, "exp", "projection")):
            for name, bad, good in [
                ("retract", (x, bad_u), (x, u)),
                ("inverse_retract", (x, bad_y), (x, y)),
                ("log", (x, bad_y), (x, y)),
                ("dist", (x, bad_y), (x, y)),
                ("transport", (x, bad_y, u), (x, y, u)),
            ]:
                with np.errstate(invalid="ignore"):
                    got = getattr(grassmann, name)(*bad)
                expected = getattr(grassmann, name)(*good)
                assert not np.isfinite(got[2]).all(), name
                assert np.delete(got, 2, 0).tobytes() == np.delete(expected, 2, 0).tobytes(), name
