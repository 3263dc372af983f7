"""Estimators: the weight of a contribution, given who contributed before.

The server aims at F = sum_i a_i f_i, with importance a_i (1/N or n_i / sum n). A contribution of
client i in round t is weighted a_i / q_i, where q_i estimates the probability p_i that it takes
part (RFedAGS, section on arbitrary participation).
"""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from driftfold.arrays import Floats, Ints
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.registry import family

S = TypeVar("S")


@family("estimator")
class Estimator(ABC, Generic[S]):
    """Rule that turns the history of responses into weights.

    The state is a value: it goes in, and a new one comes out; it is part of every snapshot.
    """

    needs_probability: bool = False
    """Whether it needs an attendance with a `KnownProbability` or a `KnownSchedule`."""

    alone: bool = True
    """Whether what a responder weighs is the same whoever else responds in that round."""

    counts_repeats: bool = False
    """Whether q_i may be a rate: the mean number of contributions to a server step, of which one
    client may make several. Then `responders` may hold a client more than once."""

    @abstractmethod
    def begin(self, fleet: Fleet, attendance: Attendance) -> S:
        """Return the state before the first round (a tree of arrays)."""

    def foresee(self, state: S, attendance: Attendance, clients: Ints, round: int) -> S:
        """State that knows what can be told of `clients` and round t before it begins.

        Only these are weighed in that round. Default: unchanged.
        """
        return state

    @abstractmethod
    def weigh(self, state: S, fleet: Fleet, responders: Ints, round: int) -> tuple[Floats, S]:
        """Weights of `responders` in round t = 1, 2, ..., and the state that has seen them.

        `responders` are client ids in ascending order, shape (k,), k >= 1, and distinct unless the
        rule `counts_repeats`; weights, one for each contribution, have shape (k,) and already
        contain the importance a_i.
        """

    def skip(self, state: S, round: int) -> S:
        """State after a round t in which nobody contributed. Default: unchanged."""
        return state
