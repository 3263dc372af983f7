"""Relations: pairs of named things, such as the is-a pairs of a taxonomy."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.errors import DataError
from driftfold.memory import gigabytes, machine_bytes
from driftfold.registry import family
from driftfold.rng import Seed

SPECTRUM_BYTES = 32
"""About how many bytes the coordinates of a relation's names take for each pair of names."""


@dataclass(frozen=True)
class Relation:
    """Pairs of numbered names.

    Attributes
    ----------
    names
        What the numbers stand for, each name once.
    pairs
        Numbers of (lower, upper) in each pair, e.g. (dog, mammal), shape (m, 2).

    Examples
    --------
    >>> tree = relation_of([("dog", "mammal"), ("cat", "mammal")])
    >>> tree.names, tree.pairs.tolist(), tree.number("cat")
    (('cat', 'dog', 'mammal'), [[1, 2], [0, 2]], 0)
    """

    names: tuple[str, ...]
    pairs: Ints

    @property
    def adjacency(self) -> Floats:
        """Symmetric matrix with 1 where a pair joins two names, shape (n, n)."""
        joined = np.zeros((len(self.names), len(self.names)))
        joined[self.pairs[:, 0], self.pairs[:, 1]] = 1
        return np.maximum(joined, joined.T)

    def number(self, name: str) -> int:
        """Row of a name; raises `DataError` when the relation does not have it."""
        try:
            return self.names.index(name)
        except ValueError:
            raise DataError(
                f"the relation has no {name!r} among its {len(self.names)} names; use one it has"
            ) from None

    def ordered(self, names: Sequence[str]) -> "Relation":
        """Return the same relation with its names in another order.

        >>> relation_of([("dog", "mammal")]).ordered(["mammal", "dog"]).pairs.tolist()
        [[1, 0]]
        """
        if sorted(names) != sorted(self.names):
            raise DataError(
                f"got {len(names)} names for a relation of {len(self.names)}; wanted the same ones "
                "in another order"
            )
        place = {name: row for row, name in enumerate(names)}
        moved = np.array([place[name] for name in self.names], dtype=np.int64)
        return Relation(names=tuple(names), pairs=moved[self.pairs])


@family("relation")
class RelationSource(ABC):
    """Where a relation comes from."""

    def extent(self) -> tuple[int, int]:
        """At least how many names and pairs there are, as far as the fields alone tell."""
        return 1, 1

    @abstractmethod
    def load(self, seed: Seed) -> Relation:
        """Read or generate the relation; raises `DataError` with what to do when it cannot."""


def relation_of(pairs: Sequence[tuple[str, str]]) -> Relation:
    """Number the names of pairs in alphabetical order."""
    names = sorted({name for pair in pairs for name in pair})
    number = {name: row for row, name in enumerate(names)}
    numbered = [[number[lower], number[upper]] for lower, upper in pairs]
    return Relation(names=tuple(names), pairs=np.array(numbered, dtype=np.int64).reshape(-1, 2))


def laplacian_features(relation: Relation, count: int = 3) -> Floats:
    """Coordinates of the names that vary slowly over the graph of the pairs, shape (n, count).

    Columns are the generalised eigenvectors of (D - A) v = lambda D v with the `count` smallest
    eigenvalues above zero, scaled to v^T D v = 1, in order of eigenvalue: A the adjacency of the
    undirected pairs, D its row sums (Belkin and Niyogi 2003, as the RFedAGS experiments use them).
    Each column's sign makes its largest entry positive. In a graph so symmetric that eigenvalues
    repeat, the coordinates are one choice of many.

    Raises
    ------
    DataError
        A name without a pair, a graph in several pieces, or fewer than count + 1 names.

    Examples
    --------
    >>> path = relation_of([("a", "b"), ("b", "c")])
    >>> features = laplacian_features(path, 1)
    >>> features[[0, 2], 0].round(4).tolist(), bool(abs(features[1, 0]) < 1e-12)
    ([0.7071, -0.7071], True)
    """
    values, vectors = laplacian_spectrum(relation)
    if count + 1 > len(values):
        raise DataError(
            f"{len(values)} names have {len(values) - 1} coordinates, {count} were wanted; ask for "
            "fewer"
        )
    if values[1] < 1e-12:
        raise DataError(
            "the pairs form a graph in several pieces, whose coordinates are not unique; use a "
            "relation in which every name is joined to every other one"
        )
    chosen = vectors[:, 1 : count + 1]
    size = np.abs(chosen)
    largest = np.argmax(size > (1 - 1e-9) * size.max(axis=0), axis=0)
    signs = np.sign(chosen[largest, np.arange(count)])
    features: Floats = np.ascontiguousarray(chosen * signs)
    return features


def laplacian_spectrum(relation: Relation) -> tuple[Floats, Floats]:
    """Eigenvalues (n,), ascending, and vectors in columns of (D - A) v = lambda D v.

    >>> laplacian_spectrum(relation_of([("a", "b"), ("b", "c")]))[0].round(12).tolist()
    [0.0, 1.0, 2.0]
    """
    needed = SPECTRUM_BYTES * len(relation.names) ** 2
    if needed > machine_bytes():
        raise DataError(
            f"coordinates of {len(relation.names):,} names take {gigabytes(needed)}, this machine "
            f"has {gigabytes(machine_bytes())}; use a smaller relation"
        )
    joined = relation.adjacency
    degree = joined.sum(axis=1)
    if not degree.all():
        lone = relation.names[int(np.argmin(degree))]
        raise DataError(f"{lone!r} is in no pair, so it has no coordinates; leave it out")
    root = np.sqrt(degree)
    normal = np.diag(degree) - joined
    values, vectors = np.linalg.eigh(normal / root / root[:, None])
    return np.maximum(values, 0.0), vectors / root[:, None]
