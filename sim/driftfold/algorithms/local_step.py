"""What every algorithm with local steps sends down: a point and a step size."""

import numpy as np

from driftfold.arrays import Array
from driftfold.trees import node


@node
class Broadcast:
    """Download: the server's point x_t and the round's step size alpha_t."""

    point: Array
    step_size: Array

    @classmethod
    def of(cls, point: Array, step_size: float) -> "Broadcast":
        """Download of `point`, with the step size as an array so that it can be stacked."""
        return cls(point, np.array(step_size, dtype=point.dtype))


@node
class ServerPoint:
    """Server state of the algorithms that keep nothing but the iterate x_t."""

    point: Array
