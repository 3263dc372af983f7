"""What a drift is bound to: whose stream it is, and how long."""

from dataclasses import dataclass, replace

from driftfold.arrays import Ints
from driftfold.rng import Seed, Stream


@dataclass(frozen=True, eq=False)
class Timeline:
    """The clients and steps of one stream.

    Attributes
    ----------
    clients
        Number of clients N.
    steps
        Number of steps T; they are 0 .. T-1.
    seconds
        Virtual time from one step to the next; step t is at t times that, and time 0 is midnight.
    seed
        The experiment's seed.
    part
        Name of the drift among those of the experiment: each draws numbers of its own.
    groups
        What each client's drift is towards (a class, a corruption, a domain), from 0, shape (N,),
        or None where nobody says.

    Examples
    --------
    >>> timeline = Timeline(clients=20, steps=100, seconds=3600.0, seed=Seed(7), part="labels")
    >>> timeline.stream("flips").purpose
    'drift.labels.flips'
    """

    clients: int
    steps: int
    seconds: float
    seed: Seed
    part: str = "drift"
    groups: Ints | None = None

    def stream(self, purpose: str, part: str = "") -> Stream:
        """Return the draws of this part, or of a named one, for `purpose`."""
        return self.seed.stream(f"drift.{part or self.part}.{purpose}")

    def of(self, part: str, groups: Ints | None = None) -> "Timeline":
        """Return the same stream as another part of the experiment sees it."""
        return replace(self, part=part, groups=self.groups if groups is None else groups)
