"""Adaptive-FedAvg: a rate that the server sets by how much its model moves.

Canonaco, G., Bergamasco, A., Mongelluzzo, A., Roveri, M.: "Adaptive federated learning in presence
of concept drift", IJCNN 2021. After round t, with theta_t the mean of what clients sent, moving
means of the model, of its variance, and of the variance's growth tell whether something drifts:

    m_t = b1 m_{t-1} + (1 - b1) theta_t
    v_t = b2 v_{t-1} + (1 - b2) mean((theta_t - m'_{t-1})^2)
    r_t = b3 r_{t-1} + (1 - b3) v'_t / v'_{t-1}
    eta_{t+1} = min(eta_0, eta_0 r'_t / t),

where a prime is division by 1 - b^t. Ours: m'_0 = theta_0, and a growth that cannot be had, in the
first round and where v was 0 up to rounding, counts as 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt

from driftfold.algorithms.adaptation.base import Adapting
from driftfold.algorithms.adaptation.whole_model import Learning, Sending, Whole, WholeModel
from driftfold.algorithms.base import LocalResult
from driftfold.arrays import Array
from driftfold.registry import register
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import node


@node
class Moving:
    """The server's state: theta and eta, and the moving means m, v and r of `rounds` rounds.

    `last` is v'_{t-1}. Means are not yet divided by 1 - b^t.
    """

    theta: Array
    rate: Array
    mean: Array
    variance: Array
    growth: Array
    last: Array
    rounds: Array


@node
class Sent:
    """What the server sends: a model, and the rate to step with."""

    theta: Array
    rate: Array


@register("adaptive_fedavg")
@dataclass(frozen=True)
class AdaptiveFedAvg(WholeModel):
    """One model for all, stepped on by everyone at a rate that falls, and rises when it drifts.

    Attributes
    ----------
    risk
        What clients minimise.
    steps
        Steps of a client a round.
    rate
        eta_0, and the most that eta may be.
    of_mean, of_variance, of_growth
        b1, b2 and b3: what stays of each moving mean.
    """

    rate: Annotated[float, Gt(0)] = 0.01
    of_mean: Annotated[float, Ge(0), Lt(1)] = 0.7
    of_variance: Annotated[float, Ge(0), Lt(1)] = 0.3
    of_growth: Annotated[float, Ge(0), Lt(1)] = 0.7

    def phases(self, problem: Problem) -> Sequence[Adapting]:
        """One exchange."""
        assert isinstance(problem, StreamProblem)
        return (Averaging(self, problem),)

    def begin(self, problem: Problem, x: Array) -> Moving:
        """Start from the trained model, at the largest rate."""
        zero = np.zeros(())
        rounds = np.zeros((), dtype=np.int64)
        return Moving(x, np.array(self.rate), np.zeros_like(x), zero, zero, zero, rounds)

    def looked(self, state: Moving, theta: Array) -> Moving:
        """Return the state after a round whose mean model is theta, (P,)."""
        t, last = int(state.rounds) + 1, float(state.last)
        before = state.mean / (1 - self.of_mean ** (t - 1)) if t > 1 else state.theta
        away = _beyond_rounding(theta, before)
        mean = self.of_mean * state.mean + (1 - self.of_mean) * theta
        variance = self.of_variance * float(state.variance) + (1 - self.of_variance) * away
        present = variance / (1 - self.of_variance**t)
        growth = present / last if last > 0 else 1.0
        growth = self.of_growth * float(state.growth) + (1 - self.of_growth) * growth
        rate = self.rate * min(1.0, growth / (1 - self.of_growth**t) / t)
        return Moving(
            theta,
            np.array(rate),
            mean.astype(theta.dtype),
            np.array(variance),
            np.array(growth),
            np.array(present),
            np.array(t, dtype=np.int64),
        )


def _beyond_rounding(theta: Array, before: Array) -> float:
    """Mean square of theta - before; 0 where that is what rounding makes of equal models."""
    exact = theta.astype(np.float64)
    least = np.square(4 * np.finfo(theta.dtype).eps * exact).mean()
    away = float(np.square(exact - before).mean())
    return away if away > least else 0.0


@dataclass(frozen=True)
class Averaging(Sending):
    """Predict with the server's model, step on it, and send it."""

    algorithm: AdaptiveFedAvg

    def broadcast(self, state: Moving, version: int) -> Sent:
        """Send model and rate."""
        return Sent(state.theta, state.rate)

    def adapt(
        self, download: Sent, view: StreamView, memory: Learning, steps: int
    ) -> LocalResult[Whole]:
        """Predict first, then step."""
        theta, rates = download.theta.copy(), download.rate.copy()
        memory, figures = self.meet(theta, self.predict(theta, view), view, memory, rates)
        theta = self.descend(theta, view, memory, rates, steps)
        memory, after = self.close(theta, view, memory)
        return LocalResult(Whole(theta), memory, {**figures, **after})

    def advance(self, state: Moving, total: Array) -> tuple[Moving, Mapping[str, float]]:
        """Average, and look at how far that is from the mean so far."""
        made = self.algorithm.looked(state, state.theta + total.astype(state.theta.dtype))
        return made, {"next_rate": float(made.rate)}

    def download_bytes(self) -> int:
        """The model and a rate."""
        return self.upload_bytes() + 8
