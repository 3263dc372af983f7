"""Random parameters of one array."""

from dataclasses import replace
from math import sqrt

from driftfold.arrays import Floats
from driftfold.nets.layout import Entry
from driftfold.rng import Stream


def uniform_by_fan_in(entry: Entry, fan_in: int, stream: Stream) -> Floats:
    """Uniform numbers in (-1/sqrt f, 1/sqrt f), f the fan-in, addressed by the array's name.

    So torch draws weights and biases of linear and convolutional layers by default (He et al. 2015
    with a slope of sqrt 5).

    >>> from driftfold.rng import Seed
    >>> uniform_by_fan_in(Entry("head.weight", (2, 4)), 4, Seed(1).stream("initial")).shape
    (2, 4)
    """
    own = replace(stream, purpose=f"{stream.purpose} {entry.name}")
    drawn: Floats = (2 * own.uniform(0, 0, entry.size) - 1) / sqrt(fan_in)
    return drawn.reshape(entry.shape)
