"""Synthetic classes of symmetric positive definite matrices: one centre each."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from driftfold.data.base import Data, Dataset
from driftfold.data.magnitude import check_magnitude
from driftfold.errors import SpecError
from driftfold.registry import register
from driftfold.rng import Seed


@register("spd_classes")
@dataclass(frozen=True)
class SpdClasses(Data):
    """Wishart matrices around the centre of their class, a row each, flattened.

    A sample of class c is R_c W R_c with W = (1/freedom) sum_k z_k z_k^T, z_k ~ N(0, I), and
    R_c = exp(separation S_c / 2), S_c symmetric with independent N(0, 1/size) entries on and above
    the diagonal: what covariances of signals of several kinds look like. Classes take turns.

    Attributes
    ----------
    classes
        Number of classes, 2 or more.
    size
        Size d of a matrix; a row has d^2 numbers.
    samples
        Number of matrices in all.
    freedom
        Degrees of freedom of a sample, at least d; the more, the closer to its centre.
    separation
        How far the centres are apart.

    Examples
    --------
    >>> data = SpdClasses(classes=2, size=3, samples=5, freedom=6).load(Seed(1))
    >>> data.x.shape, data.y.tolist()
    ((5, 9), [0, 1, 0, 1, 0])
    """

    classes: Annotated[int, Ge(2)] = 4
    size: Annotated[int, Gt(0)] = 8
    samples: Annotated[int, Gt(0)] = 1000
    freedom: Annotated[int, Gt(0)] = 20
    separation: Annotated[float, Ge(0)] = 0.5

    def footprint(self) -> int:
        """Bytes of the matrices, of the normals they are made of, and of the centres."""
        rows = 8 * self.samples * self.size * (self.size + self.freedom)
        return rows + 32 * self.classes * self.size**2

    @np.errstate(over="ignore", invalid="ignore")  # what overflows is told by name
    def load(self, seed: Seed) -> Dataset:
        """Generate the matrices."""
        n, d = self.samples, self.size
        if self.freedom < d:
            raise SpecError(
                f"matrices of size {d} with {self.freedom} degrees of freedom are singular; set "
                f"'freedom' to {d} or more"
            )
        drawn = seed.stream("class centres").normal(np.arange(self.classes), 0, d * d)
        square = drawn.reshape(-1, d, d) / np.sqrt(d)
        values, vectors = np.linalg.eigh(np.triu(square) + np.triu(square, 1).swapaxes(-1, -2))
        grown = vectors * np.exp(self.separation * values / 2)[:, None]
        roots = grown @ vectors.swapaxes(-1, -2)
        y = np.arange(n) % self.classes
        normal = seed.stream("data").normal(np.arange(n), 0, d * self.freedom)
        factors = roots[y] @ normal.reshape(n, d, self.freedom) / np.sqrt(self.freedom)
        x = factors @ factors.swapaxes(-1, -2)
        check_magnitude(x, "the matrices", separation=self.separation)
        return Dataset(x=((x + x.swapaxes(-1, -2)) / 2).reshape(n, d * d), y=y)
