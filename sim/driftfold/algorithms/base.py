"""Algorithms: what clients compute, what they send, and how the server uses it.

An algorithm is a sequence of phases. In each phase the server sends a *download*, each client
turns it into a *payload*, and the server steps on the payloads that arrived. FedAvg and RFedAGS
have one phase; RFedSVRG has two. The world runs phases and knows no algorithm.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.manifolds.base import InvertibleRetraction, Manifold
from driftfold.registry import family
from driftfold.tasks.base import Problem, View
from driftfold.tasks.batch_size import Batching
from driftfold.trees import node

S = TypeVar("S")  # the server's state
D = TypeVar("D")  # what a phase sends down
P = TypeVar("P")  # what a client sends up


class VectorPayload(ABC):
    """Payload that stands for a tangent vector u at a point that client and server know.

    So what is done to vectors (coding them, adding noise) can be done to every such payload. The
    point x is told by the download, in the space on which the server combines. Payloads of another
    kind have no meaning as vectors, and such things cannot be done to them.
    """

    @classmethod
    def space(cls, manifold: Manifold) -> Manifold:
        """Where u is a tangent vector. Default: on the problem's manifold."""
        return manifold

    @classmethod
    def base(cls, manifold: Manifold, download: Any) -> Array:
        """Return x. Default: the point that was downloaded."""
        point: Array = download.point
        return point

    @classmethod
    def lacks(cls, manifold: Manifold) -> str:
        """What the manifold lacks for payloads to be vectors, or ""."""
        return ""

    @abstractmethod
    def to_vector(self, manifold: Manifold, x: Array) -> Array:
        """Return u in T_x M."""

    @classmethod
    @abstractmethod
    def from_vector(cls, manifold: Manifold, x: Array, u: Array) -> Any:
        """Return the payload that stands for u in T_x M."""


@node
class Tangent(VectorPayload):
    """Payload: one vector in the tangent space of the point that was downloaded."""

    vector: Array

    def to_vector(self, manifold: Manifold, x: Array) -> Array:
        """Return the vector."""
        return self.vector

    @classmethod
    def from_vector(cls, manifold: Manifold, x: Array, u: Array) -> "Tangent":
        """Return u itself."""
        return Tangent(u)


@node
class Endpoint(VectorPayload):
    """Payload: the point where local work ended; by the inverse retraction a vector."""

    point: Array

    @classmethod
    def lacks(cls, manifold: Manifold) -> str:
        """Say so where there is no inverse retraction."""
        return "" if isinstance(manifold, InvertibleRetraction) else "an inverse retraction"

    def to_vector(self, manifold: Manifold, x: Array) -> Array:
        """R_x^{-1} of the point."""
        assert isinstance(manifold, InvertibleRetraction)
        return manifold.inverse_retract(x, self.point)

    @classmethod
    def from_vector(cls, manifold: Manifold, x: Array, u: Array) -> "Endpoint":
        """R_x(u)."""
        return Endpoint(manifold.retract(x, u))


@dataclass(frozen=True)
class LocalResult(Generic[P]):
    """What local work gives: all leaves carry the clients' leading axes.

    Attributes
    ----------
    payload
        What is sent to the server.
    memory
        The clients' new private state, or None when the algorithm keeps none.
    metrics
        Named per-client figures, each of shape (...).
    finite
        Whether payload and memory are known to be free of NaN and infinity; they are looked
        through otherwise.
    """

    payload: P
    memory: Any = None
    metrics: Mapping[str, Array] = field(default_factory=dict)
    finite: bool = False


@dataclass(frozen=True)
class Arrivals(Generic[D, P]):
    """The accepted payloads of one server step, in ascending order of client id.

    Attributes
    ----------
    clients
        Client ids, shape (k,).
    payload
        Payload tree, leading axis k.
    download
        What each was computed from, leading axis k (the base point of a tangent vector).
    versions
        Server version that each downloaded, shape (k,).
    stale
        Whether each was computed from an older version than the server's present one, (k,).
    group
        Which cohort they are of, 0, 1, ..., where several are at work side by side.
    """

    clients: Ints
    payload: P
    download: D
    versions: Ints
    stale: Bools
    group: int = 0


class Phase(ABC, Generic[S, D, P]):
    """One exchange between server and clients."""

    missed: Literal["drop", "carry"] = "drop"
    """What a client does that is away when the phase reaches it: drop it, or run it at its next
    visit."""

    descent: Literal["stream", "endpoint"] | None = None
    """Whether the local work is plain descent, x_{k+1} = R(-alpha grad f_i(x_k; B_k)) from a
    download with `point` and `step_size`, and what is sent: "stream" alpha times the gradient
    stream, as a `Tangent`; "endpoint" the last point. A fused kernel may then do it. Where more
    than that is to be done, `after` does the rest."""

    together: bool = True
    """Whether work on different downloads may share a stack; each client's results are its own
    either way."""

    groups: int = 1
    """Cohorts that `step` keeps apart, by the arrivals' `group`."""

    uses: Literal["payloads", "vectors", "sum"] = "payloads"
    """What `step` needs of payloads: themselves; only the vectors u_i that they stand for, so that
    they may come as `Tangent`s, too; or of these only sum_i w_i u_i."""

    @property
    @abstractmethod
    def payload_kind(self) -> type[P]:
        """Class of the payload."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """Local steps of a complete piece of work (what a truncation counts)."""

    @property
    def batch(self) -> Batching:
        """Size of the mini-batches of a plain descent."""
        return "full"

    @abstractmethod
    def broadcast(self, state: S, version: int) -> D:
        """What the server sends at server version 0, 1, 2, ... (no client axis).

        It is one tree for all. What differs from client to client is a table in it with a row for
        each client of the fleet, of which a client takes its own, by `view.clients`.
        """

    def received(self, download: D) -> Any:
        """What one client gets of a download, in size: its own row of a table. Default: all."""
        return download

    @abstractmethod
    def local(self, download: D, view: View, memory: Any, steps: int) -> LocalResult[P]:
        """Local work of a stack of clients: `steps` of the phase's steps, from `download`."""

    def after(
        self, result: LocalResult[Any], download: D, view: View, memory: Any
    ) -> LocalResult[P]:
        """What `local` gives, where a kernel did the plain descent and gave `result`.

        `result` holds what `descent` says is sent. Default: it is the result.
        """
        return result

    @abstractmethod
    def step(
        self, state: S, arrivals: Arrivals[D, P], weights: Floats
    ) -> tuple[S, Mapping[str, float]]:
        """New server state and metrics, from arrivals with weights, shape (k,)."""

    @abstractmethod
    def samples(self, clients: Ints, version: int) -> Floats:
        """Sample gradients that each client computes in one piece of work, shape (k,).

        The work is that of the server version 0, 1, 2, ... at which it was sent.
        """

    @abstractmethod
    def download_bytes(self) -> int:
        """Size of what the server sends to one client, in bytes."""

    @abstractmethod
    def upload_bytes(self) -> int:
        """Size of one client's payload in bytes."""


@family("algorithm")
class Algorithm(ABC, Generic[S]):
    """Configuration of a federated algorithm."""

    dropout: Literal["rollback", "commit"] = "rollback"
    """What happens to a client's memory when it drops out in mid-work."""

    presumed_probability: float | None = None
    """A bound that the algorithm builds on: each client takes part in each round with at most this
    probability, independently of all else. None where it builds on nothing of the kind."""

    def check(self, problem: Problem) -> None:
        """Raise `CapabilityError` when the problem lacks what the algorithm needs."""
        return

    @abstractmethod
    def phases(self, problem: Problem) -> Sequence[Phase[S, Any, Any]]:
        """Return the phases of one round, bound to the problem."""

    @abstractmethod
    def begin(self, problem: Problem, x: Array) -> S:
        """Return the server state at the first iterate x."""

    @abstractmethod
    def model(self, state: S) -> Array:
        """Return the point that the server would publish."""

    def memory(self, problem: Problem) -> Any:
        """Return a client's private state at its first visit (no client axis), or None."""
        return None

    def evaluate(
        self, problem: Problem, state: S, memories: Any, time: float
    ) -> Mapping[str, float]:
        """Metrics beyond the problem's own; `memories` holds the visited clients' states."""
        return {}

    def conventions(self) -> Mapping[str, str]:
        """What is a matter of definition, for the result. Default: nothing."""
        return {}
