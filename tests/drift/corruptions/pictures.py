"""Pictures for tests: real ones in grey, made ones in colour."""

from collections.abc import Sequence
from functools import cache
from typing import TypeVar

import numpy as np

from driftfold.arrays import Array, Floats, Ints
from driftfold.data import FashionMnistCut
from driftfold.rng import Seed

T = TypeVar("T")


@cache
def _cut() -> Floats:
    pictures: Floats = FashionMnistCut().load(Seed(0)).x[:100].reshape(-1, 28, 28, 1)
    return pictures


def clothes(count: int = 40) -> Floats:
    """Pictures of the Fashion-MNIST cut, shape (count, 28, 28, 1)."""
    return _cut()[:count]


def coloured(count: int = 4, height: int = 32, width: int = 32, seed: int = 1) -> Floats:
    """Pictures of independent values in [0, 1], shape (count, height, width, 3)."""
    return np.random.default_rng(seed).random((count, height, width, 3))


def flat(value: float, count: int = 4) -> Floats:
    """Pictures of one value, shape (count, 32, 32, 3)."""
    return np.full((count, 32, 32, 3), value)


def numbers(x: Array) -> Ints:
    """Rows of the pictures, as if they were the pool."""
    return np.arange(len(x))


def by_severity(constants: Sequence[T]) -> list[tuple[int, T]]:
    """Pair severities with the constants that the benchmark has for them."""
    return list(enumerate(constants, start=1))
