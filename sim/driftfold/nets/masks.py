"""Which units dropout keeps, addressed by key."""

from dataclasses import dataclass, replace

import numpy as np

from driftfold.arrays import Bools, Ints
from driftfold.rng import Stream


@dataclass(frozen=True)
class Masks:
    """Dropout masks of some clients, named by (seed, purpose, layer, client, visit).

    The same masks come whenever they are asked for, whoever else is asked for; a visit is one
    forward pass in mode "train", so each step of a client's work has a number of its own.

    Attributes
    ----------
    stream
        The draws: `seed.stream("dropout")`.
    clients, visits
        Whole numbers that broadcast to the leading axes (...) of the pass.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> masks = Masks(Seed(7).stream("dropout"), np.arange(2), np.zeros(2, dtype=int))
    >>> masks.kept("body.0", (4,), share=0.5).shape
    (2, 4)
    """

    stream: Stream
    clients: Ints
    visits: Ints

    def kept(self, layer: str, shape: tuple[int, ...], share: float) -> Bools:
        """Units that stay, shape (..., *shape); `share` of them are dropped, to within 2^-32."""
        stream = replace(self.stream, purpose=f"{self.stream.purpose} of {layer}")
        words = stream.words(self.clients, self.visits, int(np.prod(shape)))
        kept: Bools = words >= np.uint32(min(round(share * 2**32), 2**32 - 1))
        return kept.reshape(*words.shape[:-1], *shape)

    def of(self, place: tuple[int, ...], lead: tuple[int, ...]) -> "Masks":
        """Masks of the one client at a place of the leading axes."""
        who, when = (np.broadcast_to(each, lead)[place] for each in (self.clients, self.visits))
        return Masks(self.stream, who, when)
