"""FedDrift: several models, which clients share by how well they fit, and more where drift is seen.

Jothimurugesan, E., Hsieh, K., Wang, J., Joshi, G., Gibbons, P. B.: "Federated learning under
distributed concept drift", AISTATS 2023. At each step a client tries all models on its new data:

    drift, and a model of its own     min_k loss_k(now) > min_k loss_k(before) + delta
    else                              the model of the least loss.

Then the server joins models. With L_ij the loss of model i on the data of those who have j, models
i and j are as far apart as max(L_ij - L_ii, L_ji - L_jj, 0); pairs are joined, the closest first,
for as long as the farthest two models in a joined group are within delta (complete linkage), into
their mean weighted by the labelled data that they have seen. At last each model is trained by those
who have it.

A new model begins as the one that was deployed; it is joined at the earliest a step later, when it
has been trained. There are `models` of them at most: where no place is left a client stays with the
best one. All three are ours: the paper begins at random, and its number of models has no bound.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from driftfold.algorithms.adaptation.base import Adapted, Adapting
from driftfold.algorithms.adaptation.joining import joined
from driftfold.algorithms.adaptation.whole_model import Descending, Learning, Whole, WholeModel
from driftfold.algorithms.base import Arrivals, LocalResult
from driftfold.arrays import Array, Floats, Ints
from driftfold.combinations.aggregation import weighted_sum
from driftfold.registry import register
from driftfold.risks.scene import Scene
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import node

KEEP, BEST, NEW = 0, 1, 2
"""What a client asks for: the model that it has, the one of the least loss, or one of its own."""


@node
class Models:
    """The server's state.

    Attributes
    ----------
    thetas
        The models, shape (M, P).
    sizes
        Labelled examples that each has been trained on; -1 where there is no model, shape (M,).
    which
        Model of each client of the fleet, shape (N,).
    """

    thetas: Array
    sizes: Array
    which: Array


@node
class Told:
    """What a client sends of its tries: the loss of each model, (M,), and what it asks for."""

    losses: Array
    wish: Array


@node
class Fitted(Learning):
    """What a client keeps: beside its belief, the least loss at its latest new batch."""

    least: Array


@register("feddrift")
@dataclass(frozen=True)
class FedDrift(WholeModel):
    """A model for each concept, found out by losses.

    It was published for labelled data; here the risk says what clients know: a few labels, or what
    takes their place (`pseudo_labels`, under which every model thinks itself right).

    Attributes
    ----------
    risk
        What clients minimise, and try models by.
    steps
        Steps of a client a round.
    rate
        Of these steps.
    delta
        How much more loss is drift, and how much is nothing between two models.
    models
        M, the most models at once.
    """

    rate: Annotated[float, Gt(0)] = 0.03
    delta: Annotated[float, Ge(0)] = 0.5
    models: Annotated[int, Gt(0)] = 8

    def phases(self, problem: Problem) -> Sequence[Adapting]:
        """Tries, then steps."""
        assert isinstance(problem, StreamProblem)
        return (Trying(self, problem), Training(self, problem))

    def begin(self, problem: Problem, x: Array) -> Models:
        """Start with the trained model for everybody."""
        sizes = np.full(self.models, -1.0)
        sizes[0] = 0
        which = np.zeros(problem.fleet.size, dtype=np.int64)
        return Models(np.repeat(x[None], self.models, axis=0), sizes, which)

    def model(self, state: Models) -> Array:
        """The model that most clients have."""
        theta: Array = state.thetas[np.bincount(state.which, minlength=self.models).argmax()]
        return theta

    def memory(self, problem: Problem) -> Fitted:
        """Nothing known."""
        known = super().memory(problem)
        return Fitted(known.ledger, known.belief, known.of_risk, np.zeros(()))

    def scores(
        self, problem: StreamProblem, state: Models, memory: Adapted, view: StreamView
    ) -> Array:
        """Logits of each client's model."""
        theta = state.thetas[state.which[view.clients]]
        return problem.model.forward(theta, view.inputs).logits


@dataclass(frozen=True)
class Fitting(Descending):
    """What both exchanges share: a download with all models."""

    algorithm: FedDrift
    together = False  # a download has a row for each client of the fleet

    def broadcast(self, state: Models, version: int) -> Models:
        """Send the models, and who has which."""
        return state

    def own(self, download: Models, clients: Ints) -> Array:
        """Models (k, P) of k clients, of tables (k, M, P) and (k, N)."""
        row = np.arange(len(clients))
        theta: Array = download.thetas[row, download.which[row, clients]]
        return theta


@dataclass(frozen=True)
class Trying(Fitting):
    """First exchange: predict, and try all models on a new batch; the server gives and joins."""

    payload_kind = Told

    def received(self, download: Models) -> Models:
        """All models, and which is the client's own."""
        return Models(download.thetas, download.sizes, download.which[:1])

    def adapt(
        self, download: Models, view: StreamView, memory: Fitted, steps: int
    ) -> LocalResult[Told]:
        """Predict with the model that one has, and try the others."""
        rule = self.algorithm
        first, before = memory.ledger.first(view.steps), memory.ledger.visits > 0
        rate = np.full(len(first), rule.rate)
        theta = self.own(download, view.clients)
        memory, figures = self.meet(theta, self.predict(theta, view), view, memory, rate)
        scene, there = Scene.of(self.problem, view), download.sizes >= 0
        losses = np.zeros(there.shape)
        nothing = np.zeros(self.problem.model.layout.size, dtype=bool)
        for m in range(rule.models):
            if there[:, m].any():
                theta = download.thetas[:, m]
                slope = rule.risk.slope(theta, scene, memory.belief, only=nothing)
                losses[:, m] = np.where(there[:, m], slope.value, 0)
        fits = np.where(there, losses, np.inf)
        least = fits.min(axis=1)
        drifted = first & before & (least > memory.least + rule.delta)
        wish = np.where(first, np.where(drifted, NEW, BEST), KEEP)
        memory = replace(memory, least=np.where(first, least, memory.least))
        return LocalResult(Told(losses, wish), memory, {**figures, "drift": drifted * 1.0})

    def step(
        self, state: Models, arrivals: Arrivals[Models, Told], weights: Floats
    ) -> tuple[Models, Mapping[str, float]]:
        """Give everybody a model, and join those that are alike."""
        rule, told = self.algorithm, arrivals.payload
        before = int((state.sizes >= 0).sum())
        thetas, sizes, which = state.thetas.copy(), state.sizes.copy(), state.which.copy()
        new = np.zeros(rule.models, dtype=bool)
        tried = (arrivals.download.sizes >= 0) & (sizes >= 0)
        best = np.where(tried, told.losses, np.inf).argmin(axis=1)
        for i, client in enumerate(arrivals.clients):
            free = np.flatnonzero(sizes < 0)
            if told.wish[i] == NEW and len(free):
                which[client] = free[0]
                thetas[free[0]] = self.problem.source.start
                sizes[free[0]], new[free[0]] = 0, True
            elif told.wish[i] != KEEP and tried[i].any():
                which[client] = best[i]
        fresh = (told.wish != KEEP) & ~arrivals.stale
        has = which[arrivals.clients[fresh]]
        for group in joined(told.losses[fresh], has, (sizes >= 0) & ~new, rule.delta):
            keep, seen = group[0], sizes[group]
            share = seen / seen.sum() if seen.sum() > 0 else np.full(len(group), 1 / len(group))
            thetas[keep] = weighted_sum(share, thetas[group])
            sizes[keep], sizes[group[1:]] = seen.sum(), -1
            which[np.isin(which, group)] = keep
        left = int((sizes >= 0).sum())
        figures = {"models": float(left), "joined": float(before + new.sum() - left)}
        return Models(thetas, sizes, which), {**figures, "new_models": float(new.sum())}

    def samples(self, clients: Ints, version: int) -> Floats:
        """Losses alone, no gradients."""
        return np.zeros(len(clients))

    def download_bytes(self) -> int:
        """All models, their sizes, and a number."""
        models = self.algorithm.models
        return models * (super().upload_bytes() + 8) + 8

    def upload_bytes(self) -> int:
        """A loss for each model, and a wish."""
        return 8 * self.algorithm.models + 8


@dataclass(frozen=True)
class Training(Fitting):
    """Second exchange: each model comes to those who have it, and is trained."""

    payload_kind = Whole

    def received(self, download: Models) -> Models:
        """The client's own model."""
        return Models(download.thetas[0], download.sizes[0], download.which[0])

    def adapt(
        self, download: Models, view: StreamView, memory: Fitted, steps: int
    ) -> LocalResult[Whole]:
        """Descend."""
        rate = np.full(len(view.clients), self.algorithm.rate)
        theta = self.descend(self.own(download, view.clients), view, memory, rate, steps)
        memory, after = self.close(theta, view, memory)
        return LocalResult(Whole(theta), memory, after)

    def step(
        self, state: Models, arrivals: Arrivals[Models, Whole], weights: Floats
    ) -> tuple[Models, Mapping[str, float]]:
        """Each model takes the mean way of its own clients."""
        thetas, sizes = state.thetas.copy(), state.sizes.copy()
        row = np.arange(len(arrivals.clients))
        have = arrivals.download.which[row, arrivals.clients]
        base = arrivals.download.thetas[row, have]
        each = self.algorithm.risk.examples(self.problem)
        kept = state.which[arrivals.clients] == have  # else it was joined to another meanwhile
        for m in np.unique(have[kept]):
            mine = kept & (have == m)
            total = weights[mine].sum()
            ways = (arrivals.payload.theta - base)[mine]
            if total > 0:
                thetas[m] += weighted_sum(weights[mine] / total, ways).astype(thetas.dtype)
                sizes[m] += each * int(mine.sum())
        return replace(state, thetas=thetas, sizes=sizes), {}

    def download_bytes(self) -> int:
        """One model, and two numbers."""
        return self.upload_bytes() + 16
