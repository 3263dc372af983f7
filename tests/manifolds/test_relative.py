"""Singular values of one factor in the frame of another: bad factors, broken items, any batch."""

import math

import numpy as np
import pytest

from driftfold.arrays import Array
from driftfold.manifolds import Spd
from driftfold.manifolds.relative import relative
from driftfold.manifolds.spd import factor
from tests.manifolds import spd_reference as reference

N = 6


def rotation(seed: int) -> Array:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((N, N)))[0]


def graded(condition: float, seed: int) -> Array:
    """Factor with orthogonal columns of a matrix with this condition, in random directions."""
    return rotation(seed) * np.logspace(0, -math.log10(condition) / 2, N)


FACTORS = {
    "orthogonal columns": lambda a: a,
    "the longest column last": lambda a: a[:, ::-1],
    "rotated": lambda a: a @ rotation(7),
    "triangular": lambda a: factor(a @ a.T),
    "moved": lambda a: Spd(N).exp(a, np.add.outer(np.arange(N), np.arange(N)) / 10.0),
}


PAIRS = [
    ("orthogonal columns", "orthogonal columns"),
    ("orthogonal columns", "rotated"),
    ("the longest column last", "triangular"),
    ("rotated", "orthogonal columns"),
    ("rotated", "rotated"),
    ("triangular", "triangular"),
    ("moved", "triangular"),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize(("dtype", "condition"), [(np.float64, 1e10), (np.float32, 1e8)])
def test_far_apart(dtype: type, condition: float, one: str, other: str) -> None:
    a = FACTORS[one](graded(condition, 1)).astype(dtype)
    m = FACTORS[other](graded(condition, 2)).astype(dtype)
    exact = reference.log(a, m)
    eps, size = float(np.finfo(dtype).eps), reference.norm(exact)
    # Rounding a rotated factor has moved its smallest directions by eps sqrt(condition). NumPy
    # finds the triangular factor in double precision, so single precision loses nothing.
    rotated = dtype is np.float64 and {"rotated", "moved"} & {one, other}
    worst = eps * (10 + (math.sqrt(condition) / 10 if rotated else 0.0))
    assert reference.distance(Spd(N).log(a, m), exact) < worst * size
    assert abs(Spd(N).dist(a, m) / size - 1) < worst


def test_near_each_other_though_badly_conditioned() -> None:
    a = graded(1e10, 1) @ rotation(7)
    m = Spd(N).exp(a, 1e-3 * np.eye(N)[::-1]) @ rotation(3)
    exact = reference.log(a, m)
    # the entries of a^-1 m are known to eps sqrt(condition)
    assert reference.distance(Spd(N).log(a, m), exact) < 2e-16 * 1e5
    assert np.abs(relative(a, m).polar - rotation(3)).max() < 1e-10


def test_decomposes() -> None:
    for condition in (1.0, 1e3, 1e6):  # the easy way, and the other
        a, m = graded(condition, 1), graded(condition, 2) @ rotation(7)
        r = relative(a, m)
        assert (np.diff(r.sigma) <= 0).all()
        for q in (r.left, r.right, r.polar):
            np.testing.assert_allclose(q @ q.T, np.eye(N), rtol=0, atol=1e-14)
        np.testing.assert_allclose(
            a @ (r.left * r.sigma) @ r.right.T, m, rtol=0, atol=1e-12 * condition**0.5
        )


def mixed() -> tuple[Array, Array]:
    conditions = [1.0, 1e8, 10.0, 1e3, 1e5, 2.0, 1e10] * 12
    a = np.stack([graded(c, i) for i, c in enumerate(conditions)])
    m = np.stack([graded(c, 100 + i) @ rotation(i) for i, c in enumerate(conditions)])
    return a, m


def packed(a: Array, m: Array) -> Array:
    left, sigma, right = relative(a, m)
    return np.concatenate([left, sigma[..., None], right], axis=-1)


def test_bits_do_not_depend_on_the_batch() -> None:
    a, m = mixed()
    whole = packed(a, m)
    for size in (1, 7, 37, 64):
        for start in (0, 3, len(a) - size):
            rows = slice(start, start + size)
            assert packed(a[rows], m[rows]).tobytes() == whole[rows].tobytes()
    assert packed(a[5], m[5]).tobytes() == whole[5].tobytes()
    assert packed(a[5], m).tobytes() == packed(np.broadcast_to(a[5], a.shape), m).tobytes()


@pytest.mark.parametrize("broken", [0.0, np.nan, np.inf])
def test_a_broken_item_spoils_only_itself(broken: float) -> None:
    a, m = mixed()
    whole = packed(a, m)
    a[4] = broken
    got = packed(a, m)
    assert np.isnan(got[4]).all()
    assert np.delete(got, 4, 0).tobytes() == np.delete(whole, 4, 0).tobytes()
