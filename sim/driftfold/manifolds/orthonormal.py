"""Orthonormal factors of stacks of wide matrices: cheap for good ones, right for all.

Each item's way is chosen by that item alone, so its bits do not depend on its batch.
"""

import numpy as np

from driftfold.arrays import Array, array_namespace
from driftfold.manifolds.small_matrices import by_item, inverse_cholesky, inverse_root, qr, redo

# Y = X + U with U tangent has the Gram matrix I + U U^T. One pass through it loses |U|^2 eps of
# orthonormality; two lose nothing as long as the first one can be done at all.
_ONE_PASS = 1e2
_TWO_PASSES = 1e10
_BLURRED = 8  # times r eps: off by more than rounding


@np.errstate(over="ignore", invalid="ignore")
def qr_factor(y: Array) -> Array:
    """Q^T of the QR factorisation of y^T with a positive diagonal, y of shape (..., r, d).

    By Cholesky factors of y y^T, once or twice; by Householder reflections where these fail.

    >>> qr_factor(np.array([[2.0, 0.0, 0.0], [5.0, -3.0, 0.0]])).round(12) + 0.0
    array([[ 1.,  0.,  0.],
           [ 0., -1.,  0.]])
    """
    gram = y @ y.mT
    coefficients = inverse_cholesky(gram)
    factor = coefficients @ y
    spread, r = _spread(gram, coefficients), y.shape[-2]
    hard, xp = ~(spread <= r * (r + _ONE_PASS)), array_namespace(y)
    if xp.count_nonzero(hard):
        worst = min(_TWO_PASSES, 1e-3 / xp.finfo(y.dtype).eps)
        redo(hard, factor, _again, factor)
        redo(~(spread <= r * (r + worst)), factor, _householder, y)
    return factor


@np.errstate(over="ignore", invalid="ignore")
def polar_factor(y: Array) -> Array:
    """(y y^T)^(-1/2) y, the orthonormal rows nearest to y, of shape (..., r, d).

    By eigenvectors of y y^T; by singular vectors of y where that would lose accuracy.

    >>> polar_factor(np.array([[0.0, 2.0, 0.0], [0.5, 0.0, 0.0]])).round(12)
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    gram = y @ y.mT
    coefficients = inverse_root(gram)
    factor = coefficients @ y
    r = y.shape[-2]
    redo(~(_spread(gram, coefficients) <= r * (r + _ONE_PASS)), factor, _singular_vectors, y)
    return factor


def polished(y: Array) -> Array:
    """Rows y, made orthonormal to rounding again where they are so to a few digits less.

    A map that is orthonormal only as far as its arguments are can let rounding errors grow: where
    x is off by e, so is a gradient projected at x, by e times its normal part, and a step along it
    may multiply e by a constant above 1 each round. One step of Newton and Schulz squares e. Rows
    that need none are left as they are, so that a step of 0 ends where it began.

    >>> (polished(np.array([[1.0 + 1e-7, 0.0]]))[0, 0] - 1).round(13) + 0.0
    np.float64(0.0)
    """
    xp = array_namespace(y)
    r = y.shape[-2]
    off = y @ y.mT
    off -= xp.eye(r, dtype=y.dtype, device=y.device)
    far = xp.sum(off * off, axis=(-2, -1)) > (_BLURRED * r * float(xp.finfo(y.dtype).eps)) ** 2
    redo(far, y, lambda y, off: y - 0.5 * (off @ y), y, off)
    return y


def _spread(gram: Array, coefficients: Array) -> Array:
    """trace(gram) trace(gram^-1), given any root of the inverse: about r (r + |U|^2).

    Unlike the trace of U U^T it also tells of a Gram matrix that is nearly singular.
    """
    xp, r = array_namespace(gram), gram.shape[-1]
    flat = (*gram.shape[:-2], r * r)
    trace = gram.reshape(flat)[..., :: r + 1].sum(-1)
    entries = coefficients.reshape(flat)
    return trace * xp.vecdot(entries, entries)


def _again(factor: Array) -> Array:
    return inverse_cholesky(factor @ factor.mT) @ factor


def _householder(y: Array) -> Array:
    return qr(y.mT)[0].mT


def _singular_vectors(y: Array) -> Array:
    def polar(a: Array) -> Array:
        left, _, right = array_namespace(a).linalg.svd(a, full_matrices=False)
        return left @ right

    return by_item(polar, y)
