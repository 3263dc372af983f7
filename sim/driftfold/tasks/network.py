"""What the small classifiers on products of manifolds share."""

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np

from driftfold.arrays import Array
from driftfold.data.base import ClientData
from driftfold.errors import SpecError
from driftfold.fleet import Fleet
from driftfold.manifolds.product import Product
from driftfold.tasks.autograd import LossProblem
from driftfold.torch_lazily import load_torch

_SMALL = 0.1  # standard deviation of a weight at the start


class NetworkProblem(LossProblem):
    """Mean cross-entropy of class scores, x a product with the parts ``weights`` and ``bias``.

    Parameters
    ----------
    data
        The clients' samples and classes.
    fleet
        The clients.
    width
        Size of the layer.
    l2
        Weight of the penalty (l2/2) |weights|^2.
    """

    def __init__(self, data: ClientData, fleet: Fleet, width: int, l2: float) -> None:
        if data.y is None or data.label_shares is None:
            raise SpecError(
                "a classifier needs labels and these data have none; name a label file, or use "
                "other data"
            )
        self.classes = int(data.label_shares.shape[1])
        self.dimension = int(data.x.shape[-1])
        self.l2 = l2
        self.product = self.parts(width)
        super().__init__(data, fleet, self.product)

    @abstractmethod
    def parts(self, width: int) -> Product:
        """Return the manifold of a net of some width."""

    @abstractmethod
    def scores(self, x: Array, z: Array) -> Array:
        """Scores of the classes of one client's samples, in torch, shape (n, classes)."""

    def losses(self, x: Array, z: Array, y: Array) -> Array:
        """Cross-entropy of each sample, and the penalty."""
        torch = load_torch()
        each: Array = torch.nn.functional.cross_entropy(self.scores(x, z), y, reduction="none")
        if self.l2:
            each = each + self.l2 / 2 * (self.product.split(x)["weights"] ** 2).sum()
        return each

    def measures(self, x: Array, z: Array, y: Array) -> Mapping[str, Array]:
        """Accuracy."""
        return {"accuracy": (self.scores(x, z).argmax(-1) == y).to(z.dtype)}

    def initial_point(self) -> Array:
        """Return a random layer, under small weights and without bias: classes nearly alike."""
        stream = self.fleet.seed.stream("initial point")
        parts = self.product.split(
            self.product.random_point(stream, np.zeros(1, dtype=np.int64))[0]
        )
        start = self.start(parts)
        return self.product.join(start).astype(self.data.x.dtype)

    def start(self, drawn: Mapping[str, Array]) -> dict[str, Array]:
        """Parts of the first point, from parts drawn at random."""
        return {
            **drawn,
            "weights": _SMALL * drawn["weights"],
            "bias": np.zeros_like(drawn["bias"]),
        }
