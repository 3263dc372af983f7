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
    domain
        Domain of each sample (a site, a device, a group of topics), from 0, shape (rows,), or None.
    inputs
        The samples themselves, shape (rows, ...), or None where they are made otherwise.
    shape
        Of a sample that is a picture with values in [0, 1]: (H, W) grey, or (H, W, ch) colour, in
        which order its numbers lie, flat or not; else None.
    """

    classes: int
    prior: Floats
    labels: Ints | None = None
    domain: Ints | None = None
    inputs: Array | None = None
    shape: tuple[int, ...] | None = None
