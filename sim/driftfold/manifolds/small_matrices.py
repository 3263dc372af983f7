"""Batched algebra of the small (r x r) matrices that retractions need.

A matrix that cannot be factored gives NaN in its own place and leaves the rest of its batch, bit
for bit, as it would be without it.
"""

import math
from collections.abc import Callable

import numpy as np

from driftfold.arrays import Array, array_namespace
from driftfold.native import exact


def by_item(function: Callable[..., Array], *stacks: Array) -> Array:
    """Apply `function` to stacks (..., m, n) of equal leading axes; NaN where it refuses an item.

    Left alone, NumPy and torch refuse the whole batch for one singular item.
    """
    try:
        return function(*stacks)
    except (ArithmeticError, ValueError, RuntimeError) as refusal:
        if not type(refusal).__name__.endswith("LinAlgError"):
            raise
    xp = array_namespace(*stacks)
    lead = stacks[0].shape[:-2]
    if not lead:
        return xp.full_like(stacks[-1], xp.nan)
    return xp.stack([by_item(function, *(stack[i] for stack in stacks)) for i in range(lead[0])])


def redo(which: Array, result: Array, way: Callable[..., Array], *sources: Array) -> None:
    """Replace the items `which` of our own `result` by `way` of those of `sources`.

    The sources have the shape of the result. An item's way is its own, so its bits are too.
    """
    if which.any():
        result[which] = way(*(source[which] for source in sources))


def inverse_cholesky(gram: Array) -> Array:
    """L^-1 of gram = L L^T, lower triangular with a positive diagonal, shape (..., r, r).

    >>> inverse_cholesky(np.array([[4.0, 0.0], [0.0, 0.25]]))
    array([[0.5, 0. ],
           [0. , 2. ]])
    """
    if gram.shape[-1] <= _ELIMINATED:
        alone = isinstance(gram, np.ndarray) and gram.size == gram.shape[-1] ** 2
        plain = alone and gram.dtype == np.float64  # as Python's own numbers are
        return _eliminate_one(gram) if plain else _eliminate(gram)
    linalg = array_namespace(gram).linalg
    return by_item(lambda a: linalg.inv(linalg.cholesky(a)), gram)


# Below this size, operations across the batch are faster than a LAPACK call for each item (five
# times faster for 1000 items of size 5).
_ELIMINATED = 12


@np.errstate(all="ignore")
def _eliminate(gram: Array) -> Array:
    """Reduce [gram, I] to [D L'^T, L'^-1] with L = L' D^(1/2), batch axis last."""
    xp = array_namespace(gram)
    r = gram.shape[-1]
    batch = gram.reshape(-1, r, r)
    work = xp.zeros((r, 2 * r, batch.shape[0]), dtype=gram.dtype, device=gram.device)
    diagonal = work.reshape(2 * r * r, -1)[:: 2 * r + 1]
    work[:, :r] = xp.permute_dims(batch, (1, 2, 0))
    work.reshape(2 * r * r, -1)[r :: 2 * r + 1] = 1
    for j in range(r - 1):
        row, column, below = work[j], work[j + 1 :, j : j + 1], work[j + 1 :, j + 1 : r + j + 1]
        below -= column / row[j] * row[j + 1 : r + j + 1]
    inverse = work[:, r:]
    inverse /= diagonal[:, None] ** 0.5
    out = xp.empty(batch.shape, dtype=gram.dtype, device=gram.device)
    out[...] = xp.permute_dims(inverse, (2, 0, 1))
    return out.reshape(gram.shape)


def _eliminate_one(gram: Array) -> Array:
    """The same for one matrix, bit for bit, in a fifth of the time: plain numbers, no batch.

    In less still where there are kernels.
    """
    if (fast := exact()) and gram.flags.c_contiguous:
        inverse = fast.inverse_cholesky(gram)
        return _eliminate(gram) if inverse is None else inverse
    r = gram.shape[-1]
    work = [row + [0.0] * r for row in gram.reshape(r, r).tolist()]
    for j, row in enumerate(work):
        row[r + j] = 1.0
    try:
        for j, row in enumerate(work):
            pivot = row[j]
            filled = slice(j + 1, r + j + 1)
            known = row[filled]
            for other in work[j + 1 :]:
                factor = other[j] / pivot
                other[filled] = [b - factor * a for a, b in zip(known, other[filled], strict=True)]
            root = math.sqrt(pivot)
            row[r:] = [number / root for number in row[r:]]
    except (ZeroDivisionError, ValueError):  # infinity and NaN are told as for a batch
        return _eliminate(gram)
    return np.array([row[r:] for row in work]).reshape(gram.shape)


def solve(a: Array, b: Array) -> Array:
    """Solve a x = b for x, shapes (..., r, r) and (..., r, n)."""
    return by_item(array_namespace(a, b).linalg.solve, a, b)


def inverse_root(gram: Array) -> Array:
    """gram^(-1/2) of symmetric positive definite matrices, shape (..., r, r).

    By eigenvectors; by the binomial series, several times faster, within 1e-3 of the identity.
    """

    def root(a: Array) -> Array:
        values, vectors = array_namespace(a).linalg.eigh(a)
        return (vectors / values[..., None, :] ** 0.5) @ vectors.mT

    xp = array_namespace(gram)
    eye = xp.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
    with np.errstate(all="ignore"):
        off = gram - eye
        far = ~(xp.sum(off * off, axis=(-2, -1)) <= _NEAR**2)
        series = _SERIES[-1] * off
        for coefficient in _SERIES[-2::-1]:
            series = (series + coefficient * eye) @ off
        series += eye
        redo(far, series, lambda a: by_item(root, a), gram)
    return series


_NEAR = 1e-3  # whose fifth power, times 63/256, is no more than rounding
_SERIES = (-1 / 2, 3 / 8, -5 / 16, 35 / 128)  # of (1 + e)^(-1/2), after 1


def qr(a: Array) -> tuple[Array, Array]:
    """Q (..., d, r) and R (..., r, r) of a = Q R, made unique by diag(R) >= 0."""
    xp = array_namespace(a)
    q, upper = xp.linalg.qr(a, mode="reduced")
    diagonal = xp.linalg.diagonal(upper)
    sign = xp.where(diagonal < 0, -xp.ones_like(diagonal), xp.ones_like(diagonal))
    return q * sign[..., None, :], upper * sign[..., :, None]


def svd(a: Array) -> tuple[Array, Array, Array]:
    """U, the singular values and V^T of square a = U diag(s) V^T; NaN values for a broken item."""
    xp = array_namespace(a)
    finite, a = _finite(a)
    u, values, vt = xp.linalg.svd(a, full_matrices=False)
    return u, xp.where(finite, values, xp.full_like(values, xp.nan)), vt


def eigh(a: Array) -> tuple[Array, Array]:
    """Eigenvalues and vectors V of symmetric a = V diag(e) V^T; NaN values for a broken item."""
    xp = array_namespace(a)
    finite, a = _finite(a)
    values, vectors = xp.linalg.eigh(a)
    return xp.where(finite, values, xp.full_like(values, xp.nan)), vectors


def _finite(a: Array) -> tuple[Array, Array]:
    """Which items are finite, shape (..., 1), and a with 0 for those that are not."""
    xp = array_namespace(a)
    finite = xp.all(xp.isfinite(a), axis=(-2, -1))[..., None]
    return finite, xp.where(finite[..., None], a, xp.zeros_like(a))


def skew(a: Array) -> Array:
    """Skew-symmetric part (a - a^T) / 2, shape (..., r, r)."""
    return (a - a.mT) / 2


def expm_skew(a: Array) -> Array:
    """Matrix exponential of skew-symmetric matrices, shape (..., r, r): orthogonal to rounding.

    By the eigenvalues of the Hermitian i a, which cost no accuracy however large a is.

    >>> expm_skew(np.array([[0.0, -np.pi / 2], [np.pi / 2, 0.0]])).round(12) + 0.0
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    return _orthogonal(a, lambda values: array_namespace(a).exp(-1j * values))


def cayley_skew(a: Array) -> Array:
    """Cayley transform (I - a/2)^-1 (I + a/2) of skew-symmetric matrices, shape (..., r, r).

    By eigenvalues too, so that it is orthogonal to rounding however large a is.

    >>> cayley_skew(np.array([[0.0, -2.0], [2.0, 0.0]])).round(12) + 0.0
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    return _orthogonal(a, lambda values: (1 - 0.5j * values) / (1 + 0.5j * values))


def _orthogonal(a: Array, turn: Callable[[Array], Array]) -> Array:
    """Function of skew a that multiplies its eigenvector of eigenvalue -i v by turn(v)."""

    def turned(a: Array) -> Array:
        xp = array_namespace(a)
        values, vectors = xp.linalg.eigh(1j * a)
        return xp.real((vectors * turn(values)[..., None, :]) @ xp.conj(vectors).mT)

    return by_item(turned, a)


@np.errstate(over="ignore", invalid="ignore")
def lyapunov(m: Array) -> Array:
    """Positive definite S of m S + S m^T = 2 I, shape (..., r, r); NaN where there is none.

    There is one exactly when the eigenvalues of m have positive real parts. By Cayley's transform
    the equation is S - a S a^T = 4 p p^T with p = (m + I)^-1 and a = p (m - I), and doubling sums
    its series in a few steps (Smith 1968).

    >>> lyapunov(np.array([[0.5]]))
    array([[2.]])
    """
    xp = array_namespace(m)
    eye = xp.zeros_like(m) + xp.eye(m.shape[-1], dtype=m.dtype, device=m.device)
    p = solve(m + eye, eye)
    a = p @ (m - eye)
    s = 4 * (p @ p.mT)
    for _ in range(_DOUBLINGS):
        # An item that is done stands still, so that a slower one in its batch cannot move it.
        size = xp.max(xp.abs(a), axis=(-2, -1), keepdims=True)
        going = ~(size <= xp.finfo(m.dtype).eps)
        if not xp.any(going):
            break
        s = xp.where(going, s + a @ s @ a.mT, s)
        a = a @ a
    return xp.where(going, xp.full_like(s, xp.nan), (s + s.mT) / 2)


# Enough for eigenvalues within 1e-12 of the imaginary axis, where S has lost all its digits.
_DOUBLINGS = 40


@np.errstate(all="ignore")
def triangular_factor(m: Array) -> Array:
    """Upper triangular A with m A + A^T m^T = 2 I and a positive diagonal, shape (..., r, r).

    NaN where there is none. Column j of A solves a system of j + 1 equations, given the columns
    before it (Kaneko, Fiori, Tanaka 2013).

    >>> triangular_factor(np.array([[1.0, 0.0], [1.0, 2.0]]))
    array([[ 1., -1.],
           [ 0.,  1.]])
    """
    xp = array_namespace(m)
    a = xp.zeros_like(m)
    for j in range(m.shape[-1]):
        right = -xp.sum(m[..., j, :, None] * a[..., :, : j + 1], axis=-2)
        right[..., j] = 1
        a[..., : j + 1, j] = solve(m[..., : j + 1, : j + 1], right[..., None])[..., 0]
    positive = xp.all(xp.linalg.diagonal(a) > 0, axis=-1)
    return xp.where(positive[..., None, None], a, xp.full_like(a, xp.nan))
