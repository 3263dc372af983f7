"""A classifier of symmetric positive definite matrices."""

from collections.abc import Mapping
from math import isqrt

import numpy as np

from driftfold.arrays import Array
from driftfold.errors import SpecError
from driftfold.manifolds.euclidean import Euclidean
from driftfold.manifolds.product import Product
from driftfold.manifolds.spd import Spd
from driftfold.manifolds.stiefel import Stiefel
from driftfold.tasks.network import NetworkProblem
from driftfold.tasks.spectral import log_above
from driftfold.torch_lazily import load_torch

_FLOOR = 1e-4  # of eigenvalues, the threshold of SPDNet's layer "ReEig"


class SpdNetwork(NetworkProblem):
    """Class scores from log(max(A^-1 (U S U^T) A^-T, floor)) of a sample S, a d x d matrix.

    The layers of SPDNet (Huang and Van Gool 2017, "A Riemannian network for SPD matrix learning"):
    "BiMap" with U on the Stiefel manifold, "ReEig" and "LogEig", and a linear layer. Between them
    the matrices are centred at P = A A^T, a point of the SPD manifold, as the bias of Riemannian
    batch normalisation does (Brooks et al. 2019). Parts of a point: ``layer`` (width, d),
    ``centre`` (width, width), ``weights`` (width (width + 1) / 2, classes) and ``bias`` (classes,).
    """

    def parts(self, width: int) -> Product:
        """Return the manifold; raises `SpecError` when samples are no square matrices."""
        size = isqrt(self.dimension)
        if size * size != self.dimension or width > size:
            raise SpecError(
                f"a layer of width {width} needs samples that are square matrices of at least that "
                f"size, one a row; rows have {self.dimension} numbers; use other data, or lower "
                "the width"
            )
        self.size = size
        return Product(
            {
                "layer": Stiefel(width, size),
                "centre": Spd(width),
                "weights": Euclidean(width * (width + 1) // 2, self.classes),
                "bias": Euclidean(self.classes),
            }
        )

    def start(self, drawn: Mapping[str, Array]) -> dict[str, Array]:
        """Start centred at the identity."""
        return {**super().start(drawn), "centre": np.eye(drawn["centre"].shape[-1])}

    def scores(self, x: Array, z: Array) -> Array:
        """Scores of the classes of one client's matrices, shape (n, classes)."""
        torch = load_torch()
        parts = self.product.split(x)
        layer = torch.linalg.solve(parts["centre"], parts["layer"])
        mapped = layer @ z.reshape(-1, self.size, self.size) @ layer.mT
        logs = log_above(mapped, _FLOOR)
        # The upper triangle, off-diagonal entries times sqrt 2: the same length as the matrix.
        rows, columns = np.triu_indices(layer.shape[0])
        scale = torch.as_tensor(np.where(rows == columns, 1.0, 2**0.5), dtype=z.dtype)
        features = logs[..., rows, columns] * scale
        return features @ parts["weights"] + parts["bias"]
