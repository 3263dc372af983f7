"""What a stream draws its samples from."""

from dataclasses import dataclass

from driftfold.arrays import Array, Floats, Ints


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
    inputs
        The samples themselves, shape (rows, ...), or None where they are made otherwise.
    picture
        Shape (H, W, ch) of the picture that an input is, or None for what is no picture. Inputs may
        be flat, with channels last.
    """

    classes: int
    prior: Floats
    labels: Ints | None = None
    domains: Ints | None = None
    inputs: Array | None = None
    picture: tuple[int, int, int] | None = None
