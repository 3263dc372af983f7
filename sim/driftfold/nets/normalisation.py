"""What batch normalisations (Ioffe and Szegedy 2015) have in common, in torch's conventions."""

from collections.abc import Iterable

import numpy as np

from driftfold.arrays import Floats
from driftfold.nets.layout import Entry

EPS = 1e-5
"""Added to the variance."""

MOMENTUM = 0.1
"""Share of a batch's statistics in the running ones."""


def norm_entries(name: str, width: int) -> tuple[Entry, Entry, Entry, Entry]:
    """Weight, bias, running mean and running variance.

    >>> [entry.name for entry in norm_entries("body.0.norm", 3) if entry.buffer]
    ['body.0.norm.running_mean', 'body.0.norm.running_var']
    """
    return (
        Entry(f"{name}.weight", (width,)),
        Entry(f"{name}.bias", (width,)),
        Entry(f"{name}.running_mean", (width,), buffer=True),
        Entry(f"{name}.running_var", (width,), buffer=True),
    )


def identity(entries: Iterable[Entry]) -> dict[str, Floats]:
    """First values of these arrays: a normalisation that changes nothing, by name."""
    ones = (".weight", ".running_var")
    return {
        e.name: np.ones(e.shape) if e.name.endswith(ones) else np.zeros(e.shape) for e in entries
    }


def check_batch(values: int, mode: str) -> None:
    """Raise `ValueError` where a batch has too few values of a feature for statistics."""
    if values < 2:
        raise ValueError(
            f"batch statistics in mode {mode!r} need 2 values or more of each feature, got "
            f'{values}; give more inputs, or use mode "eval"'
        )
