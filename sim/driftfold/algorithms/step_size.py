"""Step sizes: alpha as a function of the round."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from annotated_types import Gt, Le, MinLen

from driftfold.registry import family, register


@family("step_size")
class StepSize(ABC):
    """Rule for the local step size of a round."""

    @abstractmethod
    def at(self, version: int) -> float:
        """Step size alpha_t in the round that starts at server version t = 0, 1, 2, ..."""

    def within(self, version: int, steps: int) -> Sequence[float]:
        """Step sizes alpha_{t,k} of the local steps k = 0, 1, ...; one number is for all."""
        return (self.at(version),)


Step: TypeAlias = Annotated[float, Gt(0)] | StepSize
"""A fixed step size, or a rule."""


def sizes_at(step: Step, version: int, steps: int) -> Sequence[float]:
    """Step sizes of a round's local steps, a rule's or fixed; one number is for all."""
    return step.within(version, steps) if isinstance(step, StepSize) else (step,)


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


@register("per_step")
@dataclass(frozen=True)
class PerStep(StepSize):
    """alpha_{t,k} = alpha_t * factor_k: step sizes that change within a round.

    Attributes
    ----------
    rule
        Step size alpha_t of the round, a number or a rule.
    factors
        Factors of the local steps k = 0, 1, ...; the last one is for all that follow.

    >>> PerStep(0.5, factors=(1.0, 0.5)).within(0, 3)
    (0.5, 0.25, 0.25)
    """

    rule: Step
    factors: Annotated[tuple[Annotated[float, Gt(0)], ...], MinLen(1)]

    def at(self, version: int) -> float:
        """Return the size of the first local step."""
        return self.within(version, 1)[0]

    def within(self, version: int, steps: int) -> Sequence[float]:
        """Return the sizes of all local steps."""
        sizes = sizes_at(self.rule, version, steps)
        return tuple(_item(sizes, k) * _item(self.factors, k) for k in range(steps))


def _item(numbers: Sequence[float], k: int) -> float:
    return numbers[min(k, len(numbers) - 1)]
