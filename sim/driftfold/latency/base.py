"""Latency: how long transfers and computations take."""

from abc import ABC, abstractmethod

from driftfold.arrays import Floats, Ints
from driftfold.fleet import Fleet
from driftfold.registry import family


class Delays(ABC):
    """One fleet's delays in virtual seconds: a pure function of (seed, client, dispatch)."""

    @abstractmethod
    def download(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        """Time to bring `nbytes` down to each client, shape (k,)."""

    @abstractmethod
    def compute(self, clients: Ints, samples: Floats, dispatch: int) -> Floats:
        """Time to process `samples` (shape (k,)) sample gradients on each client, shape (k,)."""

    @abstractmethod
    def upload(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        """Time to bring `nbytes` up from each client, shape (k,)."""

    def visit(
        self, clients: Ints, down: int, samples: Floats, up: int, dispatch: int
    ) -> tuple[Floats, Floats, Floats]:
        """Times to bring `down` bytes down, process `samples` and bring `up` bytes up, (k,) each.

        Default: those of the three methods. A model that draws all at once overrides it.
        """
        return (
            self.download(clients, down, dispatch),
            self.compute(clients, samples, dispatch),
            self.upload(clients, up, dispatch),
        )


@family("latency")
class Latency(ABC):
    """Configuration of a delay model."""

    @abstractmethod
    def delays(self, fleet: Fleet) -> Delays:
        """Return the delays of `fleet`, addressed by its seed."""
