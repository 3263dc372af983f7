"""Delays that are the same for every client and dispatch."""

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Floats, Ints
from driftfold.fleet import Fleet
from driftfold.latency.base import Delays, Latency
from driftfold.registry import register


@register("constant")
@dataclass(frozen=True)
class Constant(Latency):
    """Every client takes the same time; by default none, so that only the order of work counts.

    Attributes
    ----------
    download, upload
        Seconds for one transfer, whatever its size.
    overhead
        Seconds for one piece of work, whatever its size.
    per_sample
        Seconds for each sample gradient.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> delays = Constant(overhead=1.0, per_sample=0.01).delays(fleet)
    >>> delays.compute(np.array([0, 1]), np.array([100.0, 300.0]), dispatch=0)
    array([2., 4.])
    """

    download: Annotated[float, Ge(0)] = 0.0
    overhead: Annotated[float, Ge(0)] = 0.0
    per_sample: Annotated[float, Ge(0)] = 0.0
    upload: Annotated[float, Ge(0)] = 0.0

    def delays(self, fleet: Fleet) -> Delays:
        """Return the delays, the same for any fleet."""
        return ConstantDelays(self)


@final
@dataclass(frozen=True)
class ConstantDelays(Delays):
    """Delays of the model `Constant`."""

    model: Constant

    def download(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        """Return the fixed download time, shape (k,)."""
        return np.full(len(clients), float(self.model.download))

    def compute(self, clients: Ints, samples: Floats, dispatch: int) -> Floats:
        """Return overhead + per_sample * samples, shape (k,)."""
        return self.model.overhead + self.model.per_sample * np.asarray(samples, np.float64)

    def upload(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        """Return the fixed upload time, shape (k,)."""
        return np.full(len(clients), float(self.model.upload))
