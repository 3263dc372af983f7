"""Samples with noise on every number: what makes easy data hard."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from annotated_types import Ge

from driftfold.data.base import Data, Dataset
from driftfold.registry import register
from driftfold.rng import Seed


@register("noisy")
@dataclass(frozen=True)
class Noisy(Data):
    """To each number of a sample comes N(0, sd^2), once for all.

    The noise of a sample depends on the seed and on its number in the data alone, so that it is the
    same whoever meets the sample, and whenever.

    Attributes
    ----------
    data
        What is made noisy.
    sd
        Standard deviation.

    Examples
    --------
    >>> from driftfold.data import Digits
    >>> clean, noisy = Digits().load(Seed(1)), Noisy(Digits(), sd=0.5).load(Seed(1))
    >>> round(float((noisy.x - clean.x).std()), 3), (noisy.y == clean.y).all()
    (0.5, np.True_)
    """

    data: Data
    sd: Annotated[float, Ge(0)] = 0.35

    def load(self, seed: Seed) -> Dataset:
        """Load the data, and add noise."""
        dataset = self.data.load(seed)
        rows = np.arange(len(dataset.x))
        noise = seed.stream("sample noise").normal(rows, 0, dataset.x.shape[1])
        return replace(dataset, x=dataset.x + self.sd * noise, fresh=True)
