"""Rates: how large a client's steps are while it adapts."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from driftfold.arrays import Array, Floats, Ints
from driftfold.registry import family
from driftfold.signals.base import Observed
from driftfold.tasks.streams.problem import StreamProblem


@dataclass(frozen=True, eq=False)
class Meeting:
    """What is known when k clients meet a batch, before any step.

    Attributes
    ----------
    clients, steps
        Who, and at which steps of their streams, shape (k,).
    inputs
        The batches, shape (k, n, *inputs).
    observed
        What the clients' models say of them.
    look
        What the same models say of other batches (k, n, *inputs).
    """

    clients: Ints
    steps: Ints
    inputs: Array
    observed: Observed
    look: Callable[[Array], Observed]


@family("rate")
class Rate(ABC):
    """Rule for a client's rate eta. A memory is a value: it goes in, and a new one comes out."""

    steers: ClassVar[bool] = False
    """Whether it changes the rate from one local step to the next, by `size`."""

    @property
    def every_round(self) -> bool:
        """Whether it meets a batch in every round of a step. Default: in the first alone."""
        return False

    def begin(self, problem: StreamProblem) -> Any:
        """Memory of a client before its first batch. Default: none."""
        return None

    @abstractmethod
    def meet(self, problem: StreamProblem, memory: Any, meeting: Meeting) -> tuple[Floats, Any]:
        """Return eta (k,) and the memory, once a step, or once a round."""

    def told(self, memory: Any) -> Mapping[str, Floats]:
        """Named figures (k,) of the latest step, for the records. Default: none."""
        return {}

    def size(
        self, problem: StreamProblem, rate: Floats, memory: Any, theta: Array, gradient: Array
    ) -> tuple[Floats, Any]:
        """Rate (k,) of one local step from theta (k, P) along -gradient, and the memory.

        Default: that of the meeting.
        """
        return rate, memory


def moved(theta: Array, rate: Floats, gradient: Array) -> Array:
    """Theta - eta gradient, in the type of theta, (k, P)."""
    made: Array = theta - rate.astype(theta.dtype)[:, None] * gradient
    return made
