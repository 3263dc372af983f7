"""FedCCFA: heads put together class by class among clients whose concept of the class is alike.

Chen, J., Xue, J., Wang, Y., Liu, Z., Huang, L.: "Classifier clustering and feature alignment for
federated learning under distributed concept drift", NeurIPS 2024. The body is shared, the last
linear layer is each client's own. A client

1. trains a *balanced head* on as many samples of each of its classes, from one common head that
   never changes, so that those of all clients can be compared;
2. trains its own head, the body standing still;
3. trains the body, the head standing still, on

       CE + (H / gamma) CE(cos(features, prototypes) / temperature),

   H the entropy of its classes, the prototypes mean features by class; and takes the means of its
   features by class.

The server averages bodies. For each class k it clusters clients by row k and bias k of the balanced
heads (MADD, then DBSCAN), and in each cluster averages row k of the trained heads, and the
prototypes of k of those that have the class. With fewer than three clients MADD is not defined, and
nobody's head is changed.

Here an epoch is one step on the whole batch, with momentum that begins anew at each visit; where
the paper has labels, the classes that the client's prediction names take their place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Lt

from driftfold.algorithms.adaptation.balanced import balanced_weights
from driftfold.algorithms.adaptation.base import Adaptation, Adapting, Nothing
from driftfold.algorithms.adaptation.class_heads import ClassHeads
from driftfold.algorithms.adaptation.clustered_heads import clustered
from driftfold.algorithms.adaptation.concepts import Concepts, Joined, Learnt, Owned
from driftfold.algorithms.adaptation.ledger import blank
from driftfold.algorithms.adaptation.prototypes import alignment, class_means, spread_of_classes
from driftfold.algorithms.adaptation.sgd import Sgd
from driftfold.algorithms.adaptation.splitting import Body, own_logits
from driftfold.algorithms.base import Arrivals, LocalResult
from driftfold.arrays import Array, Floats, Ints
from driftfold.combinations.aggregation import weighted_sum
from driftfold.nets.losses import cross_entropy
from driftfold.registry import register
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView


@register("fedccfa")
@dataclass(frozen=True)
class FedCCFA(Adaptation):
    """A shared body and own heads, averaged class by class within clusters of clients.

    Attributes
    ----------
    head_rate, head_steps
        Rate of a client's own head, and how many steps it takes on a batch.
    body_rate, body_steps
        Those of the body.
    balanced_rate, balanced_steps
        Those of the balanced head.
    most
        Most samples of a class for the balanced head.
    momentum, decay
        Momentum and weight decay of all three.
    gamma
        By what the entropy of a client's classes is divided for the weight of the alignment.
    temperature
        Of the alignment.
    eps, least
        Within which distance how many clients, itself included, make a client the core of a
        cluster (DBSCAN).
    labels
        "own": the classes that a client's own prediction names. "truth": the true ones, a control
        that no deployed system has.
    """

    head_rate: Annotated[float, Gt(0)] = 0.1
    head_steps: Annotated[int, Ge(0)] = 1
    body_rate: Annotated[float, Gt(0)] = 0.01
    body_steps: Annotated[int, Ge(0)] = 1
    balanced_rate: Annotated[float, Gt(0)] = 0.1
    balanced_steps: Annotated[int, Ge(0)] = 5
    most: Annotated[int, Gt(0)] = 5
    momentum: Annotated[float, Ge(0), Lt(1)] = 0.9
    decay: Annotated[float, Ge(0)] = 1e-5
    gamma: Annotated[float, Gt(0)] = 20.0
    temperature: Annotated[float, Gt(0)] = 0.1
    eps: Annotated[float, Gt(0)] = 0.1
    least: Annotated[int, Gt(0)] = 1
    labels: Literal["own", "truth"] = "own"

    def check(self, problem: Problem) -> None:
        """Require streams, and a net that ends with a linear layer."""
        super().check(problem)
        assert isinstance(problem, StreamProblem)
        ClassHeads(problem.model).check()

    def phases(self, problem: Problem) -> "Sequence[Adapting]":
        """Learn, and take what was put together."""
        assert isinstance(problem, StreamProblem)
        return (Learning(self, problem), Taking(self, problem))

    def begin(self, problem: Problem, x: Array) -> Concepts:
        """Start everybody from the trained model, which is the common head's, too."""
        assert isinstance(problem, StreamProblem)
        n, model = problem.fleet.size, problem.model
        none = np.zeros((model.classes, model.features), model.dtype)
        unknown = np.zeros(model.classes, dtype=bool)
        heads = np.repeat(x[ClassHeads(model).where][None], n, axis=0)
        tables = heads, np.repeat(none[None], n, axis=0), np.repeat(unknown[None], n, axis=0)
        return Concepts(x, *tables, none, unknown)

    def model(self, state: Concepts) -> Array:
        """The shared body with the head as it was trained."""
        return state.theta

    def memory(self, problem: Problem) -> Owned:
        """Return the trained head, and no prototypes."""
        assert isinstance(problem, StreamProblem)
        model = problem.model
        head = problem.source.start[ClassHeads(model).where]
        none = np.zeros((model.classes, model.features), model.dtype)
        return Owned(blank(), head, none, np.zeros(model.classes, dtype=bool))

    def scores(
        self, problem: StreamProblem, state: Concepts, memory: Owned, view: StreamView
    ) -> Array:
        """Logits of the shared body and the clients' own heads."""
        return own_logits(problem, state.theta, ClassHeads(problem.model).where, memory.head, view)


@dataclass(frozen=True)
class ConceptExchange(Adapting):
    """What both exchanges share."""

    algorithm: FedCCFA

    @cached_property
    def heads(self) -> ClassHeads:
        """The last layer."""
        return ClassHeads(self.problem.model)

    def joined(self, body: Array, head: Array) -> Array:
        """Parameters of bodies and heads of k clients, shape (k, P)."""
        theta = np.empty((len(head), len(self.heads.where)), head.dtype)
        theta[:, ~self.heads.where], theta[:, self.heads.where] = body, head
        return theta

    @property
    def body_bytes(self) -> int:
        """The body."""
        return int((~self.heads.where).sum()) * self.problem.itemsize

    @property
    def head_bytes(self) -> int:
        """A head."""
        return int(self.heads.where.sum()) * self.problem.itemsize

    @property
    def prototype_bytes(self) -> int:
        """A prototype for each class."""
        model = self.problem.model
        return model.classes * model.features * self.problem.itemsize


@dataclass(frozen=True)
class Learning(ConceptExchange):
    """First exchange: predict, and train three things."""

    payload_kind = Learnt

    @property
    def steps(self) -> int:
        """One turn."""
        return 1

    def broadcast(self, state: Concepts, version: int) -> Body:
        """Send the body."""
        return Body(state.theta[~self.heads.where])

    def adapt(
        self, download: Body, view: StreamView, memory: Owned, steps: int
    ) -> LocalResult[Learnt]:
        """Steps 1 to 3."""
        rule, model, n = self.algorithm, self.problem.model, self.problem.stream.size
        theta, classes = self.joined(download.shared, memory.head), model.classes
        made = model.forward(theta, view.inputs)
        hits = view.hits(made.logits)
        labels = view.truth if rule.labels == "truth" else made.logits.argmax(axis=-1)
        keys = view.stream("balanced samples").uniform(view.clients, view.dispatches, n)
        balanced = self._head_steps(
            self.joined(download.shared, np.broadcast_to(self._common, memory.head.shape)),
            made.features,
            labels,
            balanced_weights(labels, keys, classes, rule.most),
            Sgd(rule.balanced_rate, rule.momentum, rule.decay),
            rule.balanced_steps,
        )
        even = np.full((len(theta), n), 1 / n)
        sgd = Sgd(rule.head_rate, rule.momentum, rule.decay)
        head = self._head_steps(theta, made.features, labels, even, sgd, rule.head_steps)
        weight = spread_of_classes(labels, classes) / rule.gamma
        theta = self._body_steps(
            self.joined(download.shared, head), view.inputs, labels, memory, weight
        )
        features = model.forward(theta, view.inputs).features
        means, counts = class_means(features, labels, classes)
        rates = np.full(len(hits), rule.body_rate)
        ledger = memory.ledger.opened(view.steps, hits, n, rates)
        sent = Learnt(theta[:, ~self.heads.where], balanced, head, means, counts)
        figures = {"step": view.steps, "accuracy": hits / n, "rate": rates, "alignment": weight}
        return LocalResult(sent, replace(memory, ledger=ledger, head=head), figures)

    @property
    def _common(self) -> Array:
        """The head that all balanced heads begin at."""
        head: Array = self.problem.source.start[self.heads.where]
        return head

    def _head_steps(
        self, theta: Array, features: Array, labels: Ints, weights: Floats, sgd: Sgd, steps: int
    ) -> Array:
        """Last layers (k, q) after steps on features that stay."""
        model, which = self.problem.model, self.heads.in_head
        whole = theta[:, model.layout.where(model.head)]
        head = whole[:, which]
        velocity = np.zeros_like(head)
        for _ in range(steps):
            made = model.head_model.forward(whole, features)
            _, slope = cross_entropy(made.logits, labels)
            slope *= weights[..., None].astype(slope.dtype)
            gradient = made.pullback(slope, only=which)[:, which]
            head, velocity = sgd.step(head, gradient, velocity)
            whole = whole.copy()
            whole[:, which] = head
        return head

    def _body_steps(
        self, theta: Array, inputs: Array, labels: Ints, memory: Owned, weight: Floats
    ) -> Array:
        """Parameters (k, P) after steps on the body."""
        rule, n = self.algorithm, labels.shape[1]
        which = ~self.heads.where & ~self.problem.model.layout.buffers
        sgd, body = Sgd(rule.body_rate, rule.momentum, rule.decay), theta[:, which]
        velocity = np.zeros_like(body)
        for _ in range(rule.body_steps):
            made = self.problem.model.forward(theta, inputs)
            _, slope = cross_entropy(made.logits, labels)
            _, pull = alignment(
                made.features, memory.prototypes, memory.known, labels, rule.temperature
            )
            pull *= (weight / n).astype(pull.dtype)[:, None, None]
            gradient = made.pullback(slope / n, pull, only=which)[:, which]
            body, velocity = sgd.step(body, gradient, velocity)
            theta = theta.copy()
            theta[:, which] = body
        return theta

    def step(
        self, state: Concepts, arrivals: Arrivals[Body, Learnt], weights: Floats
    ) -> tuple[Concepts, Mapping[str, float]]:
        """Average bodies, and heads and prototypes by class within clusters."""
        rule, sent, who = self.algorithm, arrivals.payload, arrivals.clients
        theta = state.theta.copy()
        ways = sent.body - arrivals.download.shared
        theta[~self.heads.where] += weighted_sum(weights, ways).astype(theta.dtype)
        rows, balanced = self.heads.by_class(sent.head), self.heads.by_class(sent.balanced)
        there = sent.counts > 0
        rows, means, known, clusters = clustered(
            rows, balanced, sent.means, there, rule.eps, rule.least
        )
        heads, prototypes, has = state.heads.copy(), state.prototypes.copy(), state.known.copy()
        heads[who], prototypes[who], has[who] = self.heads.flat(rows), means, known
        some = there.any(axis=0)
        over_all = (sent.means * there[..., None]).sum(axis=0) / np.maximum(there.sum(axis=0), 1)[
            :, None
        ].astype(theta.dtype)
        common = np.where(some[:, None], over_all.astype(theta.dtype), state.common)
        new = Concepts(theta, heads, prototypes, has, common, state.common_known | some)
        return new, {"clusters": clusters}

    def samples(self, clients: Ints, version: int) -> Floats:
        """The batch in every step; of the balanced head's some count with weight 0."""
        rule = self.algorithm
        steps = rule.balanced_steps + rule.head_steps + rule.body_steps
        each = steps * self.problem.stream.size
        return np.full(len(clients), float(each))

    def download_bytes(self) -> int:
        """The body."""
        return self.body_bytes

    def upload_bytes(self) -> int:
        """The body, two heads, and mean features with their numbers."""
        numbers = 8 * self.problem.model.classes
        return self.body_bytes + 2 * self.head_bytes + self.prototype_bytes + numbers


@dataclass(frozen=True)
class Taking(ConceptExchange):
    """Second exchange: what was put together comes down."""

    payload_kind = Nothing
    together = False  # a download has a row for each client of the fleet

    @property
    def steps(self) -> int:
        """One turn."""
        return 1

    def broadcast(self, state: Concepts, version: int) -> Joined:
        """Send body, head and prototypes; those over all of classes that a client lacks."""
        prototypes = np.where(state.known[..., None], state.prototypes, state.common)
        known = state.known | state.common_known
        return Joined(state.theta[~self.heads.where], state.heads, prototypes, known)

    def received(self, download: Joined) -> Joined:
        """A client's own rows."""
        return Joined(download.body, download.heads[0], download.prototypes[0], download.known[0])

    def adapt(
        self, download: Joined, view: StreamView, memory: Owned, steps: int
    ) -> LocalResult[Nothing]:
        """Take them, and see how the batch is classified now."""
        at = np.arange(len(view.clients)), view.clients
        head = download.heads[at]
        theta = self.joined(download.body, head)
        hits = view.hits(self.problem.model.forward(theta, view.inputs).logits)
        memory = Owned(
            memory.ledger.closed(hits), head, download.prototypes[at], download.known[at]
        )
        after = {"accuracy_after": hits / self.problem.stream.size}
        return LocalResult(Nothing.of(len(hits)), memory, after)

    def step(
        self, state: Concepts, arrivals: Arrivals[Any, Nothing], weights: Floats
    ) -> tuple[Concepts, Mapping[str, float]]:
        """Nothing to learn from nothing."""
        return state, {}

    def samples(self, clients: Ints, version: int) -> Floats:
        """No gradients."""
        return np.zeros(len(clients))

    def download_bytes(self) -> int:
        """The body, a head, and prototypes with a flag each."""
        return self.body_bytes + self.head_bytes + self.prototype_bytes + self.problem.model.classes

    def upload_bytes(self) -> int:
        """Nothing."""
        return 0
