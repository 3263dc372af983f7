"""The Cayley retraction of the Stiefel manifold, its inverse and its isometric transport.

Points and tangent vectors are rows, shape (..., r, d). The retraction turns X by the orthogonal
matrix Q = (I - W/2)^-1 (I + W/2), where W = P U X^T - X U^T P, P = I - X X^T / 2 and X, U are
d x r (Wen, Yin 2013; Zhu 2017). Neither W nor Q is ever formed. With A = X^T U, N = U - X A,
M = N^T N and C = X^T Q X:

- (I - A/2 + M/4) (I + C) = 2 I, whose symmetric part is at least I: every step has its end.
- N = 2 (Q X - X C) (I + C)^-1 and A = 2 (I + C)^-T (C - C^T) (I + C)^-1, the exact inverse.
- Q V = V + 2 Y X^T V - (X + Y) (I + C^T)^-1 (X + Y)^T V, for Y = Q X.
"""

import numpy as np

from driftfold.arrays import Array, array_namespace
from driftfold.manifolds.orthonormal import polished
from driftfold.manifolds.small_matrices import redo, skew, solve
from driftfold.manifolds.stiefel_geodesics import LONG, cayley_curve


@np.errstate(over="ignore", invalid="ignore")
def retract(x: Array, u: Array) -> Array:
    """Q X of the tangent vector u at x, by one r x r solve; long steps by eigenvectors.

    >>> retract(np.array([[1.0, 0.0]]), np.array([[0.0, 2.0]]))
    array([[0., 1.]])
    """
    xp = array_namespace(x, u)
    a = skew(u @ x.mT)
    gram = u @ u.mT
    # With B = (a - M/2)/2 and D = (I - B)^-1 2 B the end is x + n + D (x + n/2), n = u - a x.
    b = a - 0.5 * (gram + a @ a)
    double = solve(2 * _eye(b) - b, 2 * b)
    half = 0.5 * double
    y = (_eye(b) + double - a - half @ a) @ x
    y += (_eye(b) + half) @ u
    far = ~(gram.diagonal(0, -2, -1).sum(-1) <= LONG)
    if far.any():
        redo(far, y, cayley_curve, x + xp.zeros_like(y), u + xp.zeros_like(y))
    return polished(y)


def inverse_retract(x: Array, y: Array) -> Array:
    """Tangent vector u at x with retract(x, u) = y; NaN where I + x y^T is singular.

    >>> inverse_retract(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))
    array([[0., 2.]])
    """
    step = y - x  # nothing is lost to cancellation where y is close to x
    c = x @ step.mT
    inverse = solve(2 * _eye(c) + c, _eye(c) + 0 * c)
    turn = 2 * (skew(c).mT @ inverse) - c.mT
    return 2 * (inverse.mT @ (step + turn @ x))


def transport(x: Array, y: Array, v: Array) -> Array:
    """Q v of the Q that the retraction from x to y turns by: an isometry from T_x to T_y.

    >>> transport(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), np.array([[0.0, 3.0]])) + 0.0
    array([[-3.,  0.]])
    """
    along = v @ x.mT
    c = x @ y.mT
    z = solve((_eye(c) + c).mT, (along + v @ y.mT).mT).mT
    carried = (2 * along - z) @ y
    carried -= z @ x
    carried += v
    return carried


def _eye(a: Array) -> Array:
    return array_namespace(a).eye(a.shape[-1], dtype=a.dtype, device=a.device)
