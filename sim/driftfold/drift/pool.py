"""What a stream draws its samples from."""

from dataclasses import dataclass

from driftfold.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Pool:
    """The samples that all clients' streams draw from, as far as a drift may know them.

    Attributes
    ----------
    classes
        Number of classes K.
    prior
        Share of each class where data come from, pi_0, shape (K,): that of pre-training.
    labels
        Class of each sample, shape (rows,), or None.
    domains
        Domain of each sample (a site, a device, a group of topics), from 0, shape (rows,), or None.
    """

    classes: int
    prior: Floats
    labels: Ints | None = None
    domains: Ints | None = None
