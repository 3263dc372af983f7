"""How often each client contributed: the state of the frequency estimators."""

import numpy as np

from driftfold.arrays import Ints
from driftfold.trees import node


@node
class Counts:
    """Number of contributions c_i of each client, shape (N,)."""

    responses: Ints

    def counting(self, responders: Ints) -> "Counts":
        """Return the counts with one more response for each of `responders`.

        >>> Counts(np.array([2, 0, 1])).counting(np.array([0, 1])).responses
        array([3, 1, 1])
        """
        seen = self.responses.copy()
        np.add.at(seen, responders, 1)
        return Counts(seen)


def no_counts(size: int) -> Counts:
    """Return the counts of `size` clients before the first round."""
    return Counts(np.zeros(size, dtype=np.int64))
