"""Synthetic classes: one Gaussian cloud each."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from driftfold.data.base import Data, Dataset
from driftfold.data.magnitude import check_magnitude
from driftfold.registry import register
from driftfold.rng import Seed


@register("gaussian_classes")
@dataclass(frozen=True)
class GaussianClasses(Data):
    """Rows of class c are m_c + z, with z ~ N(0, I) and m_c ~ separation * N(0, I) / sqrt(2).

    Two class centres are then `separation * sqrt(features)` apart in quadratic mean. Classes take
    turns (row j is of class j mod classes), so they differ by at most one row in number.

    Attributes
    ----------
    classes
        Number of classes, 2 or more.
    features
        Length of a row.
    samples
        Number of rows in all.
    separation
        Distance of class centres for each feature, in units of the clouds' standard deviation.

    Examples
    --------
    >>> data = GaussianClasses(classes=3, features=2, samples=7).load(Seed(1))
    >>> data.x.shape, data.y.tolist()
    ((7, 2), [0, 1, 2, 0, 1, 2, 0])
    """

    classes: Annotated[int, Ge(2)] = 25
    features: Annotated[int, Gt(0)] = 20
    samples: Annotated[int, Gt(0)] = 10_000
    separation: Annotated[float, Ge(0)] = 1.0

    def footprint(self) -> int:
        """Bytes of the features, so that absurd sizes are refused before they are drawn."""
        return 8 * self.samples * self.features

    @np.errstate(over="ignore", invalid="ignore")  # what overflows is told by name
    def load(self, seed: Seed) -> Dataset:
        """Generate the rows."""
        y = np.arange(self.samples) % self.classes
        centres = seed.stream("class centres").normal(
            np.arange(self.classes), visits=0, count=self.features
        )
        x = seed.stream("data").normal(np.arange(self.samples), visits=0, count=self.features)
        x += self.separation / np.sqrt(2) * centres[y]
        check_magnitude(x, "the features", separation=self.separation)
        return Dataset(x=x, y=y)
