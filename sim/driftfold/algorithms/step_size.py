"""Step sizes: alpha as a function of the round."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from annotated_types import Gt, Le

from driftfold.registry import family, register


@family("step_size")
class StepSize(ABC):
    """Rule for the local step size of a round."""

    @abstractmethod
    def at(self, version: int) -> float:
        """Step size alpha in the round that starts at server version 0, 1, 2, ..."""


Step: TypeAlias = Annotated[float, Gt(0)] | StepSize
"""A fixed step size, or a rule."""


@register("fixed")
@dataclass(frozen=True)
class Fixed(StepSize):
    """The same step in every round.

    Attributes
    ----------
    alpha
        The step size.
    """

    alpha: Annotated[float, Gt(0)]

    def at(self, version: int) -> float:
        """Return alpha."""
        return self.alpha


@register("piecewise")
@dataclass(frozen=True)
class Piecewise(StepSize):
    """alpha_0 for the first `period` rounds, then alpha_0 / (shift + floor(t / period)).

    The decay of the RFedAGS experiments on MNIST, with t counted from 0.

    Attributes
    ----------
    alpha
        First step size alpha_0.
    period
        Rounds of one piece.
    shift
        Offset lambda of the denominator.

    >>> [Piecewise(1.0, period=20).at(t) for t in (0, 19, 20, 40)]
    [1.0, 1.0, 0.5, 0.3333333333333333]
    """

    alpha: Annotated[float, Gt(0)]
    period: Annotated[int, Gt(0)] = 20
    shift: Annotated[float, Gt(0)] = 1.0

    def at(self, version: int) -> float:
        """Return the step size of the piece that `version` falls in."""
        if version < self.period:
            return self.alpha
        return self.alpha / (self.shift + version // self.period)


@register("decay")
@dataclass(frozen=True)
class Decay(StepSize):
    """alpha_0 / (shift + t)^power with t = 1, 2, ...: what the convergence theory asks for.

    Attributes
    ----------
    alpha
        Factor alpha_0.
    shift
        Offset beta.
    power
        Exponent a, in (1/2, 1] for convergence.

    >>> Decay(1.0, shift=1.0).at(0)
    0.5
    """

    alpha: Annotated[float, Gt(0)]
    shift: Annotated[float, Gt(0)] = 1.0
    power: Annotated[float, Gt(0), Le(1)] = 1.0

    def at(self, version: int) -> float:
        """Return the step size of round t = version + 1."""
        return float(self.alpha / (self.shift + version + 1) ** self.power)


def step_at(step: Step, version: int) -> float:
    """Size of a fixed step or of a rule's."""
    return step.at(version) if isinstance(step, StepSize) else step
