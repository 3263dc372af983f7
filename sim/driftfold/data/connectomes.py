"""Correlations of brain networks."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Floats
from driftfold.data.base import Data, Dataset
from driftfold.data.catalogue import read_set
from driftfold.data.csv_table import numbers
from driftfold.data.spd_rows import rows_of
from driftfold.errors import DataError
from driftfold.registry import register
from driftfold.rng import Seed

_TABLE, _LABELS = "train_FNC.csv", "train_labels.csv"


@register("connectomes")
@dataclass(frozen=True)
class Connectomes(Data):
    """86 SPD matrices, 28 x 28: correlations of brain networks of 46 controls and 40 patients.

    The 378 numbers of a person fill the triangle above the diagonal row by row; the diagonal is 1.
    ``driftfold data get connectomes`` fetches them.

    Attributes
    ----------
    root
        Whether to take each matrix's square root.
    ridge
        Multiple of the identity that is added.
    folder
        Where the two files lie; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> Connectomes(folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: connectomes is not in nowhere: no train_FNC.csv, ...
    """

    root: bool = False
    ridge: Annotated[float, Ge(0)] = 0.0
    folder: str | None = None

    def load(self, seed: Seed) -> Dataset:
        """Read the matrices after checking them; the seed is not used."""
        found = read_set("connectomes", self.folder)
        matrices, people = correlations(found.files[_TABLE], found.places[_TABLE])
        labelled = numbers(found.files[_LABELS], [0, 1], found.places[_LABELS])
        if labelled[:, 0].tolist() != people.tolist():
            raise DataError(
                f"{_TABLE} and {_LABELS} list different people; obtain files that belong together"
            )
        x = rows_of(matrices, root=self.root, ridge=self.ridge, source="connectomes")
        return Dataset(x=x, y=labelled[:, 1].astype(np.int64))


def correlations(content: bytes, where: object) -> tuple[Floats, Floats]:
    """Matrices with a unit diagonal of a table of their upper triangles, and each one's id."""
    width = content.partition(b"\n")[0].count(b",")
    size = round((1 + (1 + 8 * width) ** 0.5) / 2)
    if size * (size - 1) // 2 != width:
        raise DataError(f"{where} has {width} numbers a row, which fill no triangle")
    table = numbers(content, range(width + 1), where)
    matrices = np.tile(np.eye(size), (len(table), 1, 1))
    row, column = np.triu_indices(size, 1)
    matrices[:, row, column] = matrices[:, column, row] = table[:, 1:]
    return matrices, table[:, 0]
