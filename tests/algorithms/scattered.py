"""A task on any manifold with logarithms: the mean of points scattered around each client's own."""

from dataclasses import dataclass, replace

import numpy as np

from driftfold.arrays import Array, Floats
from driftfold.fleet import Fleet
from driftfold.manifolds import (
    Geodesic,
    Grassmann,
    Lorentz,
    Manifold,
    Poincare,
    Product,
    Spd,
    Sphere,
)
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.tasks import Task
from driftfold.tasks.frechet import FrechetProblem

_PARTS = {"a": Sphere(3), "b": Spd(2), "c": Lorentz(2)}
MANIFOLDS: list[Manifold] = [
    Sphere(4),
    Sphere(4, "normalise", "projection"),
    Grassmann(2, 5, "exp", "parallel"),
    Grassmann(2, 5),
    Spd(3),
    Lorentz(3),
    Poincare(3),
    Product(_PARTS),
]
"""Those with logarithms, with most of their retractions and transports, small."""


class ScatteredProblem(FrechetProblem):
    """f_i(x) = mean of dist(x, y_ij)^2 / 2; clients' points lie within reach of one centre."""

    start: Array

    def initial_point(self) -> Array:
        return self.start

    def minimise(self) -> Array:
        """Gradient steps of length 1, which contract wherever the Hessian is between 0 and 2."""
        x = self.start
        for _ in range(500):
            g = self.gradient(x)
            if float(self.manifold.norm(x, g)) < 1e-15:
                break
            x = self.manifold.exp(x, -g)
        return x

    def reweighted(self, weights: Floats) -> "ScatteredProblem":
        """The same clients with objective sum_i weights_i f_i."""
        fleet = replace(self.fleet, importance=weights)
        made = ScatteredProblem(fleet, self.manifold, self.targets, self.coefficients)
        made.start = self.start
        return made


@register("test-scattered")
@dataclass(frozen=True)
class Scattered(Task):
    """`apart` and `spread`: distances of clients' centres, and of their points from these.

    `away` is that of the first iterate from the centre of all.
    """

    manifold: Manifold
    clients: int = 5
    samples: int = 6
    apart: float = 0.5
    spread: float = 0.3
    away: float = 0.5

    def build(self, seed: Seed) -> ScatteredProblem:
        m, n, size = self.manifold, self.clients, self.samples
        assert isinstance(m, Geodesic)
        stream = seed.stream("scattered")
        centre = m.random_point(stream, np.zeros(1, dtype=np.int64))

        def around(x: Array, visit: int, length: float) -> Array:
            count = int(np.prod(m.shape))
            drawn = stream.normal(np.arange(len(x)), visit, count).reshape(x.shape)
            u = m.project(x, drawn)
            return m.exp(x, u * (length / m.norm(x, u)).reshape(-1, *(1,) * len(m.shape)))

        centres = around(np.repeat(centre, n, axis=0), 1, self.apart)
        points = around(np.repeat(centres, size, axis=0), 2, self.spread)
        fleet = Fleet(seed, np.full(n, size), np.full(n, 1 / n))
        problem = ScatteredProblem(fleet, m, points.reshape(n, size, *m.shape))
        problem.start = around(centre, 3, self.away)[0]
        return problem
