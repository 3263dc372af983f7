"""A client's probability times a factor that follows the slots: what the periodic kinds share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.participation.scheduled import Schedule


@final
@dataclass(frozen=True, eq=False)
class Modulated(Schedule):
    """p_i(n) = p_i f(n), and 0 where that is below a floor.

    Attributes
    ----------
    p
        Probabilities p_i, shape (N,).
    factor
        f, for slots of shape (m,), between 0 and 1.
    floor
        Smallest product that counts.
    """

    p: Floats
    factor: Callable[[Ints], Floats]
    floor: float = 0.0

    def at(self, clients: Ints, slots: Ints) -> Floats:
        """Probabilities, shape (k, m)."""
        product = self.p[clients, None] * self.factor(slots)
        return np.where(product < self.floor, 0.0, product)

    def bounds(self, clients: Ints) -> tuple[Floats, Floats]:
        """0 and p_i; p_i = 0 is found without a search."""
        return np.zeros(len(clients)), np.where(self.p[clients] < self.floor, 0.0, self.p[clients])
