"""Sizes of mini-batches: B, or B_{t,k} that change from round to round or from step to step."""

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from annotated_types import Ge, Gt, Le, MinLen

from driftfold.registry import family, register

Counted: TypeAlias = Annotated[int, Ge(1)] | Annotated[float, Gt(0), Le(1)]
"""A number of samples, or a fraction of the client's samples (rounded up)."""

BatchSize: TypeAlias = Counted | Literal["full"]
"""Samples in a mini-batch: a number, a fraction of the client's samples (rounded up), or all."""


@family("batch_rule")
class BatchRule(ABC):
    """Rule for the size of a mini-batch.

    A rule that gives one number draws what the number draws, row by row: each step takes the random
    words that follow those of the step before it. (Plain descent with a number may be left to a
    fused kernel, and with a rule never is, so that results agree to rounding there.)
    """

    @abstractmethod
    def size(self, version: int, step: int) -> Counted:
        """Size in local step k = 0, 1, ... of the round that starts at server version t."""


Batching: TypeAlias = BatchSize | BatchRule
"""One size for all mini-batches, or a rule."""


@register("per_step")
@dataclass(frozen=True)
class PerStep(BatchRule):
    """Sizes of the local steps one after the other, the last one for all that follow.

    Attributes
    ----------
    sizes
        B_0, B_1, ...: numbers, or fractions of the client's samples.

    >>> [PerStep((10, 20)).size(0, k) for k in range(3)]
    [10, 20, 20]
    """

    sizes: Annotated[tuple[Counted, ...], MinLen(1)]

    def size(self, version: int, step: int) -> Counted:
        """Return the size of the step."""
        return self.sizes[min(step, len(self.sizes) - 1)]


@register("growing")
@dataclass(frozen=True)
class Growing(BatchRule):
    """first * factor^floor(t / period) samples in round t, rounded up.

    Attributes
    ----------
    first
        Samples of the first rounds.
    factor
        Growth from one period to the next.
    period
        Rounds of one period.

    >>> [Growing(10, factor=1.5, period=2).size(t, 0) for t in (0, 1, 2, 4)]
    [10, 10, 15, 23]
    """

    first: Annotated[int, Ge(1)]
    factor: Annotated[float, Ge(1)] = 2.0
    period: Annotated[int, Ge(1)] = 100

    def size(self, version: int, step: int) -> Counted:
        """Return the size of the round, the same for all its steps."""
        try:
            size = self.first * self.factor ** (version // self.period)
            return math.ceil(round(size, 9))  # 100 * 1.1 is 110.00000000000001: it means 110
        except OverflowError:  # more than anybody has
            return sys.maxsize
