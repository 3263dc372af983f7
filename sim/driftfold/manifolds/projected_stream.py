"""The gradient stream of a manifold whose transport is the orthogonal projection."""

from driftfold.arrays import Array
from driftfold.manifolds.base import GradientStream


class ProjectedStream(GradientStream):
    """Sum gradients as they are, project once.

    Projection onto the tangent space of the origin is linear, so the projected sum is the sum of
    the projections, and a gradient at the origin itself is left as it is.
    """

    _own = False

    def add(self, x: Array, g: Array) -> None:
        """Add g in T_x M; where x is does not matter to a projection."""
        if self._sum is None:
            self._sum = g
        elif self._own and self._sum.shape == g.shape:
            self._sum += g
        else:
            self._sum = self._sum + g
            self._own = True

    def total(self) -> Array:
        """Return the sum of all that was added, projected onto the origin's tangent space."""
        return self._manifold.project(self._origin, super().total())
