"""The last linear layer of a net, class by class: one row of weights and one bias each."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from driftfold.arrays import Array, Bools
from driftfold.errors import CapabilityError
from driftfold.nets.base import Model


@dataclass(frozen=True, eq=False)
class ClassHeads:
    """Where the last layer is, and its numbers in order of the classes.

    Attributes
    ----------
    model
        The net.

    Examples
    --------
    >>> from driftfold.nets import Mlp
    >>> heads = ClassHeads(Mlp((4,)).model((3,), classes=2))
    >>> int(heads.where.sum()), heads.by_class(np.arange(10.0)).tolist()
    (10, [[0.0, 1.0, 2.0, 3.0, 8.0], [4.0, 5.0, 6.0, 7.0, 9.0]])
    >>> heads.flat(heads.by_class(np.arange(10.0))).tolist() == list(range(10))
    True
    """

    model: Model

    def check(self) -> None:
        """Raise `CapabilityError` unless the net ends with a linear layer with biases."""
        shapes = [entry.shape for entry in self.model.layout.entries[-2:]]
        k = self.model.classes
        if len(shapes) < 2 or len(shapes[0]) != 2 or shapes[0][0] != k or shapes[1] != (k,):
            raise CapabilityError(
                f"heads are put together class by class from a last layer of weights ({k}, m) and "
                f"biases ({k},), and this net ends with arrays of shapes {shapes}; choose another"
            )

    @cached_property
    def where(self) -> Bools:
        """Which parameters are of the last layer, shape (P,)."""
        return self.model.layout.where(self.model.layout.names[-2:])

    @cached_property
    def in_head(self) -> Bools:
        """Which of the head's parameters are of the last layer, shape of the head's vector."""
        return self.where[self.model.layout.where(self.model.head)]

    def by_class(self, values: Array) -> Array:
        """Rows with biases, (..., K, m + 1), of the last layer's numbers (..., K (m + 1))."""
        k, size = self.model.classes, values.shape[-1]
        weights = values[..., : size - k].reshape(*values.shape[:-1], k, -1)
        return np.concatenate([weights, values[..., size - k :, None]], axis=-1)

    def flat(self, rows: Array) -> Array:
        """The last layer's numbers (..., K (m + 1)) of rows with biases (..., K, m + 1)."""
        weights = rows[..., :-1].reshape(*rows.shape[:-2], -1)
        return np.concatenate([weights, rows[..., -1]], axis=-1)
