"""Links: how fast clients and server exchange bytes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from driftfold.arrays import Floats
from driftfold.registry import family


@dataclass(frozen=True, eq=False)
class Rates:
    """Each client's link, for the whole run; a transfer takes round_trip + bytes / rate.

    Attributes
    ----------
    down, up
        Median rates in bytes per second, shape (N,).
    round_trip
        Seconds that any transfer takes beside, shape (N,).
    down_jitter, up_jitter
        Sigma of ln(rate) from dispatch to dispatch, shape (N,).
    """

    down: Floats
    up: Floats
    round_trip: Floats
    down_jitter: Floats
    up_jitter: Floats


@family("link")
class Links(ABC):
    """Law of the links between clients and server."""

    @abstractmethod
    def rates(self, scores: Floats) -> Rates:
        """Return each client's link from three scores, shape (N, 3).

        Scores are independent standard normals. A higher first one means a downlink at least as
        fast: it is the one that a population correlates with devices.
        """
