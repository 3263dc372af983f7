"""A classifier whose first layer is a point of the Stiefel manifold."""

from driftfold.arrays import Array
from driftfold.manifolds.euclidean import Euclidean
from driftfold.manifolds.product import Product
from driftfold.manifolds.stiefel import Stiefel
from driftfold.tasks.network import NetworkProblem
from driftfold.torch_lazily import load_torch


class StiefelNetwork(NetworkProblem):
    """Class scores tanh(z U^T) W + b, U with `width` orthonormal rows of length d.

    Orthonormal layers neither blow up nor lose what passes through them (Arjovsky, Shah and Bengio
    2016; Lezcano-Casado and Martinez-Rubio 2019). Parts of a point: ``layer`` (width, d) on the
    Stiefel manifold, ``weights`` (width, classes) and ``bias`` (classes,).
    """

    def parts(self, width: int) -> Product:
        """Return the manifold."""
        return Product(
            {
                "layer": Stiefel(width, self.dimension),
                "weights": Euclidean(width, self.classes),
                "bias": Euclidean(self.classes),
            }
        )

    def scores(self, x: Array, z: Array) -> Array:
        """Scores of the classes of one client's samples, shape (n, classes)."""
        parts = self.product.split(x)
        hidden = load_torch().tanh(z @ parts["layer"].mT)
        return hidden @ parts["weights"] + parts["bias"]
