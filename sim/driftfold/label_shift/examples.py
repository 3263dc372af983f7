"""Labelled examples of every class."""

import numpy as np

from driftfold.arrays import Ints
from driftfold.errors import DataError


def examples_of_classes(labels: Ints, classes: int) -> Ints:
    """Numbers of examples of each class, (K,), or `DataError` when a class has none.

    >>> examples_of_classes(np.array([0, 2, 2]), 3)
    Traceback (most recent call last):
    driftfold.errors.DataError: no held-out source example of class 1 of 3; ...
    """
    given = np.asarray(labels)
    wrong = given[(given < 0) | (given >= classes)]
    if wrong.size:
        raise DataError(
            f"got the label {wrong[0]} where there are {classes} classes; labels are from 0 to "
            f"{classes - 1}"
        )
    counts = np.bincount(given, minlength=classes)
    none = np.flatnonzero(counts == 0)
    if none.size:
        listed = ", ".join(map(str, none[:5].tolist())) + (", ..." if none.size > 5 else "")
        raise DataError(
            f"no held-out source example of class {listed} of {classes}; what the model takes it "
            "for is unknown: hold out examples of every class, or leave the class out"
        )
    return counts
