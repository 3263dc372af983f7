"""Embeddings of named things in hyperbolic space, with features that predict the places."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from driftfold.arrays import Floats
from driftfold.errors import SpecError
from driftfold.registry import family
from driftfold.rng import Seed


@dataclass(frozen=True)
class NamedPoints:
    """Named points of hyperbolic space.

    Attributes
    ----------
    names
        Each name once.
    features
        What is known of each name, in rows, shape (n, k).
    points
        Spatial parts on the hyperboloid, in rows, shape (n, dim).
    """

    names: tuple[str, ...]
    features: Floats
    points: Floats

    def number(self, name: str) -> int:
        """Row of a name; raises `SpecError` when there is none."""
        if name not in self.names:
            some = ", ".join(self.names[:3])
            raise SpecError(
                f"the embedding has no {name!r} among its {len(self.names)} names ({some}, ...); "
                "use one it has"
            )
        return self.names.index(name)


@family("embedding")
class Embedding(ABC):
    """Where an embedding comes from."""

    @abstractmethod
    def load(self, seed: Seed) -> NamedPoints:
        """Read or train it; raises `DataError` with what to do when it cannot."""
