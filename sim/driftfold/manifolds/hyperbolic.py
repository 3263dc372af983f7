"""What the two forms of hyperbolic space share: lengths, quotients without a pole, a rotation."""

import math
from collections.abc import Callable

import numpy as np

from driftfold.arrays import Array, array_namespace
from driftfold.lanes import in_whole_vectors


def dot(a: Array, b: Array) -> Array:
    """Products of vectors, the last axis kept: shape (..., 1)."""
    return array_namespace(a, b).vecdot(a, b)[..., None]


def length(a: Array) -> Array:
    """Lengths of vectors, the last axis kept: shape (..., 1)."""
    return dot(a, a) ** 0.5


def quotient(a: Array, b: Array) -> Array:
    """Quotient a / b for b >= 0; a itself where b is 0.

    >>> import numpy as np
    >>> quotient(np.array([3.0, 0.0]), np.array([2.0, 0.0]))
    array([1.5, 0. ])
    """
    return a / array_namespace(b).where(b > 0, b, 1.0)


def sinhc(t: Array) -> Array:
    """Return sinh(t) / t for t >= 0, which is 1 at 0."""
    return _over(in_whole_vectors(array_namespace(t).sinh, t), t)


def asinhc(q: Array) -> Array:
    """Return asinh(q) / q for q >= 0, which is 1 at 0."""
    return _over(in_whole_vectors(array_namespace(q).asinh, q), q)


def replaced(which: Array, special: Callable[[], Array], usual: Array) -> Array:
    """Return `special()` where `which`, the `usual` values elsewhere.

    For arrays of NumPy it is not worked out where nobody needs it.
    """
    if isinstance(which, np.ndarray) and not np.count_nonzero(which):
        return usual
    return array_namespace(usual).where(which, special(), usual)


def aside(n: Array, s: Array, t: Array) -> Array:
    """Part of t orthogonal to s, whose direction is n.

    Far out t and s are huge where this part is small, and even one rounding of the product q s
    would drown it. So that product is taken without error, and what an error of q leaves along s
    is projected out.
    """
    q = quotient(dot(s, t), dot(s, s))
    product, error = _exact_product(q, s)
    part = (t - product) - error
    return part - dot(n, part) * n


def _exact_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Rounded product and its rounding error: their sum is a b (Dekker 1971, Veltkamp's split)."""
    xp = array_namespace(a, b)
    product = a * b
    splitter = 2.0 ** (-(-(1 - int(math.log2(xp.finfo(product.dtype).eps))) // 2)) + 1
    (a1, a2), (b1, b2) = ((high, x - high) for x in (a, b) for high in [_high(x, splitter)])
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def _high(x: Array, splitter: float) -> Array:
    """Upper half of the digits of x."""
    scaled = splitter * x
    return scaled - (scaled - x)


def turn(w: Array, n: Array, e: Array, half: Array) -> Array:
    """Rotate w in the plane of the orthonormal n and e, from n away from e, by the angle 2 half.

    Written as w plus a correction, so that a tiny angle costs no digits. Where n or e is 0 the
    angle must be too.

    >>> import numpy as np
    >>> turn(np.array([1.0, 0.0]), *np.eye(2), np.array([np.pi / 4])).round(12)
    array([ 0., -1.])
    """
    sine = in_whole_vectors(array_namespace(half).sin, half)
    cosine = in_whole_vectors(array_namespace(half).cos, half)
    less, aside = -2 * sine * sine, 2 * sine * cosine
    along_n, along_e = dot(n, w), dot(e, w)
    return w + (less * along_n + aside * along_e) * n + (less * along_e - aside * along_n) * e


def _over(value: Array, t: Array) -> Array:
    where, some = array_namespace(t).where, t > 0
    return where(some, value, 1.0) / where(some, t, 1.0)
