"""One exchange a round: x_t and step sizes down, K local steps, one point or vector up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from annotated_types import Gt

from driftfold.algorithms.base import Algorithm, Arrivals, Phase
from driftfold.algorithms.step_size import Step, sizes_at
from driftfold.arrays import Array, Floats, Ints, along
from driftfold.combinations.base import Combination
from driftfold.combinations.weighted_sum import WeightedSum
from driftfold.manifolds.base import Manifold
from driftfold.optimizers.base import ServerOptimizer
from driftfold.optimizers.descend import Descend
from driftfold.tasks.base import Batch, Problem, View
from driftfold.tasks.batch_size import Batching, BatchRule
from driftfold.trees import node

P = TypeVar("P")
S = TypeVar("S", bound="ServerPoint")
D = TypeVar("D", bound="Broadcast")
Way = Callable[[Array, Array], Array]
"""A map from a point x and a vector in T_x M to a point."""


@node
class Broadcast:
    """Download: the server's point x_t and the round's step sizes alpha_{t,k}.

    `step_size` has one number for all local steps, or one for each; `version` is t where the
    sizes of mini-batches depend on it, else None.
    """

    point: Array
    step_size: Array
    version: Array | None = None

    def alpha(self, k: int) -> Array:
        """Size of local step k, shaped to multiply points."""
        sizes = self.step_size
        return along(sizes[..., k if sizes.shape[-1] > 1 else 0], self.point)


@node
class ServerPoint:
    """Server state: the iterate x_t, and what the server's optimiser remembers at x_t."""

    point: Array
    moments: Any = None


@dataclass(frozen=True)
class LocalSteps(Algorithm[S]):
    """What the algorithms share whose clients take K steps from the server's iterate.

    Attributes
    ----------
    steps
        Local steps K.
    batch
        Mini-batch size B: a number, a fraction of the client's samples, "full", or a rule.
    step_size
        Local step size alpha, a number or a rule.
    combine
        How the server makes one tangent vector of those that arrive.
    server
        How far, and which way, the server goes along it.
    """

    steps: Annotated[int, Gt(0)] = 5
    batch: Batching = "full"
    step_size: Step = 0.01
    combine: Combination = field(default_factory=WeightedSum)
    server: ServerOptimizer = field(default_factory=Descend)

    def begin(self, problem: Problem, x: Array) -> Any:
        """Start at x."""
        return ServerPoint(x, self.server.begin(problem.manifold, x))

    def model(self, state: S) -> Array:
        """Return x_t."""
        return state.point


@dataclass(frozen=True)
class LocalWork(Phase[S, D, P]):
    """The exchange of a `LocalSteps` algorithm: what is left to say is `local` and `step`."""

    algorithm: LocalSteps[Any]
    problem: Problem

    @property
    def steps(self) -> int:
        """Local steps K."""
        return self.algorithm.steps

    @property
    def batch(self) -> Batching:
        """Mini-batch size B."""
        return self.algorithm.batch

    @property
    def space(self) -> Manifold:
        """The manifold on which the server combines and steps."""
        return self.problem.manifold

    @property
    def together(self) -> bool:  # type: ignore[override]
        """A rule pads mini-batches to one length, which is each round's own."""
        return not isinstance(self.algorithm.batch, BatchRule)

    @property
    def uses(self) -> Literal["payloads", "vectors", "sum"]:  # type: ignore[override]
        """Vectors, which are combined: in a weighted sum, or in another way."""
        return "sum" if isinstance(self.algorithm.combine, WeightedSum) else "vectors"

    def broadcast(self, state: S, version: int) -> Any:
        """Send x_t and alpha_{t,k}."""
        x = state.point
        sizes = np.array(sizes_at(self.algorithm.step_size, version, self.steps), dtype=x.dtype)
        return Broadcast(x, sizes, np.array(version) if isinstance(self.batch, BatchRule) else None)

    def batches(self, download: D, view: View, steps: int) -> Sequence[Batch]:
        """Mini-batches of the local steps."""
        return view.batches(self.batch, steps, download.version)

    def advance(
        self,
        state: S,
        arrivals: Arrivals[D, P],
        weights: Floats,
        vectors: Array,
        way: Way,
    ) -> tuple[S, Mapping[str, float]]:
        """Go from x_t along what `vectors` combine to, each in the tangent space of its download.

        Those that are stale are carried to x_t first.
        """
        x = state.point
        if np.count_nonzero(arrivals.stale):
            vectors = self.space.transport(arrivals.download.point, x, vectors)
        combined = self.algorithm.combine.combine(self.space, x, weights, vectors)
        return self.follow(state, combined, way)

    def follow(self, state: S, vector: Array, way: Way) -> tuple[S, Mapping[str, float]]:
        """Go from x_t where the server's optimiser leads, given the round's vector at x_t."""
        server, x = self.algorithm.server, state.point
        v, moments = server.direct(self.space, x, vector, state.moments)
        y = way(x, v)
        new = replace(state, point=y, moments=server.carry(self.space, x, y, moments))
        return new, {"step_norm": float(self.space.norm(x, v))}

    def samples(self, clients: Ints, version: int) -> Floats:
        """K mini-batches."""
        batch, sizes = self.batch, self.problem.batch_samples
        if not isinstance(batch, BatchRule):
            return self.steps * sizes(batch, clients)
        each = [sizes(batch.size(version, k), clients) for k in range(self.steps)]
        total: Floats = np.add.reduce(each, axis=0)
        return total

    def download_bytes(self) -> int:
        """One point, one step size or K, and t where a rule for the mini-batches needs it."""
        sizes = len(sizes_at(self.algorithm.step_size, 0, self.steps))
        version = np.dtype(int).itemsize if isinstance(self.batch, BatchRule) else 0
        return self.problem.point_bytes + sizes * self.problem.itemsize + version

    def upload_bytes(self) -> int:
        """One point or tangent vector."""
        return self.problem.point_bytes
