"""Label targets: shares of the classes that clients' streams move to."""

from abc import ABC, abstractmethod

from driftfold.arrays import Floats
from driftfold.drift.pool import Pool
from driftfold.drift.timeline import Timeline
from driftfold.registry import family


@family("label_target")
class LabelTarget(ABC):
    """Configuration of one distribution over the classes for each client."""

    @abstractmethod
    def shares(self, timeline: Timeline, pool: Pool) -> Floats:
        """Share of each class for each client, shape (N, K), rows with sum 1.

        Raises `CapabilityError` when the pool lacks what the target needs, `SpecError` when its
        fields do not fit.
        """
