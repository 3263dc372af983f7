"""Orthonormal factors of good, long, nearly singular and broken matrices."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.linalg

from driftfold.arrays import Array
from driftfold.manifolds.orthonormal import polar_factor, qr_factor

RNG = np.random.default_rng(1)
FACTORS = pytest.mark.parametrize("factor", [qr_factor, polar_factor])


def step(r: int, d: int, size: float, rank: int) -> Array:
    """X + U with orthonormal rows X and U in the complement of their span."""
    q = np.linalg.qr(RNG.standard_normal((d, 2 * r)))[0].T
    weights = np.zeros(r)
    weights[:rank] = size
    turn = np.linalg.qr(RNG.standard_normal((r, r)))[0]
    return q[:r] + (turn * weights) @ q[r:]


def off(q: Array) -> float:
    return float(np.abs(q @ q.mT - np.eye(q.shape[-2])).max())


def batch() -> Array:
    """Items that go every way: one pass, two passes, Householder or SVD."""
    sizes = [0.0, 1e-9, 0.5, 30.0, 1.0, 1e3, 2.0, 1e6, 3.0, 1e12] * 7
    return np.stack([step(4, 20, size, 1 + i % 4) for i, size in enumerate(sizes)])


@FACTORS
@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("size", [0.0, 1e-12, 1.0, 9.0, 11.0, 1e2, 1e4, 1e6, 1e9, 1e14])
def test_is_orthonormal_after_a_step_of_any_length(
    factor: Callable[[Array], Array], size: float, rank: int
) -> None:
    # One pass is allowed up to |U|^2 = 1e2 and loses up to that many eps: 2e-14.
    assert off(factor(step(5, 40, size, rank))) < 1e-13


@pytest.mark.parametrize("size", [0.0, 1.0, 11.0, 1e4, 1e7])
def test_is_the_qr_factor(size: float) -> None:
    y = step(4, 15, size, 2)
    q = qr_factor(y)
    lower = y @ q.T
    scale = float(np.linalg.norm(y))
    # y = lower q with a positive diagonal defines it; backward error of a few eps.
    np.testing.assert_allclose(lower @ q, y, rtol=0, atol=1e-14 * scale)
    np.testing.assert_allclose(np.triu(lower, 1), 0, rtol=0, atol=1e-14 * scale)
    assert (np.diagonal(lower) > 0).all()


@pytest.mark.parametrize("size", [0.0, 1.0, 11.0, 1e4])
def test_is_the_polar_factor(size: float) -> None:
    y = step(4, 15, size, 2)
    expected = scipy.linalg.polar(y)[0]
    # forward error: eps / smallest singular value (1) of y, times its size
    np.testing.assert_allclose(polar_factor(y), expected, rtol=0, atol=1e-13)


@FACTORS
def test_nearly_dependent_rows(factor: Callable[[Array], Array]) -> None:
    y = step(3, 10, 0.0, 1)
    y[2] = y[1] + 1e-9 * y[2]
    assert off(factor(y)) < 1e-13


@FACTORS
def test_bits_do_not_depend_on_the_batch(factor: Callable[[Array], Array]) -> None:
    y = batch()
    whole = factor(y)
    for size in (1, 7, 37, 64):
        for start in (0, 3, len(y) - size):
            part = factor(y[start : start + size])
            assert part.tobytes() == whole[start : start + size].tobytes()
    assert factor(y[5]).tobytes() == whole[5].tobytes()


@FACTORS
def test_a_broken_item_spoils_only_itself(factor: Callable[[Array], Array]) -> None:
    y = batch()
    expected = factor(y)
    for broken in (np.nan, np.inf):
        mixed = y.copy()
        mixed[7, 1, 3] = broken
        with np.errstate(invalid="ignore"):
            got = factor(mixed)
        assert np.isnan(got[7]).any()
        assert np.delete(got, 7, 0).tobytes() == np.delete(expected, 7, 0).tobytes()


@FACTORS
def test_single_precision(factor: Callable[[Array], Array]) -> None:
    for size in (0.1, 5.0, 50.0, 1e4):
        y = step(4, 30, size, 2).astype(np.float32)
        q = factor(y)
        assert q.dtype == np.float32
        # eps is 1.2e-7; one pass loses up to 1e2 of them
        assert off(q) < 3e-5
