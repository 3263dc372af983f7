"""A deployed classifier whose clients' data drift, and who have no labels."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Array, Floats, Ints
from driftfold.data.base import Data, Dataset
from driftfold.data.catalogue.folder import data_folder
from driftfold.data.digits import Digits
from driftfold.data.picture_rows import pictures_of
from driftfold.drift.base import Drift
from driftfold.drift.drifting import bind
from driftfold.drift.pool import Pool
from driftfold.drift.timeline import Timeline
from driftfold.errors import SpecError
from driftfold.fleet import Fleet
from driftfold.nets.base import Net
from driftfold.nets.mlp import Mlp
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.tasks.base import Task
from driftfold.tasks.streams.class_shares import ClassShares, class_shares
from driftfold.tasks.streams.kept_models import kept
from driftfold.tasks.streams.pretraining import Pretraining
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.source import Source
from driftfold.tasks.streams.split import split
from driftfold.tasks.streams.stream import Stream


@register("drifting_classification")
@dataclass(frozen=True)
class DriftingClassification(Task):
    """Clients start from one trained classifier and meet batches without labels, which drift.

    At virtual time s each client meets the batch of step floor(s / period) of its stream.

    Attributes
    ----------
    data
        Labelled samples.
    pool
        Where streams are drawn from; None: from what is left of `data`.
    source
        Number of examples that the classifier is trained on before deployment.
    source_classes
        How often each class occurs among them.
    held_out
        Labelled examples kept from training: for the confusion matrix, and for calibration.
    reference
        Training examples of each class that every client has.
    clients, batch, steps
        N clients, n inputs of a batch, T steps of a stream; after the last one it stays as it is.
    period
        Virtual seconds from one step to the next.
    drift
        What moves; nothing where it is empty.
    net
        The classifier.
    pretraining
        How it is trained.
    keep_trained
        Whether trained parameters are kept in the folder of data sets for the next run.
    precision
        Of parameters and inputs.

    Examples
    --------
    >>> task = DriftingClassification(clients=3, pretraining=Pretraining(epochs=2))
    >>> problem = task.build(Seed(1))
    >>> problem.view(np.arange(3), np.zeros(3, dtype=int), times=10.0).inputs.shape
    (3, 50, 8, 8)
    """

    data: Data = field(default_factory=Digits)
    pool: Data | None = None
    source: Annotated[int, Gt(0)] = 700
    source_classes: ClassShares = "natural"
    held_out: Annotated[int, Gt(0)] = 300
    reference: Annotated[int, Gt(0)] = 20
    clients: Annotated[int, Gt(0)] = 20
    batch: Annotated[int, Gt(0)] = 50
    steps: Annotated[int, Gt(0)] = 100
    period: Annotated[float, Gt(0)] = 1.0
    drift: tuple[Drift, ...] = ()
    net: Net = field(default_factory=Mlp)
    pretraining: Pretraining = field(default_factory=Pretraining)
    keep_trained: bool = True
    precision: Literal["float64", "float32"] = "float32"

    def build(self, seed: Seed) -> StreamProblem:
        """Load the data, train the classifier or find it trained, and bind the drifts."""
        dataset = self.data.load(seed)
        x, y = self._samples(dataset)
        shares = class_shares(self.source_classes, y)
        parts = split(y, self.source, self.held_out, shares, seed)
        source = self._source(x, y, parts.source, parts.held_out, seed)
        if self.pool is None:
            pool, labels = x[parts.pool], y[parts.pool]
            domains = None if dataset.domain is None else dataset.domain[parts.pool]
        else:
            other = self.pool.load(seed)
            pool, labels = self._samples(other)
            domains = other.domain
            _same_kind(x, pool, int(labels.max()) + 1, len(shares))
        if len(labels) < self.batch:
            raise SpecError(
                f"a batch has {self.batch} inputs, but only {len(labels)} samples are left for the "
                "streams; lower `batch`, `source` or `held_out`, or name a `pool`"
            )
        timeline = Timeline(self.clients, self.steps, self.period, seed)
        known = Pool(len(shares), source.prior, labels, domains, pool, dataset.shape)
        drifting = bind(self.drift, timeline, known)
        stream = Stream(pool, labels, domains, drifting, self.clients, self.batch, self.steps, seed)
        stream.check()
        fleet = Fleet(
            seed=seed,
            samples=np.full(self.clients, self.batch),
            importance=np.full(self.clients, 1 / self.clients),
            label_shares=drifting.average_shares(self.clients, self.steps),
        )
        return StreamProblem(source, stream, fleet, self.period)

    def _samples(self, dataset: Dataset) -> tuple[Array, Ints]:
        """Inputs, (H, W) or (H, W, ch) each where they are pictures, and labels."""
        if dataset.y is None:
            raise SpecError(
                "task 'drifting_classification' needs labels to train with and to judge by, and "
                "these data have none; take data with classes"
            )
        x = dataset.x if dataset.shape is None else pictures_of(dataset.x, dataset.shape)
        return np.ascontiguousarray(x, self.precision), dataset.y

    def _source(self, x: Array, y: Ints, train: Ints, held: Ints, seed: Seed) -> Source:
        model = self.net.model(x.shape[1:], int(y.max()) + 1, np.dtype(self.precision))
        inputs, labels = x[train], y[train]

        def make() -> Floats:
            return self.pretraining.train(model, inputs, labels, seed)

        recipe = (self.net, self.pretraining, seed)
        theta = kept(data_folder(), recipe, inputs, labels, make) if self.keep_trained else make()
        counts = np.bincount(labels, minlength=model.classes)
        if counts.min() < self.reference:
            raise SpecError(
                f"class {counts.argmin()} has {counts.min()} examples before deployment, fewer "
                f"than the {self.reference} that every client is to have; lower `reference`, or "
                "raise `source`"
            )
        chosen = np.concatenate(
            [np.flatnonzero(labels == k)[: self.reference] for k in range(model.classes)]
        )
        return Source(
            model, theta, counts / len(labels), inputs[chosen], labels[chosen], x[held], y[held]
        )


def _same_kind(x: Array, pool: Array, classes: int, known: int) -> None:
    if x.shape[1:] != pool.shape[1:] or classes > known:
        raise SpecError(
            f"samples of the pool have shape {pool.shape[1:]} and {classes} classes, those of the "
            f"data {x.shape[1:]} and {known}; take a pool of the same kind"
        )
