"""Compute: how the tensor work of clients is carried out.

Work costs virtual time by the latency model, whatever it costs in reality; so it is done when its
result is needed, for everyone at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from driftfold.algorithms.base import LocalResult, Phase
from driftfold.arrays import Floats, Ints
from driftfold.registry import family
from driftfold.tasks.base import Problem


@dataclass(frozen=True)
class Stack:
    """Pieces of work of one phase and one number of steps, one a client, in ascending order.

    `times` (virtual seconds), shape (C,), says when each client was asked: it sees its data of that
    moment. `downloads` has one tree for all (`shared`), or one tree a client. `memory` is a tree
    with a leading client axis, or None; where it is `spare`, results may be written over it.
    """

    phase: Phase[Any, Any, Any]
    steps: int
    clients: Ints
    dispatches: Ints
    times: Floats
    downloads: Sequence[Any]
    shared: bool
    memory: Any
    spare: bool = False


class Engine(ABC):
    """Carries out stacks of work."""

    strict: bool = False
    """Whether an exception is the algorithm's fault and ends the run, whatever the policy."""

    payload_bytes: int = 64_000_000
    """How much of what clients send is held at a time, where the server needs its sum alone: as
    many clients are worked out and added, then the next ones. Results do not depend on it, so that
    it is no part of a specification."""

    @abstractmethod
    def run(self, stack: Stack) -> LocalResult[Any]:
        """Results with a leading client axis, in the order of the stack."""


@family("compute")
class Compute(ABC):
    """Configuration of an engine."""

    @abstractmethod
    def engine(self, problem: Problem) -> Engine:
        """Return the engine for `problem`."""
