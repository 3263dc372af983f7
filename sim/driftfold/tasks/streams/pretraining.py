"""Training before deployment: Adam on labelled source data, done once and kept."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Array, Floats, Ints
from driftfold.errors import RunError
from driftfold.nets.base import Model
from driftfold.nets.losses import cross_entropy
from driftfold.nets.masks import Masks
from driftfold.rng import Seed

_FIRST, _SECOND, _SMALL = 0.9, 0.999, 1e-8  # Kingma and Ba's own constants


@dataclass(frozen=True)
class Pretraining:
    """How the model is trained that clients start from.

    Adam (Kingma and Ba, ICLR 2015) on the cross-entropy of mini-batches, drawn anew each epoch
    without replacement; what does not fill a last mini-batch waits for another epoch.

    Attributes
    ----------
    epochs
        Times that the source is gone through.
    batch
        Examples of a mini-batch; all of them where there are fewer.
    rate
        Adam's step size.

    Examples
    --------
    >>> from driftfold.nets import LinearHead
    >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> model = LinearHead().model((2,), classes=2)
    >>> theta = Pretraining(epochs=50, batch=2, rate=0.1).train(model, x, np.arange(2), Seed(1))
    >>> model.forward(theta, x).logits.argmax(axis=-1).tolist()
    [0, 1]
    """

    epochs: Annotated[int, Gt(0)] = 100
    batch: Annotated[int, Gt(0)] = 64
    rate: Annotated[float, Gt(0)] = 1e-3

    def train(self, model: Model, x: Array, y: Ints, seed: Seed) -> Floats:
        """Return the parameters after training on x (m, *inputs) with classes y (m,), shape (P,).

        Raises `RunError` when they grow beyond all bounds.
        """
        stream, dropout = seed.stream("pretraining batches"), seed.stream("pretraining dropout")
        theta = model.initial(seed.stream("pretraining start")).astype(model.dtype)
        first, second = np.zeros_like(theta), np.zeros_like(theta)
        size, step = min(self.batch, len(y)), 0
        for epoch in range(self.epochs):
            order = stream.subsets(0, epoch, len(y), len(y))
            for start in range(0, len(y) - size + 1, size):
                rows = order[start : start + size]
                masks = Masks(dropout, np.asarray(0), np.asarray(step))
                made = model.forward(theta, x[rows], "train", masks)
                _, gradient = cross_entropy(made.logits, y[rows])
                g = made.pullback(gradient / size)
                theta, step = made.moved, step + 1
                first = _FIRST * first + (1 - _FIRST) * g
                second = _SECOND * second + (1 - _SECOND) * g * g
                scale = np.sqrt(second / (1 - _SECOND**step)) + _SMALL
                theta = theta - self.rate * (first / (1 - _FIRST**step) / scale)
        if not np.isfinite(theta).all():
            raise RunError(
                f"training before deployment ran away at a rate of {self.rate}; take a smaller one"
            )
        return theta
