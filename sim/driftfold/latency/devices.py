"""Devices: how fast the clients of a fleet compute."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from driftfold.arrays import Floats
from driftfold.registry import family


@dataclass(frozen=True, eq=False)
class Pace:
    """How fast each client computes, for the whole run.

    Attributes
    ----------
    seconds
        Median seconds for one sample gradient, shape (N,).
    jitter
        Sigma of ln(seconds) from dispatch to dispatch, shape (N,).
    """

    seconds: Floats
    jitter: Floats


@family("device")
class Devices(ABC):
    """Law of the speed at which clients compute."""

    @abstractmethod
    def pace(self, scores: Floats) -> Pace:
        """Return each client's pace from its score, shape (N,).

        Scores are standard normal over clients; a higher score means a device at least as fast, so
        that a population can correlate devices of any kind with links.
        """
