"""Covariances of muscle signals."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Floats, Ints
from driftfold.data.base import Data, Dataset
from driftfold.data.catalogue import read_set
from driftfold.data.csv_table import numbers, words
from driftfold.data.spd_rows import rows_of
from driftfold.errors import DataError
from driftfold.registry import register
from driftfold.rng import Seed

_ELECTRODES = range(1, 9)


@register("emg")
@dataclass(frozen=True)
class Emg(Data):
    """SPD matrices, 8 x 8: covariances of eight electrodes, while a hand made one of five signs.

    Two people in two sessions each are four natural owners, whose data differ: a real shift. The
    signal of one sign in one session is cut into windows. ``driftfold data get emg`` fetches it.

    Attributes
    ----------
    window
        Rows of a window, 9 or more; 500 gives 1,454 matrices.
    root
        Whether to take each matrix's square root.
    ridge
        Multiple of the identity that is added.
    folder
        Where emg.csv lies; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> Emg(folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: emg is not in nowhere: no emg.csv there; run 'driftfold data get...
    """

    window: Annotated[int, Ge(9)] = 500
    root: bool = False
    ridge: Annotated[float, Ge(0)] = 0.0
    folder: str | None = None

    def load(self, seed: Seed) -> Dataset:
        """Read the signals after checking them; the seed is not used."""
        found = read_set("emg", self.folder)
        (name, content), *_ = found.files.items()
        matrices, y, owner = windows_of(content, self.window, found.places[name])
        x = rows_of(matrices, root=self.root, ridge=self.ridge, source="emg")
        return Dataset(x=x, y=y, owner=owner)


def windows_of(content: bytes, window: int, where: object) -> tuple[Floats, Ints, Ints]:
    """Covariances (n, 8, 8) of whole windows, their signs, and the sessions they are from."""
    signal = numbers(content, _ELECTRODES, where)
    (signs, sign), (sessions, session) = words(content, 2, where)
    matrices, y, owner = list[Floats](), list[int](), list[int]()
    for s in range(len(signs)):
        for p in range(len(sessions)):
            own = signal[(sign == s) & (session == p)]
            count = len(own) // window  # a rest at the end is left out
            for part in own[: count * window].reshape(count, window, 8):
                matrices.append(np.cov(part.T))
                y.append(s)
                owner.append(p)
    if not matrices:
        raise DataError(
            f"{where} has no {window} rows of one sign in one session; set a smaller window"
        )
    return np.stack(matrices), np.array(y, np.int64), np.array(owner, np.int64)
