"""Retractions and logarithms of textbooks, at points in textbooks' form: no library code."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from driftfold.manifolds import Grassmann, Lorentz, Manifold, Poincare, Product, Spd, Sphere

Maps = tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]


def sphere_exp(x: Any, u: Any) -> Any:
    n = np.linalg.norm(u)
    return np.cos(n) * x + np.sin(n) / n * u


def sphere_log(x: Any, y: Any) -> Any:
    across = y - (x @ y) * x
    return np.arccos(x @ y) / np.linalg.norm(across) * across


def sphere_normalised(x: Any, u: Any) -> Any:
    return (x + u) / np.linalg.norm(x + u)


def hyperboloid_exp(x: Any, u: Any) -> Any:
    n = np.sqrt(_minkowski(u, u))
    return np.cosh(n) * x + np.sinh(n) / n * u


def hyperboloid_log(x: Any, y: Any) -> Any:
    c = -_minkowski(x, y)
    across = y - c * x
    return np.arccosh(c) / np.sqrt(_minkowski(across, across)) * across


def ball_exp(x: Any, u: Any) -> Any:
    """x (+) tanh(|u| / (1 - |x|^2)) u / |u| (Ganea, Becigneul, Hofmann 2018)."""
    n = np.linalg.norm(u)
    return _moebius(x, np.tanh(n / (1 - x @ x)) * u / n)


def ball_log(x: Any, y: Any) -> Any:
    z = _moebius(-x, y)
    n = np.linalg.norm(z)
    return (1 - x @ x) * np.arctanh(n) * z / n


def spd_exp(x: Any, u: Any) -> Any:
    half = _of_symmetric(np.sqrt, x)
    inverse = np.linalg.inv(half)
    return half @ _of_symmetric(np.exp, inverse @ u @ inverse) @ half


def spd_log(x: Any, y: Any) -> Any:
    half = _of_symmetric(np.sqrt, x)
    inverse = np.linalg.inv(half)
    return half @ _of_symmetric(np.log, inverse @ y @ inverse) @ half


def projector_exp(x: Any, u: Any) -> Any:
    """expm([U, X]) X expm(-[U, X]) for projectors X (Bendokat, Zimmermann, Absil 2024)."""
    turn = scipy.linalg.expm(u @ x - x @ u)
    return turn @ x @ turn.T


def projector_cayley(x: Any, u: Any) -> Any:
    """The same with the Cayley transform of [U, X] in place of the exponential."""
    half, one = (u @ x - x @ u) / 2, np.eye(len(x))
    turn = np.linalg.solve(one - half, one + half)
    return turn @ x @ turn.T


def projector_log(x: Any, y: Any) -> Any:
    """[Omega, X] with Omega = log((I - 2 Y)(I - 2 X)) / 2 (the same, proposition 5.2)."""
    one = np.eye(len(x))
    values, vectors = np.linalg.eig((one - 2 * y) @ (one - 2 * x))
    omega = (vectors * np.log(values) @ np.linalg.inv(vectors)).real / 2
    return omega @ x - x @ omega


def maps(manifold: Manifold) -> Maps:
    """Retraction and logarithm on `embed`ded points."""
    if isinstance(manifold, Product):
        return _of_parts(manifold, 0), _of_parts(manifold, 1)
    if isinstance(manifold, Sphere) and manifold.retraction == "normalise":
        return sphere_normalised, sphere_log
    if isinstance(manifold, Grassmann) and manifold.retraction == "cayley":
        return projector_cayley, projector_log
    return next(found for kind, found in _MAPS.items() if isinstance(manifold, kind))


_MAPS: dict[type[Manifold], Maps] = {
    Sphere: (sphere_exp, sphere_log),
    Lorentz: (hyperboloid_exp, hyperboloid_log),
    Poincare: (ball_exp, ball_log),
    Spd: (spd_exp, spd_log),
    Grassmann: (projector_exp, projector_log),
}


def _of_parts(product: Product, which: int) -> Callable[[Any, Any], Any]:
    shapes = {"a": (3,), "b": (2, 2), "c": (3,)}  # of a point of each part, in textbooks' form

    def apply(x: Any, v: Any) -> Any:
        made, start = [], 0
        for name, factor in product.factors.items():
            some = slice(start, start + int(np.prod(shapes[name])))
            part = maps(factor)[which](x[some].reshape(shapes[name]), v[some].reshape(shapes[name]))
            made.append(np.ravel(part))
            start = some.stop
        return np.concatenate(made)

    return apply


def _of_symmetric(function: Callable[[Any], Any], matrix: Any) -> Any:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return vectors * function(values) @ vectors.T


def _minkowski(a: Any, b: Any) -> Any:
    return a[1:] @ b[1:] - a[0] * b[0]


def _moebius(a: Any, b: Any) -> Any:
    ab, aa, bb = a @ b, a @ a, b @ b
    return ((1 + 2 * ab + bb) * a + (1 - aa) * b) / (1 + 2 * ab + aa * bb)
