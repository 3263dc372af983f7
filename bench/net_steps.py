"""Steps of entropy descent of driftfold's own nets, for stacks of clients."""

from collections.abc import Callable
from typing import Any

import numpy as np

from driftfold.nets import Model
from driftfold.nets.losses import entropy
from driftfold.rng import Seed

SIZES, CLASSES, BATCH, REFERENCE, RATE = (64, 32, 16, 10), 10, 50, 200, 1e-3

Step = Callable[[], Any]


def starts(model: Model, clients: int, n: int) -> tuple[Any, Any]:
    """Parameters of some clients, and a batch of each."""
    theta = model.initial(Seed(1).stream("initial"))
    rng = np.random.default_rng(2)
    x = rng.standard_normal((clients, n, *model.inputs)).astype(model.dtype)
    return np.repeat(theta[None], clients, axis=0), x


def stacked(model: Model, clients: int, n: int = BATCH) -> Step:
    """All clients at once."""
    theta, x = starts(model, clients, n)
    return lambda: descend(model, theta, x)


def one_at_a_time(model: Model, clients: int) -> Step:
    """The same model on one client after the other."""
    theta, x = starts(model, clients, BATCH)

    def once() -> None:
        for own, batch in zip(theta, x, strict=True):
            descend(model, own, batch)

    return once


def on_reference(model: Model, clients: int) -> Step:
    """All clients at once on one set of inputs, as when the risk is that of stored data."""
    theta, x = starts(model, clients, BATCH)
    shared = np.resize(x[0], (REFERENCE, *model.inputs))
    return lambda: descend(model, theta, shared)


def descend(model: Model, theta: Any, x: Any, rate: float = RATE) -> None:
    """Take one step of descent on the mean entropy, in place."""
    ran = model.forward(theta, x)
    slope = entropy(ran.logits)[1] / model.dtype.type(x.shape[-len(model.inputs) - 1])
    theta -= model.dtype.type(rate) * ran.pullback(slope)
