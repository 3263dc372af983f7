"""Synthetic points of hyperbolic space: one cluster a client."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Floats
from driftfold.data.base import Data, Dataset
from driftfold.data.client_tiles import client_tiles
from driftfold.data.magnitude import check_magnitude
from driftfold.registry import register
from driftfold.rng import Seed


@register("wrapped_normal")
@dataclass(frozen=True)
class WrappedNormal(Data):
    """Client i owns `samples` points of a wrapped normal distribution around its centre m_i.

    Points are spatial parts s of the hyperboloid -x_0^2 + |s|^2 = -1, in rows. The centre lies at
    distance `radius` from the origin in a random direction; a sample is a normal tangent vector at
    the origin, carried to the centre and mapped to the hyperboloid (Nagano et al. 2019).

    Attributes
    ----------
    clients
        Number N of clients.
    samples
        Points of each client.
    dimension
        Dimension of the space.
    radius
        Distance of the centres from the origin. Distances up to about 20 make sense in float64.
    spread
        Standard deviation of a sample along each direction, in units of distance.
    weighted
        Whether each row ends with a weight of the sample, uniform in [0.5, 1.5).

    Examples
    --------
    >>> WrappedNormal(clients=2, samples=3, dimension=2, weighted=True).load(Seed(1)).x.shape
    (6, 3)
    """

    clients: Annotated[int, Gt(0)] = 20
    samples: Annotated[int, Gt(0)] = 50
    dimension: Annotated[int, Gt(0)] = 2
    radius: Annotated[float, Ge(0)] = 1.0
    spread: Annotated[float, Gt(0)] = 0.5
    weighted: bool = False

    def footprint(self) -> int:
        """Bytes of the points, so that absurd sizes are refused before they are drawn."""
        return 8 * self.clients * self.samples * (self.dimension + 1)

    @np.errstate(over="ignore", invalid="ignore")  # what overflows is told by name
    def load(self, seed: Seed) -> Dataset:
        """Generate the points, in order of client."""
        n, d = self.samples, self.dimension
        x = np.empty((self.clients, n, d + self.weighted))
        for some in client_tiles(self.clients, n * d):
            ids = np.arange(some.start, some.stop)
            direction = seed.stream("centres").normal(ids, 0, d)
            direction /= np.sqrt((direction * direction).sum(axis=-1, keepdims=True))
            centre = np.sinh(self.radius) * direction[:, None, :]
            v = self.spread * seed.stream("data").normal(ids, 0, n * d).reshape(-1, n, d)
            x[some, :, :d] = _boosted(centre, v)
            if self.weighted:
                x[some, :, d] = 0.5 + seed.stream("weights").uniform(ids, 0, n)
        check_magnitude(x[..., :d], "the points", radius=self.radius, spread=self.spread)
        return Dataset(x=x.reshape(self.clients * n, -1), each=n, fresh=True)


def _boosted(centre: Floats, v: Floats) -> Floats:
    """Move Exp_origin(v) by the boost that takes the origin to the centre."""
    length = np.sqrt((v * v).sum(axis=-1, keepdims=True))
    q = np.sinh(length) / np.where(length > 0, length, 1) * v
    time = np.sqrt(1 + (centre * centre).sum(axis=-1, keepdims=True))
    along = (centre * q).sum(axis=-1, keepdims=True)
    moved: Floats = q + centre * (along / (1 + time) + np.cosh(length))
    return moved
