"""Kernels far out on the hyperboloid and on ill-conditioned matrices, against 80 digits."""

import mpmath as mp
import numpy as np
import pytest

from driftfold.arrays import Array, Floats
from driftfold.manifolds.lorentz import Lorentz
from driftfold.native import Descender, Kernel, Library, library

pytestmark = pytest.mark.skipif(
    not isinstance(library(), Library), reason="there is no library of kernels here"
)


def gradient(stem: str, target: Floats, start: Array) -> Array:
    """Minus the logarithm of one target, by a kernel."""
    found = library()
    assert isinstance(found, Library)
    size = target.shape[0]
    kernel = Kernel(stem, size, 1, size, target[None, None].copy(), np.ones((1, 1)))
    sent, refused = Descender(found, kernel).run(np.zeros(1, int), start, np.ones(1), "stream")
    assert not refused.any()
    return sent[0]


def lorentz_log(s: Floats, t: Floats) -> Floats:
    """The textbook's logarithm in the frame carried from the origin, at 80 digits."""
    with mp.workdps(80):
        a, b = [mp.mpf(x) for x in s.tolist()], [mp.mpf(x) for x in t.tolist()]
        a0, b0 = (mp.sqrt(1 + mp.fdot(v, v)) for v in (a, b))
        c = a0 * b0 - mp.fdot(a, b)
        u = [mp.acosh(c) / mp.sqrt(c * c - 1) * (y - c * x) for x, y in zip(a, b, strict=True)]
        inward = mp.fdot(a, u) / (a0 * (1 + a0))
        return np.array([float(v - x * inward) for x, v in zip(a, u, strict=True)])


@pytest.mark.parametrize("step", [1e-8, 1e-3, 1.0])
@pytest.mark.parametrize("radius", [1e-8, 1.0, 10.0, 20.0])
def test_logarithms_far_out(radius: float, step: float) -> None:
    """Full accuracy: 4e-16 was measured at radius 20."""
    direction = np.random.default_rng(7).standard_normal(3)
    s = direction / np.linalg.norm(direction) * np.sinh(radius)
    t = Lorentz(3).exp(s, step * np.array([0.6, 0.0, 0.8]))
    wanted = -lorentz_log(s, t)
    got = gradient("lorentz_mean", t, s)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-14 * np.abs(wanted).max())


@pytest.mark.parametrize("cosine", [1e-12, 1e-9, 1e-6, -1e-9])
@pytest.mark.parametrize("radius", [1e-8, 1.0, 10.0])
def test_right_angles(radius: float, cosine: float) -> None:
    """There a cosine worked out from the sine would have lost half of its digits."""
    s = np.sinh(radius) * np.array([0.6, 0.8])
    t = 0.5 * np.sinh(radius) * (np.array([-0.8, 0.6]) + cosine * np.array([0.6, 0.8]))
    wanted = -lorentz_log(s, t)
    got = gradient("lorentz_mean", t, s)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=4e-15 * np.abs(wanted).max())


@pytest.mark.parametrize("places", [(0, 0), (0, 1), (1, 0), (1, 1), (1, -1)])
def test_the_origin_and_points_that_meet(places: tuple[int, int]) -> None:
    plane, x = Lorentz(2), np.array([0.3, -2.0])
    s, t = (place * x for place in places)
    np.testing.assert_allclose(gradient("lorentz_mean", t, s), -plane.log(s, t), atol=1e-15)


@pytest.mark.parametrize("condition", [1e2, 1e8])
def test_ill_conditioned_matrices(condition: float) -> None:
    """Factors keep what their squares would lose: 1e-15 was measured at condition 1e8."""
    rng = np.random.default_rng(3)

    def factor() -> Floats:
        q, _ = np.linalg.qr(rng.standard_normal((4, 4)))
        values: Floats = q * np.geomspace(1, condition**0.5, 4)
        return values

    a, m = factor(), factor()
    with mp.workdps(60):
        b = mp.inverse(mp.matrix(a.tolist())) * mp.matrix(m.tolist())
        values, vectors = mp.eigsy(b * b.T)
        log = vectors * mp.diag([mp.log(v) for v in values]) * vectors.T
        wanted = -np.array(log.tolist(), dtype=float)
    got = gradient("spd_mean", m, a)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())
