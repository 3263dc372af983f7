"""Synthetic rows whose scale grows from client to client."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.data.base import Data, Dataset
from driftfold.registry import register
from driftfold.rng import Seed


@register("gaussian_blocks")
@dataclass(frozen=True)
class GaussianBlocks(Data):
    """Client i = 1..N owns `samples` rows (i/N) z with z ~ N(0, I_d).

    The synthetic PCA data of the RFedAGS experiments (arXiv 2409.07223). A client's rows do not
    change, but for their scale, when the number of clients does.

    Attributes
    ----------
    clients
        Number N of clients.
    samples
        Rows of each client.
    dimension
        Length d of a row.

    Examples
    --------
    >>> data = GaussianBlocks(clients=4, samples=2, dimension=3).load(Seed(1))
    >>> data.x.shape, data.owner.tolist()
    ((8, 3), [0, 0, 1, 1, 2, 2, 3, 3])
    """

    clients: Annotated[int, Gt(0)] = 40
    samples: Annotated[int, Gt(0)] = 100
    dimension: Annotated[int, Gt(0)] = 100

    def footprint(self) -> int:
        """Bytes of the rows, so that absurd sizes are refused before they are drawn."""
        return 8 * self.clients * self.samples * self.dimension

    def load(self, seed: Seed) -> Dataset:
        """Generate the rows, in order of client."""
        ids = np.arange(self.clients)
        x = seed.stream("data").normal(ids, visits=0, count=self.samples * self.dimension)
        x *= (ids[:, None] + 1) / self.clients
        owner = np.repeat(ids, self.samples)
        return Dataset(x=x.reshape(-1, self.dimension), owner=owner)
