"""Synthetic rows whose scale differs from client to client."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats
from driftfold.data.base import Data, Dataset
from driftfold.data.client_tiles import client_tiles
from driftfold.errors import SpecError
from driftfold.registry import register
from driftfold.rng import Seed


@register("gaussian_blocks")
@dataclass(frozen=True)
class GaussianBlocks(Data):
    """Client i = 1..N owns `samples` rows (i / blocks) z with z ~ N(0, I_d).

    The synthetic PCA data of the RFedAGS experiments (arXiv 2409.07223). A client's rows do not
    change, but for their scale, when the number of clients does; with `blocks` they do not change
    at all, so that fleets of different sizes are the first clients of one.

    Attributes
    ----------
    clients
        Number N of clients.
    samples
        Rows of each client.
    dimension
        Length d of a row.
    blocks
        Number by which a client's place i is divided to give its scale; None is N.
    scales
        Scale of each client's rows, in place of i / blocks.

    Examples
    --------
    >>> data = GaussianBlocks(clients=4, samples=2, dimension=3).load(Seed(1))
    >>> data.x.shape, data.clients
    ((8, 3), 4)
    """

    clients: Annotated[int, Gt(0)] = 40
    samples: Annotated[int, Gt(0)] = 100
    dimension: Annotated[int, Gt(0)] = 100
    blocks: Annotated[int, Gt(0)] | None = None
    scales: tuple[Annotated[float, Gt(0)], ...] | None = None

    def footprint(self) -> int:
        """Bytes of the rows, so that absurd sizes are refused before they are drawn."""
        return 8 * self.clients * self.samples * self.dimension

    def load(self, seed: Seed) -> Dataset:
        """Generate the rows, in order of client."""
        ids, count = np.arange(self.clients), self.samples * self.dimension
        scale = self._scale()  # before the rows, which take longer
        x = np.empty((self.clients, count))
        for some in client_tiles(self.clients, count):
            z = seed.stream("data").normal(ids[some], visits=0, count=count)
            np.multiply(scale[some, None], z, out=x[some])
        return Dataset(x=x.reshape(-1, self.dimension), each=self.samples, fresh=True)

    def _scale(self) -> Floats:
        if self.scales is None:
            return np.arange(1, self.clients + 1) / (self.blocks or self.clients)
        if self.blocks is not None or len(self.scales) != self.clients:
            raise SpecError(
                f"data 'gaussian_blocks' got {len(self.scales)} scales for {self.clients} clients "
                f"and blocks = {self.blocks}; give one scale for each client, or `blocks` without "
                "scales"
            )
        return np.asarray(self.scales, dtype=np.float64)
