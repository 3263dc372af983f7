"""Participation: when clients are there, and whether they answer."""

from abc import ABC, abstractmethod
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from driftfold.arrays import Bools, Floats, Ints
from driftfold.fleet import Fleet
from driftfold.registry import family


class Attendance(ABC):  # noqa: B024 - every query has a default; a model overrides what it is about
    """One fleet's availability (continuous time) and response (per dispatch).

    A pure function of (seed, client, time or dispatch): queries come in any order and change
    nothing. `clients` has shape (k,); results have shape (k,). A session is the half-open interval
    [start, end): at the very instant of its end the client is off, but work that ends at that
    instant still counts.
    """

    def available(self, clients: Ints, t: float) -> Bools:
        """Whether each client is on at virtual time t (seconds). Default: always."""
        return np.ones(len(clients), dtype=bool)

    def session_end(self, clients: Ints, t: float) -> Floats:
        """When the session running at t ends (seconds, inf if never); t if the client is off."""
        return np.full(len(clients), np.inf)

    def next_on(self, clients: Ints, t: float) -> Floats:
        """Earliest time >= t at which each client is on; inf if that never comes."""
        return np.full(len(clients), float(t))

    def responds(self, clients: Ints, dispatch: int) -> Bools:
        """Whether each client would answer dispatch number `dispatch` (0, 1, 2, ...)."""
        return np.ones(len(clients), dtype=bool)


@runtime_checkable
class KnownProbability(Protocol):
    """Capability: the probability that a client contributes to a round is computable."""

    def probability(self, clients: Ints) -> Floats:
        """Probability p_i that each client contributes to one dispatch, shape (k,)."""
        ...


@runtime_checkable
class KnownSchedule(Protocol):
    """Capability: that probability is computable, but changes from dispatch to dispatch."""

    def probability_at(self, clients: Ints, dispatch: int) -> Floats:
        """Probability that each client contributes to this dispatch (0, 1, ...), shape (k,)."""
        ...


@family("participation")
class Participation(ABC):
    """Configuration of an attendance model."""

    knows_probability: ClassVar[bool] = False
    """Whether its attendances have a `KnownProbability` or a `KnownSchedule`; told before there are
    any data."""

    @abstractmethod
    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance of `fleet`, addressed by its seed."""
