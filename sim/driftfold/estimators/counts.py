"""How often each client contributed: the state of the frequency estimators."""

import numpy as np

from driftfold.arrays import Ints
from driftfold.columns import Column, replaced
from driftfold.trees import node


@node
class Counts:
    """Number of contributions c_i of each client, shape (N,)."""

    responses: Column[np.int64]

    def counting(self, responders: Ints) -> "Counts":
        """Return the counts with one more response for each of `responders`.

        >>> np.asarray(no_counts(3).counting(np.array([0, 2, 2])).responses)
        array([1, 0, 2])
        """
        clients, more = np.unique(responders, return_counts=True)
        return Counts(replaced(self.responses, clients, self.responses[clients] + more))


def no_counts(size: int) -> Counts:
    """Return the counts of `size` clients before the first round."""
    return Counts(Column(np.zeros(size, dtype=np.int64)))
