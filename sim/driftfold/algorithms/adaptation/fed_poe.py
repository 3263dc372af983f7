"""Fed-POE: predictions of a local model, the federated one, and models that the server has kept.

Ghari, P. M., Shen, Y.: "Personalized federated learning with mixture of models for online
prediction and model fine-tuning", NeurIPS 2024. A client has a model L_c of its own, the federated
G, and weights u_j of snapshots f_j of G, the first of which is theta_0. At each step it

1. draws M snapshots by u_j / sum u, with replacement; J is the set of those met;
2. predicts (c E_lf + d E_snap) / (c + d), with E_lf = (a L_c + b G) / (a + b) and E_snap the mean
   of the f_j in J by u_j;
3. multiplies a, b, c, d and u_j, j in J, by exp(-eta_w loss), the loss of u_j being divided by the
   probability that j is met;
4. takes one step of SGD on the head for L_c and for G, on the last 10 samples; the server averages
   the clients' G.

Every 20 steps the server keeps G. Its weight begins at what it would have been: exp(-eta_w times
all past losses of G). Losses are cross-entropies, the mean over a batch.

The released code keeps snapshots of each client's own model, which is not what the paper says, and
not done here. It changes one G in place, client after client, so that its average is one of equal
things: that is `averaging = "sequential"`, for which clients send samples. Where the paper has
labels, the classes that the client's prediction names take their place here.

Heads alone move, so bodies are those of theta_0, and heads are all that is sent.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt

from driftfold.algorithms.adaptation.base import Adaptation, Adapted, Adapting
from driftfold.algorithms.adaptation.ledger import blank
from driftfold.algorithms.adaptation.mixing import chance, drawn, log_loss, mixture, shares
from driftfold.algorithms.base import Arrivals, LocalResult
from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.combinations.aggregation import weighted_sum
from driftfold.nets.losses import cross_entropy
from driftfold.registry import register
from driftfold.softmax import softmax
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import chosen, node, spread


@node
class Kept:
    """Server state: theta_0 with the head G, snapshots (s, q), their number."""

    theta: Array
    pool: Array
    count: Array


@node
class Offered:
    """What comes down: the heads of G, (q,), and of snapshots, (s, q), and how many they are."""

    federated: Array
    pool: Array
    count: Array


@node
class Samples:
    """Features of the last samples, (r, d), their classes, and their weights in a mean, (r,)."""

    features: Array
    labels: Array
    weights: Array


@node
class Updated:
    """What goes up: a client's version of G, or the samples to make it of; and the step."""

    federated: Array
    samples: Samples
    step: Array


@node
class Mixed(Adapted):
    """What a client keeps.

    Attributes
    ----------
    local
        The head of L_c, shape (q,).
    logs
        Logarithms of a, b, c, d.
    snapshots
        Logarithms of u, shape (s,).
    known
        How many snapshots have a weight.
    lost
        Sum of all past losses of G.
    samples
        The last ones.
    """

    local: Array
    logs: Array
    snapshots: Array
    known: Array
    lost: Array
    samples: Samples


@register("fed_poe")
@dataclass(frozen=True)
class FedPOE(Adaptation):
    """Mixtures of local, federated and earlier models, by how well each did.

    Attributes
    ----------
    rate, weight_rate
        What eta and eta_w are times the square root of the number of steps.
    draws
        M.
    every
        Steps after which the server keeps G.
    recent
        Samples of a step of SGD: the last ones.
    averaging
        Whether the server averages clients' versions of G, or makes one of another.
    labels
        "own": the classes that a client's own prediction names. "truth": the true ones, a control
        that no deployed system has.
    """

    rate: Annotated[float, Gt(0)] = 0.01
    weight_rate: Annotated[float, Gt(0)] = 1.0
    draws: Annotated[int, Gt(0)] = 8
    every: Annotated[int, Gt(0)] = 20
    recent: Annotated[int, Gt(0)] = 10
    averaging: Literal["mean", "sequential"] = "mean"
    labels: Literal["own", "truth"] = "own"

    def phases(self, problem: Problem) -> "Sequence[Adapting]":
        """One exchange."""
        assert isinstance(problem, StreamProblem)
        return (Ensemble(self, problem),)

    def begin(self, problem: Problem, x: Array) -> Kept:
        """Keep theta_0."""
        assert isinstance(problem, StreamProblem)
        head = x[problem.model.layout.where(problem.model.head)]
        pool = np.repeat(head[None], self.room(problem), axis=0)
        return Kept(x, pool, np.array(1))

    def room(self, problem: StreamProblem) -> int:
        """Most snapshots that there will be."""
        return 1 + (problem.stream.steps - 1) // self.every

    def model(self, state: Kept) -> Array:
        """The federated model."""
        return state.theta

    def memory(self, problem: Problem) -> Mixed:
        """All models theta_0, all weights 1."""
        assert isinstance(problem, StreamProblem)
        model, r = problem.model, self.recent
        none = Samples(
            np.zeros((r, model.features), model.dtype), np.zeros(r, np.int64), np.zeros(r)
        )
        head = problem.source.start[model.layout.where(model.head)]
        weights = np.zeros(4), np.zeros(self.room(problem))
        return Mixed(blank(), head, *weights, np.array(1), np.zeros(()), none)

    def scores(self, problem: StreamProblem, state: Kept, memory: Mixed, view: StreamView) -> Array:
        """Probabilities of the mixture."""
        phase = Ensemble(self, problem)
        down = spread(phase.broadcast(state, 0), len(view.clients))
        features = problem.model.forward(problem.source.start, view.inputs).features
        return Answers.of(phase, down, phase.welcomed(down, memory), features, view).output


@dataclass(frozen=True, eq=False)
class Answers:
    """What k clients' models say of their batches: probabilities, shape (k, n, K) each.

    `snapshots` is of shape (k, s, n, K); `met`, (k, s), says which of them were drawn, and `q` with
    which shares.
    """

    local: Array
    federated: Array
    snapshots: Array
    of_two: Array
    of_snapshots: Array
    output: Array
    met: Bools
    q: Floats

    @classmethod
    def of(
        cls, phase: "Ensemble", down: Offered, memory: Mixed, features: Array, view: StreamView
    ) -> "Answers":
        """Steps 1 and 2."""
        head, rule = phase.problem.model.head_model, phase.algorithm
        local = softmax(head.forward(memory.local, features).logits)
        federated = softmax(head.forward(down.federated, features).logits)
        snapshots = softmax(head.forward(down.pool, features[:, None]).logits)
        there = np.arange(snapshots.shape[1]) < down.count[:, None]
        q = shares(memory.snapshots, there)
        numbers = view.stream("snapshots").uniform(view.clients, view.steps, rule.draws)
        met = drawn(q, numbers)
        of_snapshots = mixture(shares(memory.snapshots, met), snapshots)
        of_two = mixture(shares(memory.logs[:, :2]), np.stack([local, federated], axis=1))
        output = mixture(shares(memory.logs[:, 2:]), np.stack([of_two, of_snapshots], axis=1))
        return cls(local, federated, snapshots, of_two, of_snapshots, output, met, q)


@dataclass(frozen=True)
class Ensemble(Adapting):
    """One step of all clients."""

    algorithm: FedPOE
    payload_kind = Updated

    @property
    def steps(self) -> int:
        """One."""
        return 1

    @cached_property
    def head(self) -> Bools:
        """Which parameters are of the head, shape (P,)."""
        return self.problem.model.layout.where(self.problem.model.head)

    @property
    def root(self) -> float:
        """Square root of the number of steps."""
        return math.sqrt(self.problem.stream.steps)

    def broadcast(self, state: Kept, version: int) -> Offered:
        """Send G and the snapshots."""
        return Offered(state.theta[self.head], state.pool, state.count)

    def received(self, download: Offered) -> Offered:
        """A client asks for the snapshots that it has drawn: M at most."""
        return replace(download, pool=download.pool[: self.algorithm.draws])

    def welcomed(self, down: Offered, memory: Mixed) -> Mixed:
        """Give weights to snapshots that are new."""
        places = np.arange(memory.snapshots.shape[1])
        new = (places >= memory.known[:, None]) & (places < down.count[:, None])
        begin = -self.algorithm.weight_rate / self.root * memory.lost
        snapshots = np.where(new, begin[:, None], memory.snapshots)
        return replace(memory, snapshots=snapshots, known=down.count.copy())

    def adapt(
        self, download: Offered, view: StreamView, memory: Mixed, steps: int
    ) -> LocalResult[Updated]:
        """On a new batch predict and weigh; then a step on the last samples."""
        n, rule = self.problem.stream.size, self.algorithm
        features = self.problem.model.forward(self.problem.source.start, view.inputs).features
        memory = self.welcomed(download, memory)
        answers = Answers.of(self, download, memory, features, view)
        hits = view.hits(answers.output)
        first = memory.ledger.first(view.steps)
        labels = view.truth if rule.labels == "truth" else answers.output.argmax(axis=-1)
        memory = chosen(first, self._weighed(answers, labels, features, memory), memory)
        eta = rule.rate / self.root
        rates = np.full(len(hits), eta)
        local = self.descended(memory.local, memory.samples)
        federated = self.descended(download.federated, memory.samples)
        sent = Updated(federated, _no(memory.samples), view.steps)
        if rule.averaging == "sequential":
            sent = Updated(federated[:, :0], memory.samples, view.steps)
        memory = replace(
            memory, local=local, ledger=memory.ledger.opened(view.steps, hits, n, rates)
        )
        now = replace(download, federated=federated)
        after = view.hits(Answers.of(self, now, memory, features, view).output)
        memory = replace(memory, ledger=memory.ledger.closed(after))
        told = {"accuracy": hits / n, "accuracy_after": after / n, "rate": rates}
        return LocalResult(sent, memory, {"step": view.steps, **told})

    def _weighed(self, answers: Answers, labels: Ints, features: Array, memory: Mixed) -> Mixed:
        """Step 3, and the last samples."""
        eta = self.algorithm.weight_rate / self.root
        four = (answers.local, answers.federated, answers.of_two, answers.of_snapshots)
        losses = np.stack([log_loss(p, labels) for p in four], axis=1)
        each = log_loss(answers.snapshots, np.repeat(labels[:, None], len(answers.q[0]), axis=1))
        met = chance(answers.q, self.algorithm.draws)
        fall = np.where(answers.met, each / np.where(answers.met, met, 1.0), 0.0)
        r = self.algorithm.recent
        kept = memory.samples
        had = np.minimum((kept.weights > 0).sum(axis=1) + labels.shape[1], r)
        there = np.arange(r) >= r - had[:, None]
        samples = Samples(
            np.concatenate([kept.features, features], axis=1)[:, -r:],
            np.concatenate([kept.labels, labels], axis=1)[:, -r:],
            there / had[:, None],
        )
        return replace(
            memory,
            logs=memory.logs - eta * losses,
            snapshots=memory.snapshots - eta * fall,
            lost=memory.lost + losses[:, 1],
            samples=samples,
        )

    def descended(self, head: Array, samples: Samples) -> Array:
        """Step 4 of heads (k, q)."""
        made = self.problem.model.head_model.forward(head, samples.features)
        _, slope = cross_entropy(made.logits, samples.labels)
        gradient = made.pullback(slope * samples.weights[..., None].astype(slope.dtype))
        eta = self.algorithm.rate / self.root
        lower: Array = head - head.dtype.type(eta) * gradient
        return lower

    def step(
        self, state: Kept, arrivals: Arrivals[Offered, Updated], weights: Floats
    ) -> tuple[Kept, Mapping[str, float]]:
        """Average, and keep G as it is at the end of every 20 steps."""
        sent, before, every = arrivals.payload, state.theta[self.head], self.algorithm.every
        theta = state.theta.copy()
        theta[self.head] = self._averaged(before, arrivals, weights)
        pool, count, done = state.pool.copy(), int(state.count), int(sent.step.max(initial=0))
        due = 1 + done // every
        pool[count:due] = before  # of blocks in whose last step nobody came
        if (done + 1) % every == 0 and due < len(pool):
            pool[due] = theta[self.head]
            due += 1
        count = max(count, due)
        return Kept(theta, pool, np.array(count)), {"snapshots": float(count)}

    def _averaged(
        self, head: Array, arrivals: Arrivals[Offered, Updated], weights: Floats
    ) -> Array:
        """The head of G after a round."""
        sent = arrivals.payload
        if self.algorithm.averaging == "mean":
            ways = sent.federated - arrivals.download.federated
            mean: Array = head + weighted_sum(weights, ways).astype(head.dtype)
            return mean
        for i in range(len(arrivals.clients)):
            each = (sent.samples.features, sent.samples.labels, sent.samples.weights)
            head = self.descended(head[None], Samples(*(a[i : i + 1] for a in each)))[0]
        return head

    def samples(self, clients: Ints, version: int) -> Floats:
        """The last samples, for L and for G."""
        return np.full(len(clients), 2.0 * self.algorithm.recent)

    def download_bytes(self) -> int:
        """G and the snapshots that are drawn, M at most, and a number."""
        heads = 1 + min(self.algorithm.draws, self.algorithm.room(self.problem))
        return heads * int(self.head.sum()) * self.problem.itemsize + 8

    def upload_bytes(self) -> int:
        """G, or samples with classes and weights; and the step."""
        if self.algorithm.averaging == "mean":
            return int(self.head.sum()) * self.problem.itemsize + 8
        features = self.problem.model.features * self.problem.itemsize
        return self.algorithm.recent * (features + 16) + 8


def _no(samples: Samples) -> Samples:
    """No samples."""
    return Samples(samples.features[:, :0], samples.labels[:, :0], samples.weights[:, :0])
