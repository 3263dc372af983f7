"""A few clients that are slower than the others."""

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Floats, Ints
from driftfold.errors import SpecError
from driftfold.fleet import Fleet
from driftfold.latency.base import Delays, Latency
from driftfold.registry import register


@register("stragglers")
@dataclass(frozen=True)
class Stragglers(Latency):
    """The first few clients take `factor` times as long to compute as under the model `base`.

    The stragglers of the RFedAGS experiments (arXiv 2409.07223), where clients 1 to 3 take ten
    times as long. Transfers take their time as they do under `base`.

    Attributes
    ----------
    base
        Delays of a client that is none.
    clients
        Number of stragglers: clients 0, 1, ... of the fleet.
    factor
        How many times as long their computing takes.

    Examples
    --------
    >>> from driftfold.latency import Constant
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> delays = Stragglers(base=Constant(overhead=2.0), clients=1).delays(fleet)
    >>> delays.compute(np.array([0, 1]), np.array([100.0, 100.0]), dispatch=0)
    array([20.,  2.])
    """

    base: Latency
    clients: Annotated[int, Ge(0)] = 3
    factor: Annotated[float, Ge(0)] = 10.0

    def delays(self, fleet: Fleet) -> Delays:
        """Return the delays of `fleet`; raises `SpecError` when it has too few clients."""
        if self.clients > fleet.size:
            raise SpecError(
                f"latency 'stragglers' got clients = {self.clients}, but the fleet has "
                f"{fleet.size}; lower it"
            )
        factors = np.where(np.arange(fleet.size) < self.clients, self.factor, 1.0)
        return SomeSlower(self.base.delays(fleet), factors)


@final
@dataclass(frozen=True, eq=False)
class SomeSlower(Delays):
    """Delays with the time of computing multiplied by each client's factor, shape (N,)."""

    base: Delays
    factors: Floats

    def download(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        """Return the time under the model that is changed, shape (k,)."""
        return self.base.download(clients, nbytes, dispatch)

    def compute(self, clients: Ints, samples: Floats, dispatch: int) -> Floats:
        """Return the client's factor times the time under the model that is changed, shape (k,)."""
        return self.factors[clients] * self.base.compute(clients, samples, dispatch)

    def upload(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        """Return the time under the model that is changed, shape (k,)."""
        return self.base.upload(clients, nbytes, dispatch)

    def visit(
        self, clients: Ints, down: int, samples: Floats, up: int, dispatch: int
    ) -> tuple[Floats, Floats, Floats]:
        """All three, (k,) each."""
        download, compute, upload = self.base.visit(clients, down, samples, up, dispatch)
        return download, self.factors[clients] * compute, upload
