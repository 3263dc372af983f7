"""The weighted Frechet mean in hyperbolic space."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats, Ints
from driftfold.data.base import Data, Partition
from driftfold.data.natural import Natural
from driftfold.data.wrapped_normal import WrappedNormal
from driftfold.errors import DataError
from driftfold.manifolds.base import Manifold
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.tasks.base import Task
from driftfold.tasks.division import Clients, Weighting, divide
from driftfold.tasks.hyperbolic_targets import HyperbolicFrechetProblem, lorentz


class HyperbolicMeanProblem(HyperbolicFrechetProblem):
    """f_i(x) = scale * sum_j w_ij dist(x, y_ij)^2 / sum_j w_ij over hyperbolic space.

    Examples
    --------
    >>> task = HyperbolicFrechetMean(data=WrappedNormal(clients=3, samples=4))
    >>> problem = task.build(Seed(1))
    >>> problem.targets.shape, problem.coefficients.shape
    ((3, 4, 2), (3, 4))
    >>> bool(problem.manifold.norm(problem.solution, problem.gradient(problem.solution)) < 1e-14)
    True
    """


@register("hyperbolic_frechet_mean")
@dataclass(frozen=True)
class HyperbolicFrechetMean(Task):
    """Frechet mean of the clients' points of hyperbolic space.

    min over x of sum_i a_i scale sum_j w_ij dist(x, y_ij)^2 / sum_j w_ij. A point is stored as
    its spatial part on the hyperboloid.

    Attributes
    ----------
    data
        Where the points come from: rows of spatial parts, of length dim.
    partition
        How they are divided.
    clients
        Number of clients, or "natural": the owners that the data name.
    weighted
        Whether the rows end with one more number, the weight w_ij > 0 of the sample; else all
        weights are 1.
    scale
        Factor of the mean squared distance.
    weighting
        ``clients``: a_i = 1/N. ``samples``: a_i proportional to n_i.
    manifold
        Where x lives, when other maps are wanted than the default of `Lorentz(dim)`.
    precision
        Type of the targets, points and gradients.

    Examples
    --------
    >>> task = HyperbolicFrechetMean(data=WrappedNormal(clients=3, samples=4, weighted=True))
    >>> problem = HyperbolicFrechetMean(data=task.data, weighted=True).build(Seed(1))
    >>> sorted(problem.evaluate(problem.initial_point(), time=0.0))
    ['distance', 'gap', 'loss']
    """

    data: Data = field(default_factory=WrappedNormal)
    partition: Partition = field(default_factory=Natural)
    clients: Clients = "natural"
    weighted: bool = False
    scale: Annotated[float, Gt(0)] = 0.5
    weighting: Weighting = "clients"
    manifold: Manifold | None = None
    precision: Literal["float64", "float32"] = "float64"

    def build(self, seed: Seed) -> HyperbolicMeanProblem:
        """Load the data and divide them."""
        data, fleet = divide(self.data, self.partition, self.clients, self.weighting, seed)
        points, weights = data.x, None
        if self.weighted:
            points, weights = points[..., :-1], _coefficients(points[..., -1], data.samples)
        manifold = lorentz(self.manifold, int(points.shape[-1]))
        return HyperbolicMeanProblem(
            fleet,
            manifold,
            np.ascontiguousarray(points, dtype=self.precision),
            None if weights is None else weights.astype(self.precision),
            self.scale,
        )


def _coefficients(weights: Floats, samples: Ints) -> Floats:
    """c_ij = n_i w_ij / sum_j w_ij, of mean 1 for each client; 0 on padding."""
    real = np.arange(weights.shape[1]) < samples[:, None]
    if not (weights[real] > 0).all():
        raise DataError(
            f"the smallest weight of a sample is {weights[real].min(initial=np.inf)}; the last "
            "number of each row is its weight and must be above 0; or set weighted = false"
        )
    total = np.where(samples > 0, (weights * real).sum(axis=1), 1)
    made: Floats = weights * real * (samples / total)[:, None]
    return made
