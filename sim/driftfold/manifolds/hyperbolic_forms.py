"""From one form of hyperbolic space to another: points in the ball, on the hyperboloid, and `s`.

`s` is the spatial part of a point of the hyperboloid, as `Lorentz` stores it; `w` are coordinates
in the frame that `Lorentz` and `Poincare` share, so tangent vectors of these two need no change.
"""

from driftfold.arrays import Array, array_namespace
from driftfold.errors import ManifoldError
from driftfold.manifolds.hyperbolic import dot


def from_ball(b: Array) -> Array:
    """Spatial parts s = 2 b / (1 - |b|^2) of points b of the Poincare ball, shape (..., dim).

    Raises
    ------
    ManifoldError
        A point is not inside the unit ball.

    >>> import numpy as np
    >>> from_ball(np.array([0.5, 0.0]))
    array([1.33333333, 0.        ])
    """
    xp = array_namespace(b)
    squares = dot(b, b)
    if not xp.all(squares < 1):
        raise ManifoldError(
            f"a point of the Poincare ball has length below 1, got {float(xp.max(squares)) ** 0.5}"
            "; scale the points into the ball, or read them in double precision"
        )
    return 2 * b / (1 - squares)


def to_ball(s: Array) -> Array:
    """Points s / (1 + x_0) of the Poincare ball, shape (..., dim).

    >>> import numpy as np
    >>> to_ball(np.array([4 / 3, 0.0])).round(12)
    array([0.5, 0. ])
    """
    return s / (1 + (1 + dot(s, s)) ** 0.5)


def from_ambient(x: Array) -> Array:
    """Spatial parts of points (x_0, s) near the hyperboloid, shape (..., dim + 1) to (..., dim).

    Rounding errors are scaled away, x / sqrt(-<x, x>), where they can be told from the point
    itself; x_0 is then left out, since s implies it.

    Raises
    ------
    ManifoldError
        A point is not in the upper cone x_0 > |s|.

    >>> import numpy as np
    >>> from_ambient(np.array([2.5, 1.5, 0.0]))
    array([0.75, 0.  ])
    """
    xp = array_namespace(x)
    time, s = x[..., :1], x[..., 1:]
    radius = dot(s, s) ** 0.5
    if not xp.all(time > radius):
        raise ManifoldError(
            "a point of the hyperboloid has x_0 > |s|, got one with x_0 - |s| = "
            f"{float(xp.min(time - radius)):.3g}; give (x_0, s) with x_0 first"
        )
    return s / ((time - radius) * (time + radius)) ** 0.5


def tangent_from_ambient(s: Array, u: Array) -> Array:
    """Frame coordinates w of ambient tangent vectors u at s, shape (..., dim + 1) to (..., dim).

    >>> import numpy as np
    >>> tangent_from_ambient(np.array([0.75, 0.0]), np.array([0.75, 1.25, 1.0]))
    array([1., 1.])
    """
    time, space = (1 + dot(s, s)) ** 0.5, u[..., 1:]
    return space - s * (dot(s, space) / (time * (1 + time)))


def tangent_to_ambient(s: Array, w: Array) -> Array:
    """Ambient tangent vectors (s.w, w + s (s.w) / (1 + x_0)), shape (..., dim) to (..., dim + 1).

    >>> import numpy as np
    >>> tangent_to_ambient(np.array([0.75, 0.0]), np.array([1.0, 1.0]))
    array([0.75, 1.25, 1.  ])
    """
    along = dot(s, w)
    space = w + s * (along / (1 + (1 + dot(s, s)) ** 0.5))
    return array_namespace(s, w).concat([along, space], axis=-1)
