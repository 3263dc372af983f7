"""Pictures made smaller."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from annotated_types import Ge

from driftfold.data.base import Data, Dataset
from driftfold.data.picture_rows import picture_rows, pictures_of
from driftfold.errors import SpecError
from driftfold.registry import register
from driftfold.rng import Seed


@register("shrunk")
@dataclass(frozen=True)
class Shrunk(Data):
    """Each block of factor x factor pixels becomes its mean: small nets for large pictures.

    Attributes
    ----------
    data
        Pictures; both sides are multiples of the factor.
    factor
        Side of a block.

    Examples
    --------
    >>> from driftfold.data import FashionMnistCut
    >>> data = Shrunk(FashionMnistCut(), factor=2).load(Seed(1))
    >>> data.x.shape, data.shape
    ((2000, 196), (14, 14))
    """

    data: Data
    factor: Annotated[int, Ge(1)] = 2

    def load(self, seed: Seed) -> Dataset:
        """Load the pictures, and take means. Raises `SpecError` where blocks do not fill them."""
        dataset = self.data.load(seed)
        pictures = pictures_of(dataset.x, dataset.shape)
        n, height, width, *channels = pictures.shape
        if height % self.factor or width % self.factor:
            raise SpecError(
                f"pictures of {height} x {width} have no whole blocks of {self.factor} x "
                f"{self.factor}; choose a factor of both sides"
            )
        sides = height // self.factor, width // self.factor
        blocks = pictures.reshape(n, sides[0], self.factor, sides[1], self.factor, *channels)
        small = blocks.mean(axis=(2, 4))
        shape = (*sides, *channels)
        return replace(dataset, x=np.ascontiguousarray(picture_rows(small, shape)), shape=shape)
