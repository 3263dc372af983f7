"""A Kalman filter on the probability itself, which walks at random, and may have seasons.

Kalman, R. E.: "A new approach to linear filtering and prediction problems", 1960, with the variance
of a response at the predicted probability in place of a known one (West, Harrison: Bayesian
Forecasting and Dynamic Models, 1997, chapter 14). Abrupt changes: Page, E. S.: "Continuous
inspection schemes", 1954 (CUSUM). Seasons: Fourier regressors, West and Harrison, section 8.6.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le

from driftfold.arrays import Bools, Floats, Ints
from driftfold.estimators.base import Estimator
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.registry import register
from driftfold.trees import node

_LEAST_NOISE = 0.01  # variance of a response; that of p = 0 or 1 would stop all learning


@node
class Filter:
    """Of each client: coefficients, (N, n), their covariance, (N, n, n), and two CUSUMs, (N,)."""

    theta: Floats
    covariance: Floats
    rise: Floats
    fall: Floats


@register("kalman")
@dataclass(frozen=True)
class Kalman(Estimator[Filter]):
    """Weight a_i / m_i, m_i the filter's prediction of p_i for round t from the rounds before.

    p_i(t) = theta_i . phi(t), where theta_i walks at random with variance `drift` a round. Without
    a period phi = (1): the gain settles near sqrt(drift / (p (1 - p))), a memory of some
    sqrt(p (1 - p) / drift) rounds. A response moves a client's gain as a silence does, and neither
    has a closed form over many rounds: so every round costs a few NumPy operations on all clients.

    Attributes
    ----------
    drift
        Variance Q of a coefficient's step in one round.
    start
        Probability before the first round.
    spread
        Variance P_0 of the coefficients before the first round and after a reset.
    smallest
        Smallest probability that is believed: no weight is above a_i / smallest.
    threshold
        Level h of the two one-sided CUSUMs of (response - m) above which the variance becomes P_0
        again, as after an abrupt change; None never resets. With the large gain after a reset few
        silent rounds take m down to `smallest`: then give a larger one.
    slack
        What each round takes from both CUSUMs, so that noise does not add up.
    period
        Length of a season in rounds, or None.
    harmonics
        Pairs of sine and cosine of the season.

    >>> from driftfold.participation import Always
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> rule = Kalman()
    >>> state = rule.begin(fleet, Always().attend(fleet))
    >>> weights, state = rule.weigh(state, fleet, np.array([0]), round=1)
    >>> rule.weigh(state, fleet, np.array([0, 1]), round=2)[0].round(3)
    array([0.667, 2.   ])
    """

    drift: Annotated[float, Ge(0)] = 1e-4
    start: Annotated[float, Gt(0), Le(1)] = 0.5
    spread: Annotated[float, Gt(0)] = 0.25
    smallest: Annotated[float, Gt(0), Le(1)] = 0.01
    threshold: Annotated[float, Gt(0)] | None = None
    slack: Annotated[float, Ge(0)] = 0.1
    period: Annotated[float, Gt(1)] | None = None
    harmonics: Annotated[int, Ge(1)] = 1

    def begin(self, fleet: Fleet, attendance: Attendance) -> Filter:
        """All clients have probability `start`, and no season is known."""
        size, count = fleet.size, len(self._regressors(1))
        theta, nothing = np.zeros((size, count)), np.zeros(size)
        theta[:, 0] = self.start
        covariance = np.broadcast_to(self.spread * np.eye(count), (size, count, count)).copy()
        return Filter(theta, covariance, nothing, nothing)

    def weigh(
        self, state: Filter, fleet: Fleet, responders: Ints, round: int
    ) -> tuple[Floats, Filter]:
        """Return a_i / m_i for `round`, and the filter that has seen it."""
        p = self._probability(state.theta[responders], self._regressors(round))
        answers = np.zeros(len(state.theta), dtype=bool)
        answers[responders] = True
        return fleet.importance[responders] / p, self._after(state, answers, round)

    def skip(self, state: Filter, round: int) -> Filter:
        """Everybody was silent."""
        return self._after(state, np.zeros(len(state.theta), dtype=bool), round)

    def _regressors(self, round: int) -> Floats:
        if self.period is None:
            return np.ones(1)
        angle = 2 * np.pi * round / self.period * np.arange(1, self.harmonics + 1)
        return np.concatenate([[1.0], np.cos(angle), np.sin(angle)])

    def _probability(self, theta: Floats, phi: Floats) -> Floats:
        p: Floats = np.clip((theta * phi).sum(axis=-1), self.smallest, 1.0)
        return p

    def _after(self, state: Filter, answers: Bools, round: int) -> Filter:
        """One prediction and one correction of every client."""
        phi = self._regressors(round)
        count = len(phi)
        m = self._probability(state.theta, phi)
        off = answers - m
        covariance = state.covariance + self.drift * np.eye(count)
        toward = (covariance * phi).sum(axis=-1)
        noise = np.maximum(m * (1 - m), _LEAST_NOISE)
        gain = toward / ((toward * phi).sum(axis=-1) + noise)[:, None]
        theta = state.theta + gain * off[:, None]
        # What leaves [smallest, 1] is put back by the constant, whose regressor is 1.
        theta[:, 0] += self._probability(theta, phi) - (theta * phi).sum(axis=-1)
        covariance = covariance - gain[:, :, None] * toward[:, None, :]
        if self.threshold is None:
            return Filter(theta, covariance, state.rise, state.fall)
        rise = np.maximum(state.rise + off - self.slack, 0.0)
        fall = np.maximum(state.fall - off - self.slack, 0.0)
        changed = (rise > self.threshold) | (fall > self.threshold)
        covariance[changed] = self.spread * np.eye(count)
        rise[changed] = fall[changed] = 0.0
        return Filter(theta, covariance, rise, fall)
