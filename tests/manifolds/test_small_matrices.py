"""Small batched algebra against SciPy, at extremes, and one bad item among good ones."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.linalg

from driftfold.arrays import Array
from driftfold.manifolds.small_matrices import (
    cayley_skew,
    eigh,
    expm_skew,
    inverse_cholesky,
    inverse_root,
    lyapunov,
    qr,
    solve,
    svd,
    triangular_factor,
)

RNG = np.random.default_rng(0)


def skew(count: int, r: int, size: float) -> Array:
    a = RNG.standard_normal((count, r, r))
    return size * (a - a.mT)


def positive(count: int, r: int) -> Array:
    a = RNG.standard_normal((count, r, 2 * r))
    return a @ a.mT


@pytest.mark.parametrize("size", [0.0, 1e-12, 1e-3, 1.0, 5.0])
@pytest.mark.parametrize("r", [1, 2, 5, 10])
def test_expm_of_skew_matrices(r: int, size: float) -> None:
    a = skew(6, r, size)
    np.testing.assert_allclose(expm_skew(a), scipy.linalg.expm(a), rtol=0, atol=2e-13)


def test_expm_stays_orthogonal_however_large() -> None:
    q = expm_skew(skew(6, 8, 1e4))
    np.testing.assert_allclose(q @ q.mT, np.broadcast_to(np.eye(8), q.shape), rtol=0, atol=1e-14)


@pytest.mark.parametrize("size", [0.0, 1e-12, 1.0, 5.0])
def test_cayley_transform_of_skew_matrices(size: float) -> None:
    a = skew(6, 5, size)
    expected = np.linalg.solve(np.eye(5) - a / 2, np.eye(5) + a / 2)
    # the reference's solve has the condition |a| / 2
    np.testing.assert_allclose(cayley_skew(a), expected, rtol=0, atol=2e-14)


def test_cayley_transform_stays_orthogonal_however_large() -> None:
    for size in (1e4, 1e12):
        q = cayley_skew(skew(6, 8, size))
        np.testing.assert_allclose(
            q @ q.mT, np.broadcast_to(np.eye(8), q.shape), rtol=0, atol=1e-14
        )


def test_factorisations_give_nan_values_for_a_broken_item_only() -> None:
    a = positive(5, 4)
    left, values, right = svd(a)
    np.testing.assert_allclose((left * values[:, None, :]) @ right, a, rtol=0, atol=1e-13)
    eigenvalues, vectors = eigh(a)
    np.testing.assert_allclose((vectors * eigenvalues[:, None, :]) @ vectors.mT, a, atol=1e-13)
    for broken in (np.nan, np.inf):
        mixed = a.copy()
        mixed[3, 1, 1] = broken
        for got, expected in ((svd(mixed)[1], values), (eigh(mixed)[0], eigenvalues)):
            assert np.isnan(got[3]).all()
            assert np.delete(got, 3, 0).tobytes() == np.delete(expected, 3, 0).tobytes()


@pytest.mark.parametrize("r", [1, 2, 5, 9])
def test_triangular_factor(r: int) -> None:
    m = np.eye(r) + 0.5 * RNG.uniform(-1, 1, (6, r, r)) / r
    a = triangular_factor(m)
    assert np.array_equal(a, np.triu(a))
    assert (np.diagonal(a, axis1=-2, axis2=-1) > 0).all()
    np.testing.assert_allclose(
        m @ a + a.mT @ m.mT, np.broadcast_to(2 * np.eye(r), m.shape), rtol=0, atol=1e-13
    )
    assert np.isnan(triangular_factor(-m)).all()


# 12 is the last size that is eliminated across the batch, 13 the first one left to LAPACK.
@pytest.mark.parametrize("r", [1, 2, 5, 12, 13, 30])
def test_inverse_cholesky(r: int) -> None:
    gram = positive(7, r)
    inverse = inverse_cholesky(gram)
    assert np.array_equal(inverse, np.tril(inverse))
    assert (np.diagonal(inverse, axis1=-2, axis2=-1) > 0).all()
    expected = np.linalg.inv(np.linalg.cholesky(gram))
    # forward error: eps times the condition number, below 1e3 here
    np.testing.assert_allclose(inverse, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert inverse_cholesky(gram.reshape(7, 1, r, r)).tobytes() == inverse.tobytes()
    assert inverse_cholesky(gram[3]).tobytes() == inverse[3].tobytes()


@pytest.mark.parametrize("r", [1, 3, 8])
def test_inverse_root(r: int) -> None:
    gram = positive(5, r)
    root = inverse_root(gram)
    np.testing.assert_allclose(
        root @ gram @ root, np.broadcast_to(np.eye(r), gram.shape), atol=1e-11
    )
    np.testing.assert_allclose(root, root.mT, atol=1e-13)


@pytest.mark.parametrize("off", [0.0, 1e-9, 9e-4, 1.1e-3])
def test_inverse_root_near_the_identity(off: float) -> None:
    """By a series up to 1e-3, by eigenvectors beyond, whatever else is in the batch."""
    e = positive(5, 4)
    gram = np.eye(4) + off * e / np.linalg.norm(e, axis=(-2, -1))[:, None, None]
    for one, root in zip(gram, inverse_root(gram), strict=True):
        wanted = np.linalg.inv(scipy.linalg.sqrtm(one))
        np.testing.assert_allclose(root, wanted, rtol=0, atol=5e-15)
    both = inverse_root(np.concatenate([gram, 1e3 * gram, np.full((1, 4, 4), np.nan)]))
    assert both[:5].tobytes() == inverse_root(gram).tobytes()
    assert both[7].tobytes() == inverse_root(1e3 * gram[2]).tobytes()
    assert np.isnan(both[-1]).all()


def test_qr_is_unique_even_without_full_rank() -> None:
    a = RNG.standard_normal((4, 9, 3))
    a[1, :, 2] = a[1, :, 0]
    a[2] = 0
    q, upper = qr(a)
    np.testing.assert_allclose(q @ upper, a, atol=1e-14)
    np.testing.assert_allclose(q.mT @ q, np.broadcast_to(np.eye(3), (4, 3, 3)), atol=1e-14)
    assert (np.diagonal(upper, axis1=-2, axis2=-1) >= 0).all()


@pytest.mark.parametrize("r", [1, 2, 5, 9])
@pytest.mark.parametrize("spread", [1e-13, 0.1, 0.9])
def test_lyapunov(r: int, spread: float) -> None:
    # Shifting every matrix of norm <= 1 by 1.01 I keeps its spectrum in the right half plane.
    m = np.eye(r) + spread * RNG.uniform(-1, 1, (6, r, r)) / r
    s = lyapunov(m)
    for one, solution in zip(m, s, strict=True):
        expected = scipy.linalg.solve_continuous_lyapunov(one, 2 * np.eye(r))
        np.testing.assert_allclose(solution, expected, rtol=0, atol=1e-12)
    assert np.array_equal(s, s.mT)


def test_lyapunov_close_to_having_no_solution() -> None:
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    m = np.stack([turn + 1e-3 * np.eye(2), turn - 1e-3 * np.eye(2), turn, -np.eye(2)])
    s = lyapunov(m)
    np.testing.assert_allclose(s[0], 1e3 * np.eye(2), rtol=1e-9, atol=1e-9)
    assert np.isnan(s[1:]).all()


@pytest.mark.parametrize(
    ("function", "good", "bad"),
    [
        (inverse_cholesky, positive(9, 5), -np.eye(5)),
        (inverse_cholesky, positive(9, 15), -np.eye(15)),
        (inverse_cholesky, positive(9, 15), np.full((15, 15), np.nan)),
        (inverse_root, positive(9, 4), np.full((4, 4), np.nan)),
        (lambda a: solve(a, np.ones((*a.shape[:-1], 2))), positive(9, 3), np.zeros((3, 3))),
        (lyapunov, np.eye(4) + 0.1 * RNG.standard_normal((9, 4, 4)), -np.eye(4)),
        (expm_skew, skew(9, 4, 1.0), np.full((4, 4), np.nan)),
        (cayley_skew, skew(9, 4, 1.0), np.full((4, 4), np.nan)),
    ],
)
def test_a_bad_item_spoils_only_itself(
    function: Callable[[Array], Array], good: Array, bad: Array
) -> None:
    expected = function(good)
    assert np.isfinite(expected).all()
    mixed = np.concatenate([good[:4], bad[None], good[4:]])
    got = function(mixed)
    assert np.isnan(got[4]).any()
    assert np.delete(got, 4, axis=0).tobytes() == expected.tobytes()
    assert np.isnan(function(bad)).any()


def test_other_errors_are_not_swallowed() -> None:
    with pytest.raises(ValueError, match="mismatch"):
        solve(np.eye(3), np.ones((4, 2)))
