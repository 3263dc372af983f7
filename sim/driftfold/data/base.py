"""Data sets, and how they are divided among clients."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from driftfold.arrays import Array, Floats, Ints
from driftfold.registry import family
from driftfold.rng import Seed


@dataclass(frozen=True)
class Dataset:
    """Samples in rows.

    Attributes
    ----------
    x
        Features, shape (n, d), float64.
    y
        Class of each sample, 0 .. classes-1, shape (n,), or None.
    owner
        Client that each sample belongs to by nature, shape (n,), or None.
    each
        Number of samples of each client where all have as many and lie client by client; `owner`
        is then left out, which for many small samples would be as large as they are.
    fresh
        Whether nobody else holds `x`, so that its memory may be used for what is made of it.
    domain
        Number of the collection that each sample comes from, 0 .. domains-1, shape (n,), or None:
        inputs of one class differ between collections.
    shape
        Of a sample that is a picture: (H, W) grey, or (H, W, ch) colour, whose row holds one plane
        after another; `driftfold.data.pictures_of` gives rows their shape. None: no pictures.
    """

    x: Array
    y: Ints | None = None
    owner: Ints | None = None
    each: int | None = None
    fresh: bool = False
    domain: Ints | None = None
    shape: tuple[int, ...] | None = None

    @property
    def clients(self) -> int | None:
        """Number of clients that own the samples by nature, or None."""
        if self.each is not None:
            return len(self.x) // self.each
        return None if self.owner is None else int(self.owner.max()) + 1


@dataclass(frozen=True)
class ClientData:
    """The same samples, one block a client, padded with zero rows to one length.

    Attributes
    ----------
    x
        Shape (N, n_max, d); rows past a client's own `samples` are zero.
    y
        Shape (N, n_max), padded with 0, or None.
    samples
        Number of real rows n_i of each client, shape (N,).
    label_shares
        Share of each class in each client's samples, shape (N, classes), or None.
    fresh
        Whether nobody else holds `x`, so that its memory may be used for what is made of it.
    rows
        Where clients share samples: each client's row numbers, shape (N, n_max); x has then shape
        (n, d), and y (n,). None: nobody shares any.
    """

    x: Array
    y: Ints | None
    samples: Ints
    label_shares: Floats | None
    fresh: bool = False
    rows: Ints | None = None

    @property
    def longest(self) -> int:
        """Length n_max of the blocks."""
        return int((self.x if self.rows is None else self.rows).shape[1])

    @property
    def dimension(self) -> int:
        """Length d of a sample."""
        return int(self.x.shape[-1])

    def numbers(self, clients: Ints, places: Ints) -> Ints:
        """Numbers of rows of x, as an array of shape (..., d), at places in the clients' blocks.

        Clients have shape (...), places and result (..., B).
        """
        if self.rows is None:
            made: Ints = places + (clients * self.longest)[..., None]
            return made
        return np.take_along_axis(self.rows[clients], places, axis=-1).astype(np.int64)


@family("data")
class Data(ABC):
    """Where samples come from."""

    @abstractmethod
    def load(self, seed: Seed) -> Dataset:
        """Read or generate the data; raises `DataError` with what to do when it cannot."""


@family("partition")
class Partition(ABC):
    """How samples are divided among clients."""

    shares: ClassVar[bool] = False
    """Whether clients share samples; then all have as many."""

    @abstractmethod
    def split(self, dataset: Dataset, clients: int, seed: Seed) -> Sequence[Ints]:
        """Row numbers of each of `clients` clients; no row twice, unless clients share them."""
