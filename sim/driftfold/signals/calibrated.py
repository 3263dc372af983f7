"""A signal measured against its own noise."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats
from driftfold.errors import CapabilityError
from driftfold.registry import register
from driftfold.signals.base import Observed, Signal, Sizes
from driftfold.signals.noise import null_values
from driftfold.trees import node

_LEAST = 1e-12


@node
class Calibration:
    """Of each client: mean and standard deviation without drift, and the signal's own memory."""

    centre: Floats
    deviation: Floats
    inner: Any


@register("calibrated")
@dataclass(frozen=True)
class Calibrated(Signal[Calibration]):
    """(S - mu) / (width sd) of another signal, cut off at 0 and 1.

    mu and sd are its mean and standard deviation between batches of held-out source data, whose
    classes come as they did before deployment, pi_0. They hold for the batch size they were drawn
    with, and for such classes: a client of few classes has less noise.

    Attributes
    ----------
    signal
        What is calibrated.
    width
        Standard deviations above the mean at which the signal is 1.
    pairs
        Pairs of batches that mu and sd are measured on.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> from driftfold.signals.base import Held
    >>> from driftfold.signals.uncertainty import Uncertainty
    >>> said = np.eye(10)[np.arange(200) % 10]
    >>> held = Held(said, np.ones((200, 3)), batch=50, seed=Seed(1))
    >>> memory = Calibrated(Uncertainty(), pairs=200).begin(Sizes(10, 3, held))
    >>> memory.centre.round(2), memory.deviation.round(2)
    (np.float64(0.15), np.float64(0.06))
    """

    signal: Signal[Any]
    width: Annotated[float, Gt(0)] = 4.0
    pairs: Annotated[int, Gt(1)] = 1000

    def begin(self, sizes: Sizes) -> Calibration:
        """Measure mu and sd. Raises `CapabilityError` without held-out data."""
        if sizes.held is None:
            raise CapabilityError(
                "signal 'calibrated' needs held-out source data, and there are none; use "
                "'debiased_uncertainty', 'debiased_representation' or 'split_half' instead"
            )
        values = null_values(self.signal, sizes.held, self.pairs)
        inner = self.signal.begin(sizes)
        return Calibration(np.asarray(values.mean()), np.asarray(values.std(ddof=1)), inner)

    def compare(self, memory: Calibration, observed: Observed) -> tuple[Floats, Calibration]:
        """Return the calibrated signal."""
        s, inner = self.signal.measure(memory.inner, observed)
        width = np.maximum(self.width * memory.deviation, _LEAST)
        excess = np.clip((s - memory.centre) / width, 0.0, 1.0)
        seen = Calibration(memory.centre, memory.deviation, inner)
        return np.where(observed.seen, excess, 0.0), seen

    def replace(self, memory: Calibration, observed: Observed) -> Calibration:
        """Pass on."""
        inner = self.signal.recall(memory.inner, observed)
        return Calibration(memory.centre, memory.deviation, inner)
