"""The published embedding of the mammals, where the user has it."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Gt

from driftfold.data.mammal_points import read_mammal_points
from driftfold.data.relation import laplacian_features
from driftfold.data.wordnet_mammals import WordNetMammals
from driftfold.manifolds.hyperbolic_forms import from_ball
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.tasks.embedding import Embedding, NamedPoints


@register("mammal_points")
@dataclass(frozen=True)
class MammalPoints(Embedding):
    """The 1,180 points of the Poincare disk that the experiments of RFedAGS predict.

    Read from ``hsp_mammals.npz``, with the arrays ``names`` and ``poincare_points``; names keep
    the order of the file. Features are Laplacian coordinates of the relation, as there.

    Attributes
    ----------
    features
        Number of features.
    folder
        Where the file lies; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> MammalPoints(folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: mammal_points is not in nowhere: no hsp_mammals.npz there; write ...
    """

    features: Annotated[int, Gt(0)] = 3
    folder: str | None = None

    def load(self, seed: Seed) -> NamedPoints:
        """Read the file; the seed is not used."""
        read = read_mammal_points(self.folder)
        relation = WordNetMammals().load(seed).ordered(read.names)
        return NamedPoints(
            names=relation.names,
            features=laplacian_features(relation, self.features),
            points=from_ball(read.points),
        )
