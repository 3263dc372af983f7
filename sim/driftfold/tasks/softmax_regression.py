"""Multinomial logistic regression: the convex, Euclidean case."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.data.base import ClientData, Data, Partition
from driftfold.data.gaussian_classes import GaussianClasses
from driftfold.data.iid import Iid
from driftfold.data.shared import row_weights
from driftfold.errors import SpecError
from driftfold.fleet import Fleet
from driftfold.manifolds.euclidean import Euclidean
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.tasks.base import Batch, Task
from driftfold.tasks.blocks import Parts
from driftfold.tasks.division import Clients, Weighting, divide
from driftfold.tasks.sampled import SampledProblem, SeparableView

_TILE_BYTES = 2**21  # of class scores computed at a time when the model is evaluated


class SoftmaxProblem(SampledProblem):
    """f_i(x) = (1/n_i) sum_j -log softmax(z_ij x)_(y_ij) + (l2/2) |x|^2, x of shape (d, classes).

    Parameters
    ----------
    data
        The clients' samples z_ij and classes y_ij.
    fleet
        The clients.
    l2
        Weight of the quadratic penalty.

    Examples
    --------
    >>> task = SoftmaxRegression(data=GaussianClasses(classes=3, features=4, samples=60), clients=2)
    >>> problem = task.build(Seed(1))
    >>> round(problem.evaluate(problem.initial_point(), time=0.0)["loss"], 4)  # log 3
    1.0986
    """

    def __init__(self, data: ClientData, fleet: Fleet, l2: float) -> None:
        super().__init__(data, fleet)
        if data.y is None or data.label_shares is None:
            raise SpecError(
                "softmax regression needs labels and these data have none; name a label file, or "
                "use other data"
            )
        self.labels: Ints = data.y
        self.classes = int(data.label_shares.shape[1])
        self.l2 = l2
        self._shares: Floats | None = None
        self.itemsize = int(data.x.itemsize)
        self.manifold = Euclidean(self.dimension, self.classes)

    @property
    def client_bytes(self) -> int:
        """Data, class scores, point and gradient."""
        n, d = self.longest, self.dimension
        return self.itemsize * (n * d + n * self.classes + 3 * d * self.classes)

    def initial_point(self) -> Array:
        """Return zero: all classes alike."""
        return np.zeros(self.manifold.shape, dtype=self.data.x.dtype)

    def view(self, clients: Ints, dispatches: Ints, times: Floats | float = 0.0) -> "SoftmaxView":
        """Return the data of some clients."""
        return SoftmaxView(self, clients, dispatches)

    def evaluate(self, x: Array, time: float) -> Mapping[str, float]:
        """Objective F(x), and accuracy: the clients' own, weighted by importance like F."""
        if self.data.rows is not None:
            return self._evaluate_rows(x)
        count = self.fleet.size
        tile = max(1, _TILE_BYTES // (self.longest * self.classes * self.itemsize))
        loss = accuracy = 0.0
        for start in range(0, count, tile):
            ids = np.arange(start, min(count, start + tile))
            view = self.view(ids, np.zeros_like(ids))
            importance = self.fleet.importance[ids]
            losses, right = view.scores(x, view.everything())
            loss += float(np.vdot(importance, losses))
            accuracy += float(np.vdot(importance, right))
        return {"loss": loss, "accuracy": accuracy}

    def _evaluate_rows(self, x: Array) -> Mapping[str, float]:
        """Return the same where clients share rows: each is looked at once, for all of them."""
        if self._shares is None:
            self._shares = row_weights(self.data, self.fleet.importance)
        tile = max(1, _TILE_BYTES // (self.classes * self.itemsize))
        loss, accuracy = self.l2 / 2 * float(np.vdot(x, x)), 0.0
        for start in range(0, len(self.data.x), tile):
            rows = slice(start, start + tile)
            labels, shares = self.labels[rows], self._shares[rows]
            scores = np.matmul(x.T, self.data.x[rows].T)
            losses, right = _rows_told(scores, labels, _places(labels, self.classes))
            loss += float(np.vdot(shares, losses))
            accuracy += float(np.vdot(shares, right))
        return {"loss": loss, "accuracy": accuracy}


class SoftmaxView(SeparableView):
    """The samples of some clients.

    Class scores are computed with samples along the last, contiguous axis: maxima and sums over
    classes then run along memory, about twice as fast as over rows of a few classes.
    """

    def __init__(self, problem: SoftmaxProblem, clients: Ints, dispatches: Ints) -> None:
        super().__init__(problem, clients, dispatches)
        self._labels = problem.labels
        self._classes = problem.classes
        self._l2 = problem.l2
        self._dtype = problem.data.x.dtype
        self._ones = np.ones((1, problem.classes), dtype=self._dtype)
        self._whole: tuple[Array, list[Ints]] | None = None

    def gradient(self, x: Array, batch: Batch) -> Array:
        """Z^T W (softmax(Z x) - one-hot labels) + l2 x, W the weights of the batch."""
        x = self._spread(x)
        out = np.empty(x.shape, dtype=np.result_type(x, self._dtype))
        parts = self._samples(batch)
        weights, places = self._targets(batch, parts)
        for (part, z), place in zip(parts, places, strict=True):
            scores = np.matmul(x[part].swapaxes(-1, -2), z.swapaxes(-1, -2))
            scores -= scores.max(axis=-2, keepdims=True)
            np.exp(scores, out=scores)
            scores *= weights[part][..., None, :] / np.matmul(self._ones, scores)
            scores.reshape(-1)[place] -= weights[part]
            np.matmul(z.swapaxes(-1, -2), scores.swapaxes(-1, -2), out=out[part])
        if self._l2:
            out += self._l2 * x
        return out

    def loss(self, x: Array, batch: Batch) -> Array:
        """Weighted mean of -log softmax at the true class, and the penalty."""
        return self.scores(x, batch)[0]

    def scores(self, x: Array, batch: Batch) -> tuple[Array, Array]:
        """Loss and share of samples whose class has the largest score, each of shape (...)."""
        x = self._spread(x)
        loss = np.empty(self.clients.shape, dtype=np.result_type(x, self._dtype))
        right = np.empty_like(loss)
        parts = self._samples(batch)
        weights, places = self._targets(batch, parts)
        for (part, z), place in zip(parts, places, strict=True):
            scores = np.matmul(x[part].swapaxes(-1, -2), z.swapaxes(-1, -2))
            losses, hit = _rows_told(scores, self._labels_of(batch)[part], place)
            loss[part] = (losses * weights[part]).sum(axis=-1)
            right[part] = (hit * weights[part]).sum(axis=-1)
        return loss + self._l2 / 2 * (x * x).sum(axis=(-1, -2)), right

    def _targets(self, batch: Batch, parts: Parts) -> tuple[Array, list[Ints]]:
        """Weights of the rows, and of each part the places of the true classes' scores."""
        if batch.whole and self._whole is not None:
            return self._whole
        labels = self._labels_of(batch)
        made = (
            batch.weights.astype(self._dtype),
            [_places(labels[part], self._classes) for part, _ in parts],
        )
        if batch.whole:
            self._whole = made
        return made

    def _labels_of(self, batch: Batch) -> Ints:
        if batch.indices is None:
            mine = self._problem.data.rows
            return self._labels[self.clients if mine is None else mine[self.clients]]
        labels: Ints = self._labels.reshape(-1)[self._rows(batch.indices)]
        return labels


def _rows_told(scores: Array, labels: Ints, place: Ints) -> tuple[Array, Bools]:
    """Loss of each row, and whether its class has the largest score, shape (..., n)."""
    true = scores.reshape(-1)[place]
    largest = scores.max(axis=-2)
    rest = np.log(np.exp(scores - largest[..., None, :]).sum(axis=-2))
    return largest - true + rest, scores.argmax(axis=-2) == labels


def _places(labels: Ints, classes: int) -> Ints:
    """Flat places of the scores [i, labels[i, j], j] in an array of shape (C, classes, n)."""
    n = labels.shape[-1]
    places: Ints = labels * n + np.arange(n)
    if labels.ndim == 2:
        places += (np.arange(len(labels)) * (classes * n))[:, None]
    return places


@register("softmax_regression")
@dataclass(frozen=True)
class SoftmaxRegression(Task):
    """Classification by a linear layer without bias and cross-entropy.

    min over x in R^(d x classes) of sum_i a_i f_i(x), f_i the mean cross-entropy of client i's
    samples plus (l2/2) |x|^2.

    Attributes
    ----------
    data
        Where the samples come from; they need labels.
    partition
        How they are divided.
    clients
        Number of clients, or "natural": the owners that the data name.
    l2
        Weight of the quadratic penalty.
    weighting
        ``clients``: a_i = 1/N. ``samples``: a_i proportional to n_i.
    precision
        Precision of data and gradients.

    Examples
    --------
    >>> task = SoftmaxRegression(data=GaussianClasses(classes=3, features=4, samples=60), clients=2)
    >>> task.build(Seed(1)).manifold.shape
    (4, 3)
    """

    data: Data = field(default_factory=GaussianClasses)
    partition: Partition = field(default_factory=Iid)
    clients: Clients = 100
    l2: Annotated[float, Ge(0)] = 0.0
    weighting: Weighting = "clients"
    precision: Literal["float64", "float32"] = "float64"

    def build(self, seed: Seed) -> SoftmaxProblem:
        """Load the data and divide them."""
        data, fleet = divide(
            self.data, self.partition, self.clients, self.weighting, seed, shared=True
        )
        data = replace(data, x=data.x.astype(self.precision, copy=False))
        return SoftmaxProblem(data, fleet, self.l2)
