"""Flash: an adaptive server that steps further where updates vary more than they used to.

Panchal, K., Choudhary, S., Mitra, S., et al.: "Flash: concept drift adaptation in federated
learning", ICML 2023. With g the mean update of a round, elementwise,

    m  = b1 m + (1 - b1) g
    v  = b2 v' + (1 - b2) g^2                       v' the v before, 1e-6 at first
    b3 = |v'| / (|g^2 - v| + |v'|)
    d  = b3 d + (1 - b3) (g^2 - v)
    theta = theta + eta m / (sqrt(v) - d + tau).

d is large where g^2 has just left its mean, which is what drift looks like. A client stops after
its step e = 0, 1, ... where that lowered its loss, but by less than gamma / (e + 1).

The denominator may be 0 or negative where d is above sqrt(v) + tau; here it is at least tau, which
is what it is where there is no variance at all. The authors look at a client's loss on data that
it has set aside; of a few labels nothing is set aside here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt

from driftfold.algorithms.adaptation.whole_model import Learning, Sending, Whole, WholeModel
from driftfold.algorithms.base import LocalResult
from driftfold.arrays import Array
from driftfold.rates.base import moved
from driftfold.registry import register
from driftfold.risks.scene import Scene
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import node


@node
class Driven:
    """The server's state: theta, and the moments m, v and d, all (P,)."""

    theta: Array
    mean: Array
    variance: Array
    drift: Array


@register("flash")
@dataclass(frozen=True)
class Flash(WholeModel):
    """Clients that stop early, and a server whose step has a term for drift.

    It was published for labelled data; here the risk says what clients know: a few labels, or what
    takes their place (`pseudo_labels`: what the present model names).

    Attributes
    ----------
    risk
        What clients minimise.
    steps
        Most steps of a client a round.
    rate
        Of these steps.
    patience
        gamma: a step that lowers the loss by less than gamma / (e + 1) is the last; 0: never.
    server_rate
        eta.
    mean_decay, variance_decay
        b1 and b2.
    floor
        tau, the least denominator.
    """

    steps: Annotated[int, Gt(0)] = 5
    rate: Annotated[float, Gt(0)] = 0.03
    patience: Annotated[float, Ge(0)] = 0.004
    server_rate: Annotated[float, Gt(0)] = 0.01
    mean_decay: Annotated[float, Ge(0), Lt(1)] = 0.9
    variance_decay: Annotated[float, Ge(0), Lt(1)] = 0.99
    floor: Annotated[float, Gt(0)] = 1e-3

    def phases(self, problem: Problem) -> Sequence[Sending]:
        """One."""
        assert isinstance(problem, StreamProblem)
        return (Stopping(self, problem),)

    def begin(self, problem: Problem, x: Array) -> Driven:
        """Start from the trained model."""
        none = np.zeros_like(x)
        return Driven(x, none, np.full_like(x, 1e-6), none)


@dataclass(frozen=True)
class Stopping(Sending):
    """Predict, descend for as long as it helps, and send the model."""

    algorithm: Flash

    def broadcast(self, state: Driven, version: int) -> Whole:
        """Send the model."""
        return Whole(state.theta)

    def adapt(
        self, download: Whole, view: StreamView, memory: Learning, steps: int
    ) -> LocalResult[Whole]:
        """Predict first, then descend; who has stopped waits for the others of the stack."""
        rule, scene = self.algorithm, Scene.of(self.problem, view)
        rate = np.full(len(view.clients), rule.rate)
        logits = self.predict(download.theta, view)
        memory, figures = self.meet(download.theta, logits, view, memory, rate)
        theta, going, taken = download.theta, np.ones(len(rate), dtype=bool), np.zeros(len(rate))
        slope = rule.risk.slope(theta, scene, memory.belief, turn=0)
        for turn in range(steps):
            theta = np.where(going[:, None], moved(theta, rate, slope.gradient), theta)
            taken = taken + going
            if turn + 1 == steps:
                break
            before = slope.value
            slope = rule.risk.slope(theta, scene, memory.belief, turn=turn + 1)
            drop = before - slope.value
            going &= ~((drop > 0) & (drop < rule.patience / (turn + 1)))
        memory, after = self.close(theta, view, memory)
        return LocalResult(Whole(theta), memory, {**figures, **after, "local_steps": taken})

    def advance(self, state: Driven, total: Array) -> tuple[Driven, Mapping[str, float]]:
        """Move by the moments of the mean update."""
        rule, kind, g = self.algorithm, state.theta.dtype, total
        square, old = g * g, state.variance
        mean = rule.mean_decay * state.mean + (1 - rule.mean_decay) * g
        v = rule.variance_decay * old + (1 - rule.variance_decay) * square
        keep = old / np.maximum(np.abs(square - v) + old, np.finfo(kind).tiny)
        drift = keep * state.drift + (1 - keep) * (square - v)
        below = np.sqrt(v) - drift + rule.floor
        guarded = below < rule.floor
        theta = state.theta + rule.server_rate * mean / np.where(guarded, rule.floor, below)
        state = Driven(*(x.astype(kind) for x in (theta, mean, v, drift)))
        return state, {"guarded": float(guarded.mean()), "drift": float(drift.mean())}

    def download_bytes(self) -> int:
        """The model."""
        return self.upload_bytes()
