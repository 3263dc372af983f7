"""Synthetic symmetric positive definite matrices around a centre."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Floats, Ints
from driftfold.data.base import Data, Dataset
from driftfold.data.client_tiles import client_tiles
from driftfold.data.magnitude import check_magnitude
from driftfold.errors import SpecError
from driftfold.registry import register
from driftfold.rng import Seed


@register("synthetic_spd")
@dataclass(frozen=True)
class SyntheticSpd(Data):
    """Client i owns `samples` Wishart matrices with `freedom` degrees of freedom around C_i.

    A sample is A W A^T with W = (1/freedom) sum_k z_k z_k^T, z_k ~ N(0, I), and A A^T the client's
    centre C_i = C^(1/2) exp(heterogeneity S_i) C^(1/2), S_i symmetric with independent N(0, 1/d)
    entries on and above the diagonal. C = Q diag(c) Q^T has eigenvalues c from condition^(-1/2) to
    condition^(1/2) in geometric steps. A row is a whole matrix, flattened.

    Attributes
    ----------
    clients
        Number N of clients.
    samples
        Matrices of each client.
    size
        Size d of a matrix.
    freedom
        Degrees of freedom of a sample, at least d; the more, the closer to the centre.
    condition
        Ratio of the largest to the smallest eigenvalue of C; samples have larger ones.
    heterogeneity
        How far the clients' centres lie from C: about heterogeneity * sqrt(d) in the
        affine-invariant distance.

    Examples
    --------
    >>> data = SyntheticSpd(clients=2, samples=3, size=4, freedom=8).load(Seed(1))
    >>> data.x.shape, data.clients
    ((6, 16), 2)
    >>> bool((np.linalg.eigvalsh(data.x.reshape(-1, 4, 4)) > 0).all())
    True
    """

    clients: Annotated[int, Gt(0)] = 50
    samples: Annotated[int, Gt(0)] = 40
    size: Annotated[int, Gt(0)] = 9
    freedom: Annotated[int, Gt(0)] = 20
    condition: Annotated[float, Ge(1)] = 100.0
    heterogeneity: Annotated[float, Ge(0)] = 0.0

    def footprint(self) -> int:
        """Bytes of the matrices, so that absurd sizes are refused before they are drawn."""
        return 8 * self.clients * self.samples * self.size**2

    @np.errstate(over="ignore", invalid="ignore")  # what overflows is told by name
    def load(self, seed: Seed) -> Dataset:
        """Generate the matrices, in order of client."""
        d = self.size
        if self.freedom < d:
            raise SpecError(
                f"matrices of size {d} with {self.freedom} degrees of freedom are singular; set "
                f"'freedom' to {d} or more"
            )
        ids = np.arange(self.clients)
        root = self._root(seed)
        x = np.empty((self.clients, self.samples, d, d))
        count = self.samples * d * self.freedom
        for some in client_tiles(self.clients, count):
            drawn = seed.stream("data").normal(ids[some], 0, count)
            z = drawn.reshape(-1, self.samples, d, self.freedom) / np.sqrt(self.freedom)
            if self.heterogeneity:
                z = self._shifts(seed, ids[some])[:, None] @ z
            factors = root @ z
            made = factors @ factors.swapaxes(-1, -2)
            given = {"condition": self.condition, "heterogeneity": self.heterogeneity}
            check_magnitude(made, "the matrices", **given)
            x[some] = (made + made.swapaxes(-1, -2)) / 2
        return Dataset(x=x.reshape(-1, d * d), each=self.samples, fresh=True)

    def _root(self, seed: Seed) -> Floats:
        """C^(1/2)."""
        d = self.size
        q, _ = np.linalg.qr(seed.stream("centre").normal(0, 0, d * d).reshape(d, d))
        ends = np.sqrt(self.condition)
        half: Floats = (q * np.geomspace(1 / ends, ends, d) ** 0.5) @ q.T
        return half

    def _shifts(self, seed: Seed, ids: Ints) -> Floats:
        """exp(heterogeneity S_i / 2) of each client."""
        d = self.size
        s = seed.stream("client centres").normal(ids, 0, d * d).reshape(-1, d, d) / np.sqrt(d)
        values, vectors = np.linalg.eigh(np.triu(s) + np.triu(s, 1).swapaxes(-1, -2))
        grown = vectors * np.exp(self.heterogeneity * values / 2)[..., None, :]
        shifts: Floats = grown @ vectors.swapaxes(-1, -2)
        return shifts
