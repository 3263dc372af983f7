"""Clients that leave for good."""

from dataclasses import dataclass
from typing import Annotated, Literal, final

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Bools, Floats, Ints
from driftfold.errors import SpecError
from driftfold.fleet import Fleet
from driftfold.participation.base import (
    Attendance,
    KnownProbability,
    KnownSchedule,
    Participation,
)
from driftfold.participation.probabilities import Probability
from driftfold.registry import register


@register("dropout")
@dataclass(frozen=True)
class Dropout(Participation):
    """Another kind, from which some clients drop out for good at exact times.

    Attributes
    ----------
    of
        How clients take part until then.
    share
        Share of the clients that drop out, round(share N) of them, drawn at random.
    first, last
        Their times are uniform between these two, each client its own.
    times
        Instead of all that: the time of each client, "never" for those who stay.
    unit
        What times are in: `seconds`, from which on the client is off, or `dispatches`, from whose
        number on it does not answer.

    Examples
    --------
    >>> from driftfold.participation import Always
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(3, 5), importance=np.full(3, 1 / 3))
    >>> attendance = Dropout(Always(), times=(7.0, 9.0, "never")).attend(fleet)
    >>> [attendance.responds(np.arange(3), n).tolist() for n in (6, 7, 9)]
    [[True, True, True], [False, True, True], [False, False, True]]
    """

    of: Participation
    share: Probability = 0.5
    first: Annotated[float, Ge(0)] = 0.0
    last: Annotated[float, Ge(0)] = 1000.0
    times: tuple[Annotated[float, Ge(0)] | Literal["never"], ...] | None = None
    unit: Literal["seconds", "dispatches"] = "dispatches"

    @property
    def knows_probability(self) -> bool:  # type: ignore[override]
        """Whether answers are lost, and the other kind knows its probabilities."""
        return self.unit == "dispatches" and self.of.knows_probability

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `SpecError` when the times do not fit."""
        inner, times = self.of.attend(fleet), self._times(fleet)
        if self.unit == "seconds":
            return LeavesInTime(inner, times)
        if isinstance(inner, KnownProbability | KnownSchedule):
            return KnownLeaves(inner, times)
        return Leaves(inner, times)

    def _times(self, fleet: Fleet) -> Floats:
        """When each client drops out, infinity if never, shape (N,)."""
        if self.times is not None:
            if len(self.times) != fleet.size:
                raise SpecError(
                    f"participation 'dropout' got {len(self.times)} times for {fleet.size} "
                    "clients; give one for each ('never' for those who stay)"
                )
            return np.array([np.inf if t == "never" else t for t in self.times], np.float64)
        if not self.first <= self.last:
            raise SpecError(
                f"participation 'dropout' got first = {self.first}, last = {self.last}; times are "
                "drawn between the two, so set first <= last"
            )
        draws = fleet.seed.stream("participation.dropout")
        chosen = draws.subsets(0, 0, fleet.size, round(self.share * fleet.size))
        times = np.full(fleet.size, np.inf)
        u: Floats = draws.uniform(chosen, 1, 1)[:, 0]
        times[chosen] = self.first + (self.last - self.first) * u
        return times


@final
@dataclass(frozen=True, eq=False)
class LeavesInTime(Attendance):
    """An attendance whose clients are off from a time of their own.

    Attributes
    ----------
    inner
        The attendance until then.
    times
        The times in seconds, shape (N,).
    """

    inner: Attendance
    times: Floats

    def available(self, clients: Ints, t: float) -> Bools:
        """Whether each client is on and has not dropped out, shape (k,)."""
        on: Bools = self.inner.available(clients, t) & (t < self.times[clients])
        return on

    def session_end(self, clients: Ints, t: float) -> Floats:
        """When the session ends or the client drops out, if earlier; t if it is off at t."""
        ends = np.minimum(self.inner.session_end(clients, t), self.times[clients])
        return np.where(t < self.times[clients], ends, float(t))

    def next_on(self, clients: Ints, t: float) -> Floats:
        """When the client is on, infinity if it drops out before."""
        starts = self.inner.next_on(clients, t)
        return np.where(starts < self.times[clients], starts, np.inf)

    def responds(self, clients: Ints, dispatch: int) -> Bools:
        """Whether each client would answer this dispatch, were it on."""
        return self.inner.responds(clients, dispatch)


@dataclass(frozen=True, eq=False)
class Leaves(Attendance):
    """An attendance whose clients answer no dispatch from a number of their own.

    Attributes
    ----------
    inner
        The attendance until then.
    times
        The numbers, which need not be whole, shape (N,).
    """

    inner: Attendance
    times: Floats

    def available(self, clients: Ints, t: float) -> Bools:
        """Whether each client is on, shape (k,)."""
        return self.inner.available(clients, t)

    def session_end(self, clients: Ints, t: float) -> Floats:
        """When each session ends, shape (k,)."""
        return self.inner.session_end(clients, t)

    def next_on(self, clients: Ints, t: float) -> Floats:
        """When each client is on, shape (k,)."""
        return self.inner.next_on(clients, t)

    def responds(self, clients: Ints, dispatch: int) -> Bools:
        """Whether each client would answer and has not dropped out, shape (k,)."""
        answers: Bools = self.inner.responds(clients, dispatch) & (dispatch < self.times[clients])
        return answers


@final
@dataclass(frozen=True, eq=False)
class KnownLeaves(Leaves):
    """The same, where the probabilities until then are known."""

    def probability_at(self, clients: Ints, dispatch: int) -> Floats:
        """Probability that each client answers this dispatch, shape (k,)."""
        if isinstance(self.inner, KnownSchedule):
            p = self.inner.probability_at(clients, dispatch)
        else:
            assert isinstance(self.inner, KnownProbability)
            p = self.inner.probability(clients)
        return np.where(dispatch < self.times[clients], p, 0.0)
