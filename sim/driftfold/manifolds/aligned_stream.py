"""The gradient stream of the Grassmann manifold whose transport is the aligned projection."""

from driftfold.arrays import Array
from driftfold.manifolds.principal_angles import aligned
from driftfold.manifolds.projected_stream import ProjectedStream


class AlignedStream(ProjectedStream):
    """Sum gradients expressed in the basis of the origin, project once.

    Each gradient is a lift at its own point's basis; sums have a meaning in one basis only.
    """

    def add(self, x: Array, g: Array) -> None:
        """Add g in T_x M, in the basis x; the origin's own basis needs no alignment."""
        super().add(x, g if x is self._origin else aligned(x, self._origin, g))
