"""The published embedding of the mammals, where the user has it."""

import zipfile
import zlib
from dataclasses import dataclass
from io import BytesIO
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Array
from driftfold.data.catalogue import read_set
from driftfold.data.relation import laplacian_features
from driftfold.data.wordnet_mammals import WordNetMammals
from driftfold.errors import DataError
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.tasks.embedding import Embedding, NamedPoints, ball_to_hyperboloid


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
        found = read_set("mammal_points", self.folder)
        ((name, content),) = found.files.items()
        names, ball = _read(content, str(found.places[name]))
        relation = WordNetMammals().load(seed).ordered([str(n) for n in names])
        return NamedPoints(
            names=relation.names,
            features=laplacian_features(relation, self.features),
            points=ball_to_hyperboloid(ball),
        )


def _read(content: bytes, where: str) -> tuple[Array, Array]:
    try:
        with np.load(BytesIO(content), allow_pickle=False) as archive:
            names, ball = archive["names"], archive["poincare_points"].astype(np.float64)
    except (KeyError, ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(
            f"{where} is no sound archive of names and poincare_points ({error}); write it again"
        ) from None
    if names.ndim != 1 or ball.shape[:1] != names.shape or ball.ndim != 2:
        raise DataError(
            f"{where} holds names of shape {names.shape} and points of shape {ball.shape}; wanted "
            "(n,) and (n, dim)"
        )
    if not ((ball * ball).sum(axis=-1) < 1).all():
        raise DataError(f"{where} holds points outside the open unit ball; scale them into it")
    return names, ball
