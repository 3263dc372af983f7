"""Rates of coming on and of going off, which may follow the day."""

from dataclasses import dataclass
from typing import final

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.lanes import in_whole_vectors
from driftfold.participation.swing import DAY


@final
@dataclass(frozen=True, eq=False)
class Rates:
    """Rates of each client as shares of a bound, in which a cosine swings with the hour of the day.

    Client i comes on at the rate on_i (1 + a cos(2 pi (t - top_i) / day)), and goes off at the rate
    off_i (1 - b cos(...)). Their sum is at most 1.

    Attributes
    ----------
    on, off
        Mean rates, shape (N,).
    top
        Time of the day at which each client's rate of coming on is highest, seconds, shape (N,).
    amplitude, amplitude_off
        a and b, from 0 to 1.

    Examples
    --------
    >>> rates = Rates(np.array([0.2]), np.array([0.6]), np.array([7200.0]), amplitude=0.5)
    >>> comes, goes = rates.shares(np.array([0]), np.array([[7200.0, 50400.0]]))
    >>> comes.round(12).tolist(), goes.tolist()
    ([[0.3, 0.1]], [[0.6, 0.6]])
    """

    on: Floats
    off: Floats
    top: Floats
    amplitude: float = 0.0
    amplitude_off: float = 0.0

    def shares(self, clients: Ints, times: Floats) -> tuple[Floats, Floats]:
        """Rate of coming on at each time, and of going off, for times of shape (k, m).

        Shape (k, m) each, or (k, 1) where they are constant.
        """
        on, off = self.on[clients, None], self.off[clients, None]
        if self.amplitude == self.amplitude_off == 0:
            return on, off
        angle = 2 * np.pi * (np.fmod(times, DAY) - self.top[clients, None]) / DAY
        wave: Floats = in_whole_vectors(np.cos, angle)
        return on * (1 + self.amplitude * wave), off * (1 - self.amplitude_off * wave)
