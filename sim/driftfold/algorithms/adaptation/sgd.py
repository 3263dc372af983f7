"""Gradient steps with momentum and decay, as torch has them (Sutskever et al., ICML 2013)."""

from dataclasses import dataclass

from driftfold.arrays import Array


@dataclass(frozen=True)
class Sgd:
    """v <- momentum v + g + decay x, x <- x - rate v.

    Attributes
    ----------
    rate, momentum, decay
        Its constants.

    Examples
    --------
    >>> import numpy as np
    >>> Sgd(0.1, 0.9, 0.0).step(np.ones(1), np.ones(1), np.ones(1))
    (array([0.81]), array([1.9]))
    """

    rate: float
    momentum: float
    decay: float

    def step(self, x: Array, gradient: Array, velocity: Array) -> tuple[Array, Array]:
        """Parameters and velocities after a step, of the shape and type of x."""
        kind = x.dtype.type
        velocity = kind(self.momentum) * velocity + gradient + kind(self.decay) * x
        return x - kind(self.rate) * velocity, velocity
