"""Objectives whose minima are known."""

import numpy as np

from driftfold.arrays import Array, Floats
from driftfold.manifolds import Euclidean, Sphere, Stiefel
from driftfold.solvers import Objective


def quadratic(scales: Floats, shift: float = 0.0) -> Objective:
    """(1/2) sum of scales (x - 1)^2 + shift, with its minimum `shift` at 1."""
    return Objective(
        Euclidean(len(scales)),
        lambda x: float(scales @ (x - 1) ** 2) / 2 + shift,
        lambda x: scales * (x - 1),
    )


def rosenbrock() -> Objective:
    """The function of Rosenbrock, with its minimum 0 at (1, 1)."""

    def gradient(x: Array) -> Array:
        a, b = x
        return np.array([-400 * a * (b - a * a) - 2 * (1 - a), 200 * (b - a * a)])

    return Objective(
        Euclidean(2), lambda x: float(100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2), gradient
    )


def least_eigenvector(matrix: Floats) -> Objective:
    """x^T A x on the sphere: the least eigenvalue."""
    sphere = Sphere(len(matrix))
    return Objective(
        sphere, lambda x: float(x @ matrix @ x), lambda x: sphere.gradient(x, 2 * matrix @ x)
    )


def least_subspace(matrix: Floats, rank: int, retraction: str = "qr") -> Objective:
    """trace(X A X^T) on the Stiefel manifold: the sum of the least eigenvalues."""
    stiefel = Stiefel(rank, len(matrix), retraction=retraction)  # type: ignore[arg-type]
    return Objective(
        stiefel,
        lambda x: float(np.vdot(x, x @ matrix)),
        lambda x: stiefel.gradient(x, 2 * x @ matrix),
    )


def symmetric(size: int, seed: int) -> Floats:
    made = np.random.default_rng(seed).standard_normal((size, size))
    matrix: Floats = made + made.T
    return matrix
