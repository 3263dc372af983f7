"""The fleet: what is fixed about the clients of one experiment."""

from dataclasses import dataclass

from driftfold.arrays import Floats, Ints
from driftfold.rng import Seed


@dataclass(frozen=True, eq=False)
class Fleet:
    """Who the clients are, as every model of their behaviour may know it.

    Two fleets are equal only if they are the same object, so that a fleet may be a key.

    Attributes
    ----------
    seed
        The experiment's seed; each model takes its own streams from it.
    samples
        Number of samples n_i of each client, shape (N,).
    importance
        Weight a_i of each client in the objective F = sum_i a_i f_i, shape (N,), sum 1.
    label_shares
        Share of each class among a client's samples, shape (N, classes), or None when the data
        have no labels.
    """

    seed: Seed
    samples: Ints
    importance: Floats
    label_shares: Floats | None = None

    @property
    def size(self) -> int:
        """Number of clients N."""
        return len(self.samples)
