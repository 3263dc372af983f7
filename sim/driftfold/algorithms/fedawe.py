"""FedAWE: clients go on from their own points, and make up for the rounds that they missed.

Xiang, M., Ioannidis, S., Yeh, E., Joe-Wong, C., Su, L.: "Efficient federated learning against
heterogeneous and non-stationary client unavailability", NeurIPS 2024. Client i keeps a point x_i
and the round tau_i in which it last took part. On a manifold (our form; flat, it is the paper's):

    client:  K local steps from x_i give the gradient stream zeta_i in T_{x_i} M; it sends
             x_i' = R_{x_i}(-eta (t - tau_i) zeta_i)    (adaptive innovation echoing)
    server:  x_{t+1} = Exp_{x_t}(sum_i w_i Exp^{-1}_{x_t}(x_i')), and back to the responders alone
             (implicit gossiping): x_i = x_{t+1}, tau_i = t.

No probability is needed: who comes half as often counts twice when it comes. Weights are 1/|S_t|
(estimator "none"). A round has two phases, since what the clients keep is what they get in the end:
the model goes down last, not first. A client that is lost in between keeps what it had. The first
iterate is known to all. The clipping of the released program is not part of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from driftfold.algorithms.base import Arrivals, LocalResult, Phase
from driftfold.algorithms.local_steps import LocalWork, ServerPoint
from driftfold.algorithms.step_size import sizes_at
from driftfold.algorithms.tangent_mean import TangentMean
from driftfold.arrays import Array, Floats, Ints, along
from driftfold.manifolds.base import Exponential, InvertibleRetraction
from driftfold.registry import register
from driftfold.tasks.base import Problem, View
from driftfold.trees import node


@node
class Call:
    """Download of the first phase: alpha_{t,k} and t, but no point."""

    step_size: Array
    version: Array


@node
class Echo:
    """Payload of the first phase: the point x_i', far from the server's if the client was away."""

    point: Array


@node
class Gossip:
    """Download of the second phase: x_{t+1} and t."""

    point: Array
    version: Array


@node
class Receipt:
    """Payload of the second phase: nothing."""

    nothing: Array


@node
class Own:
    """What a client keeps: its point x_i and the round tau_i it last took part in, from 0."""

    point: Array
    version: Array


@register("fedawe")
@dataclass(frozen=True)
class FedAWE(TangentMean[ServerPoint]):
    """Clients keep their own points, and steps count for the rounds since the last ones.

    Attributes
    ----------
    steps
        Local steps K.
    batch
        Mini-batch size B: a number, a fraction of the client's samples, "full", or a rule.
    step_size
        Local step size alpha, a number or a rule.
    combine
        How the server makes one tangent vector of the ways to the clients' points.
    server
        How far, and which way, the server goes along it.
    server_map
        The server's map along the mean: "exp" where the manifold has it, or "retraction".
    echo
        Size eta of an echo.
    """

    echo: Annotated[float, Gt(0)] = 1.0

    def phases(self, problem: Problem) -> Sequence[Phase[ServerPoint, Any, Any]]:
        """Echoes up, then the mean down."""
        return (Echoing(self, problem), Gossiping(self, problem))

    def memory(self, problem: Problem) -> Own:
        """Return the first iterate, and the round before the first."""
        return Own(problem.initial_point(), np.array(-1, dtype=np.int64))


@dataclass(frozen=True)
class Echoing(LocalWork[ServerPoint, Any, Echo]):
    """First phase: local work from the clients' own points."""

    algorithm: FedAWE

    payload_kind = Echo
    uses = "payloads"

    def broadcast(self, state: ServerPoint, version: int) -> Call:
        """Send alpha_{t,k} and t."""
        sizes = sizes_at(self.algorithm.step_size, version, self.steps)
        return Call(np.array(sizes, dtype=state.point.dtype), np.array(version))

    def local(self, download: Call, view: View, memory: Own, steps: int) -> LocalResult[Echo]:
        """K steps from x_i, and x_i' = R_{x_i}(-eta (t - tau_i) zeta_i)."""
        manifold, sizes = self.problem.manifold, download.step_size
        x = own = memory.point
        stream = manifold.gradient_stream(x)
        for k, batch in enumerate(self.batches(download, view, steps)):
            alpha = along(sizes[..., k if sizes.shape[-1] > 1 else 0], x)
            step = alpha * view.gradient(x, batch)
            stream.add(x, step)
            if k < steps - 1:
                x = manifold.retract(x, -step)
        waited = (download.version - memory.version).astype(own.dtype)
        echo = self.algorithm.echo * along(waited, own) * stream.total()
        return LocalResult(Echo(manifold.retract(own, -echo)), memory)

    def step(
        self, state: ServerPoint, arrivals: Arrivals[Call, Echo], weights: Floats
    ) -> tuple[ServerPoint, Mapping[str, float]]:
        """x_{t+1} = Exp_{x_t}(sum_i w_i Exp^{-1}_{x_t}(x_i')); no echo is stale."""
        manifold, rule = self.problem.manifold, self.algorithm
        assert isinstance(manifold, InvertibleRetraction)
        ways = manifold.inverse_retract(state.point, arrivals.payload.point)
        v = rule.combine.combine(manifold, state.point, weights, ways)
        use_exp = rule.server_map == "exp" and isinstance(manifold, Exponential)
        return self.follow(state, v, manifold.exp if use_exp else manifold.retract)  # type: ignore[attr-defined]

    def download_bytes(self) -> int:
        """Step sizes, and the round's number of 8 bytes."""
        sizes = len(sizes_at(self.algorithm.step_size, 0, self.steps))
        return sizes * self.problem.itemsize + 8


@dataclass(frozen=True)
class Gossiping(LocalWork[ServerPoint, Any, Receipt]):
    """Second phase: the responders get the mean, and keep it."""

    algorithm: FedAWE

    payload_kind = Receipt
    uses = "payloads"

    @property
    def steps(self) -> int:
        """One, of taking it in."""
        return 1

    def broadcast(self, state: ServerPoint, version: int) -> Gossip:
        """Send x_{t+1} and t."""
        return Gossip(state.point, np.array(version))

    def local(self, download: Gossip, view: View, memory: Own, steps: int) -> LocalResult[Receipt]:
        """x_i = x_{t+1}, tau_i = t."""
        nothing = np.empty((*np.shape(view.clients), 0))
        return LocalResult(Receipt(nothing), Own(download.point, download.version))

    def step(
        self, state: ServerPoint, arrivals: Arrivals[Gossip, Receipt], weights: Floats
    ) -> tuple[ServerPoint, Mapping[str, float]]:
        """All is done."""
        return state, {}

    def samples(self, clients: Ints, version: int) -> Floats:
        """None."""
        return np.zeros(len(clients))

    def download_bytes(self) -> int:
        """One point, and the round's number of 8 bytes."""
        return self.problem.point_bytes + 8

    def upload_bytes(self) -> int:
        """Nothing."""
        return 0
