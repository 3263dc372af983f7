"""Synthetic regression tasks that share a subspace of features."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from driftfold.data.base import Data, Dataset
from driftfold.data.magnitude import check_magnitude
from driftfold.errors import SpecError
from driftfold.registry import register
from driftfold.rng import Seed


@register("subspace_regression")
@dataclass(frozen=True)
class SubspaceRegression(Data):
    """Client i owns rows [z, y] with y = w_i^T U z + noise, z ~ N(0, I_d), w_i ~ N(0, I_rank).

    U (rank, d) has orthonormal rows, the same for all clients. The target y is the last number of
    a row.

    Attributes
    ----------
    clients
        Number N of clients, each with a regression of its own.
    samples
        Rows of each client.
    dimension
        Number d of features, without the target.
    rank
        Dimension of the shared subspace, at most d.
    noise
        Standard deviation of the noise on a target.

    Examples
    --------
    >>> data = SubspaceRegression(clients=2, samples=3, dimension=4, rank=1).load(Seed(1))
    >>> data.x.shape, data.owner.tolist()
    ((6, 5), [0, 0, 0, 1, 1, 1])
    """

    clients: Annotated[int, Gt(0)] = 50
    samples: Annotated[int, Gt(0)] = 40
    dimension: Annotated[int, Gt(0)] = 100
    rank: Annotated[int, Gt(0)] = 5
    noise: Annotated[float, Ge(0)] = 0.1

    def footprint(self) -> int:
        """Bytes of the rows, so that absurd sizes are refused before they are drawn."""
        return 8 * self.clients * self.samples * (self.dimension + 2)

    @np.errstate(over="ignore", invalid="ignore")  # what overflows is told by name
    def load(self, seed: Seed) -> Dataset:
        """Generate the rows, in order of client."""
        n, d, r = self.samples, self.dimension, self.rank
        if r > d:
            raise SpecError(f"{d} features have no subspace of dimension {r}; lower the rank")
        ids = np.arange(self.clients)
        gaussian = seed.stream("shared subspace").normal(0, 0, d * r).reshape(d, r)
        basis = np.linalg.qr(gaussian)[0]
        z = seed.stream("data").normal(ids, 0, n * d).reshape(-1, n, d)
        own = seed.stream("tasks").normal(ids, 0, r)
        noise = seed.stream("noise of targets").normal(ids, 0, n)
        y = np.einsum("cnd,cd->cn", z, own @ basis.T) + self.noise * noise
        check_magnitude(y, "the targets", noise=self.noise)
        rows = np.concatenate([z, y[..., None]], axis=-1)
        return Dataset(x=rows.reshape(-1, d + 1), owner=np.repeat(ids, n))
