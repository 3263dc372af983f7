"""The Frechet mean of symmetric positive definite matrices."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Array, Floats
from driftfold.data.base import Data, Partition
from driftfold.data.natural import Natural
from driftfold.data.spd_rows import matrices_of
from driftfold.data.synthetic_spd import SyntheticSpd
from driftfold.errors import DataError, SpecError
from driftfold.fleet import Fleet
from driftfold.manifolds.base import Geodesic, Manifold
from driftfold.manifolds.small_matrices import qr
from driftfold.manifolds.spd import Spd, factor
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.tasks.base import Task
from driftfold.tasks.division import Clients, Weighting, divide
from driftfold.tasks.frechet import FrechetProblem
from driftfold.tasks.karcher import karcher_mean

_CURVATURE = 0.5  # no sectional curvature of the affine-invariant metric is below -1/2
_TILE = 2**17  # numbers of matrices that are worked on at a time


class SpdFrechetProblem(FrechetProblem):
    """f_i(X) = scale * (1/n_i) sum_j dist(X, Y_ij)^2 over positive definite X, stored as factors.

    Parameters
    ----------
    fleet
        The clients.
    manifold
        Matrices of the size of the targets.
    targets
        Any factors M_ij of Y_ij = M_ij M_ij^T, shape (N, n_max, n, n); past n_i the identity.
    scale
        Factor of the mean squared distance.

    Examples
    --------
    >>> data = SyntheticSpd(clients=3, samples=4, size=2, freedom=5)
    >>> problem = SpdFrechetMean(data=data).build(Seed(1))
    >>> problem.targets.shape
    (3, 4, 2, 2)
    >>> round(problem.evaluate(problem.solution, time=0.0)["gap"], 12) + 0.0
    0.0
    """

    kernel_loss = "spd distance"

    def __init__(self, fleet: Fleet, manifold: Geodesic, targets: Array, scale: float) -> None:
        super().__init__(fleet, manifold, targets, scale=scale)

    def initial_point(self) -> Array:
        """Return a factor of Q diag(1 + u) Q^T, u uniform in [0, 1) and Q a random rotation.

        The start of the RFedAGS experiments (arXiv 2409.07223).
        """
        n = self.manifold.shape[0]
        seed = self.fleet.seed
        q, _ = qr(seed.stream("initial frame").normal(0, 0, n * n).reshape(n, n))
        values = 1 + seed.stream("initial eigenvalues").uniform(0, 0, n)
        factor: Array = (q * np.sqrt(values) @ q.T).astype(self.targets.dtype)
        return factor

    def minimise(self) -> Array:
        """Karcher's iteration from a factor of the arithmetic mean, until rounding stops it."""
        mean = np.zeros(self.manifold.shape)
        for some in _tiles(self.targets):
            weights = self.fleet.importance[some, None] * self.weights[some]
            arms = np.sqrt(weights)[..., None, None] * self.targets[some].astype(np.float64)
            mean += np.einsum("ijab,ijcb->ac", arms, arms)
        return karcher_mean(self, np.linalg.cholesky(mean), _CURVATURE)


@register("spd_frechet_mean")
@dataclass(frozen=True)
class SpdFrechetMean(Task):
    """Frechet mean of the clients' symmetric positive definite matrices.

    min over X of sum_i a_i (scale / n_i) sum_j dist(X, Y_ij)^2, with the affine-invariant
    distance |log(X^-1/2 Y X^-1/2)|_F. A point is stored as a factor A, X = A A^T.

    Attributes
    ----------
    data
        Where the matrices come from: rows of n * n numbers.
    partition
        How they are divided.
    clients
        Number of clients, or "natural": the owners that the data name.
    scale
        Factor of the mean squared distance: 0.5, as in the experiments of RFedAGS (then local
        steps of size alpha bring the mean nearer by about the factor 1 - alpha), or 1.0.
    weighting
        ``clients``: a_i = 1/N. ``samples``: a_i proportional to n_i.
    manifold
        Where X lives, when other maps are wanted than the default of `Spd(n)`.
    precision
        Type of the targets, points and gradients.

    Examples
    --------
    >>> task = SpdFrechetMean(data=SyntheticSpd(clients=3, samples=4, size=2, freedom=5))
    >>> sorted(task.build(Seed(1)).evaluate(np.eye(2), time=0.0))
    ['distance', 'gap', 'loss']
    """

    data: Data = field(default_factory=SyntheticSpd)
    partition: Partition = field(default_factory=Natural)
    clients: Clients = "natural"
    scale: Annotated[float, Gt(0)] = 0.5
    weighting: Weighting = "clients"
    manifold: Manifold | None = None
    precision: Literal["float64", "float32"] = "float64"

    def build(self, seed: Seed) -> SpdFrechetProblem:
        """Load the data, divide them, and factor the matrices once."""
        data, fleet = divide(self.data, self.partition, self.clients, self.weighting, seed)
        matrices = matrices_of(data.x)
        real = np.arange(matrices.shape[1]) < data.samples[:, None]
        matrices[~real] = np.eye(matrices.shape[-1])
        mine = data.fresh and self.precision == "float64"  # then they take the matrices' place
        made = matrices if mine else np.empty(matrices.shape, dtype=self.precision)
        targets = factors_of(matrices, made)
        return SpdFrechetProblem(fleet, self._manifold(matrices.shape[-1]), targets, self.scale)

    def _manifold(self, n: int) -> Spd:
        manifold = Spd(n) if self.manifold is None else self.manifold
        if not isinstance(manifold, Spd) or manifold.shape != (n, n):
            raise SpecError(
                f"the data are matrices of size {n}, whose mean is a point of 'spd' with n = {n}; "
                f"got {self.manifold!r}; leave the manifold out or change it"
            )
        return manifold


def factors_of(matrices: Floats, out: Array = None) -> Array:
    """Cholesky factors of matrices (..., n, n), in `out` if given, which may be `matrices`.

    Raises
    ------
    DataError
        One of them is not symmetric positive definite.

    Examples
    --------
    >>> factors_of(np.array([[4.0, 2.0], [2.0, 2.0]]))
    array([[2., 0.],
           [1., 1.]])
    """
    n = matrices.shape[-1]
    given = matrices.reshape(-1, n, n)
    skew = size = np.float64(0)
    for some in _tiles(given):
        part = given[some]
        skew = np.maximum(skew, np.abs(part - part.swapaxes(-1, -2)).max())
        size = np.maximum(size, np.abs(part).max())
    if not skew <= 1e-8 * size:
        raise DataError(
            f"the matrices are up to {skew:.3g} from symmetric; give symmetric ones, such as "
            "covariances"
        )
    made: Array = np.empty(matrices.shape) if out is None else out
    factors = made.reshape(given.shape)
    count, least = 0, np.inf
    for some in _tiles(given):
        part = given[some]
        done = factor(part)
        broken = ~np.isfinite(done).all(axis=(-2, -1))
        if broken.any():
            count += int(broken.sum())
            least = min(least, float(np.linalg.eigvalsh(part[broken]).min()))
        factors[some] = done
    if count:
        raise DataError(
            f"{count} of {len(given)} matrices are not positive definite (the smallest "
            f"eigenvalue is {least:.3g}); add a multiple of the identity above its size, or leave "
            "them out"
        )
    return made


def _tiles(matrices: Array) -> Iterator[slice]:
    """Runs along the leading axis of so many matrices that their temporaries stay small."""
    count = max(1, _TILE // max(1, matrices[:1].size))
    return (slice(first, first + count) for first in range(0, len(matrices), count))
