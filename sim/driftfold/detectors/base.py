"""Detectors: whether a client's error rate has risen, told by errors on labelled inputs."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

from driftfold.arrays import Bools
from driftfold.registry import family

M = TypeVar("M")


@dataclass(frozen=True, eq=False)
class Alarm:
    """What detectors say of k clients.

    Attributes
    ----------
    warning, drift
        Whether errors may have become more frequent, and whether they have, shape (k,).
    """

    warning: Bools
    drift: Bools


@family("detector")
class Detector(ABC, Generic[M]):
    """Finds drift in a sequence of errors of each client; after a drift it begins anew.

    A client's memory is a value: it goes in, and a new one comes out. Memories of several clients
    are stacked along a leading axis; what is said of one does not depend on the others, bit for
    bit.
    """

    @abstractmethod
    def begin(self) -> M:
        """Memory of a client before its first error. Raises `CapabilityError` if it cannot work."""

    @abstractmethod
    def watch(self, memory: M, errors: Bools) -> tuple[Alarm, M]:
        """Take in errors (k, b), in their order; an alarm at any of them is one of the batch."""
