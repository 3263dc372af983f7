"""Signals: how much a client's predictions or features moved since its last batch.

They are what Fed-ADE (arXiv 2603.01040, section on drift signals) steers a client's rate by: no
label is needed, and no more memory than a mean.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, final

import numpy as np
import numpy.typing as npt

from driftfold.arrays import Bools, Floats, Ints
from driftfold.registry import family
from driftfold.rng import Seed

M = TypeVar("M")


@dataclass(frozen=True, eq=False)
class Observed:
    """What a model says about the present batches of k clients, before it is updated.

    Attributes
    ----------
    probabilities
        Predictions, shape (k, n, K), of any floating type.
    features
        Representations h(x), shape (k, n, d), of any floating type.
    gap
        Steps since each client's last batch, shape (k,): 1 for the step before, 0 where there was
        none.
    progress
        t / (T - 1), from 0 to 1, of the run so far; one for all or of each client, (k,).
    """

    probabilities: npt.NDArray[Any]
    features: npt.NDArray[Any]
    gap: Ints
    progress: Floats | float = 0.0

    @property
    def seen(self) -> Bools:
        """Whether a client had a batch before, shape (k,)."""
        return self.gap > 0

    def samples(self, which: slice) -> "Observed":
        """The same of some samples of each batch only."""
        some = self.probabilities[:, which], self.features[:, which]
        return Observed(*some, self.gap, self.progress)


@dataclass(frozen=True, eq=False)
class Held:
    """What the source model says on held-out source data: how batches look without any drift.

    Attributes
    ----------
    probabilities, features
        Predictions (m, K) and representations (m, d).
    batch
        n, the number of samples of a client's batch.
    seed
        Root of the draws of batches from them.
    weights
        How often each comes in a batch, in proportion, (m,): so that classes come as they did
        before deployment, however many of each are held out. None: all alike.
    kept
        Room for what is worked out when it is first asked for.
    """

    probabilities: npt.NDArray[Any]
    features: npt.NDArray[Any]
    batch: int
    seed: Seed
    weights: Floats | None = None
    kept: dict[str, Floats] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, eq=False)
class Sizes:
    """What a signal has to know of a model before it sees a batch.

    Attributes
    ----------
    classes, features
        K and d.
    held
        Held-out source data, for signals that are calibrated by them.
    """

    classes: int
    features: int
    held: Held | None = None


@family("signal")
class Signal(ABC, Generic[M]):
    """Drift signal S in [0, 1] of each client: 0 where nothing moved.

    A client's memory is a value: it goes in, and a new one comes out. Memories of several clients
    are stacked along a leading axis; what is said of one does not depend on the others, bit for
    bit.
    """

    @abstractmethod
    def begin(self, sizes: Sizes) -> M:
        """Memory of one client before its first batch: a tree of arrays."""

    @final
    def measure(self, memory: M, observed: Observed) -> tuple[Floats, M]:
        """S, shape (k,), and the memory that has seen this batch.

        S is 0 at a client's first batch. An empty batch, n = 0, gives 0 and leaves the memory as it
        is. What is not finite in a batch makes that client's S, or its memory, NaN. Raises
        `ValueError` for shapes that do not fit together.
        """
        seen, said, shown = observed.gap, observed.probabilities, observed.features
        if (
            said.ndim != 3
            or shown.ndim != 3
            or not (said.shape[:2] == shown.shape[:2] and seen.shape == said.shape[:1])
        ):
            raise ValueError(
                f"got probabilities {said.shape}, features {shown.shape} and gaps {seen.shape}; "
                "wanted (k, n, K), (k, n, d) and (k,)"
            )
        if not said.shape[1]:
            return np.zeros(len(said)), memory
        with np.errstate(invalid="ignore", over="ignore"):
            return self.compare(memory, observed)

    @abstractmethod
    def compare(self, memory: M, observed: Observed) -> tuple[Floats, M]:
        """Do what `measure` says, for batches of n >= 1."""

    @final
    def recall(self, memory: M, observed: Observed) -> M:
        """Memory as if the last batch had been seen by another model, which says `observed` of it.

        For signals without the change of the model itself: embed the last batch once more by the
        present model, recall, and measure. What is remembered beyond the last batch stays; an empty
        batch changes nothing.
        """
        return self.replace(memory, observed) if observed.probabilities.shape[1] else memory

    @abstractmethod
    def replace(self, memory: M, observed: Observed) -> M:
        """Do what `recall` says, for batches of n >= 1."""
