"""What each client keeps count of while it adapts: how often it was right, and at what rate."""

from dataclasses import replace

import numpy as np

from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.trees import node


@node
class Ledger:
    """Counts of one client over the steps of its stream that it took part in.

    Attributes
    ----------
    step
        The latest of these steps; -1 before the first.
    visits
        How many they are.
    seen, before, after
        Inputs met; how many of them were classified rightly before the client adapted to them, and
        how many after it did.
    latest
        Those of the latest step that were right after the last adaptation so far.
    closed_at, closings
        The latest step after whose adaptation the client was measured, -1 before the first, and how
        many they are: who misses the end of a round is not.
    rounds
        Rounds that it took part in: one or more a step.
    rates
        Sum of the client's rates over these.
    """

    step: Array
    visits: Array
    seen: Array
    before: Array
    after: Array
    latest: Array
    closed_at: Array
    closings: Array
    rounds: Array
    rates: Array

    def opened(self, steps: Ints, hits: Ints, size: int, rates: Floats) -> "Ledger":
        """Count a round at `rates`, and if it is a step's first, its `size` inputs and `hits`.

        All are of shape (k,), as the leaves are.
        """
        new = self.step != steps
        return Ledger(
            step=steps,
            visits=self.visits + new,
            seen=self.seen + size * new,
            before=self.before + hits * new,
            after=self.after,
            latest=np.where(new, 0, self.latest),
            closed_at=self.closed_at,
            closings=self.closings,
            rounds=self.rounds + 1,
            rates=self.rates + rates,
        )

    def closed(self, hits: Ints) -> "Ledger":
        """Count `hits` after adapting; they replace those of an earlier round of the step."""
        return replace(
            self,
            after=self.after + hits - self.latest,
            latest=hits,
            closed_at=self.step,
            closings=self.closings + (self.closed_at != self.step),
        )

    def first(self, steps: Ints) -> Bools:
        """Whether this is each client's first round of a step, shape (k,)."""
        new: Bools = self.step != steps
        return new

    def gap(self, steps: Ints) -> Ints:
        """Steps since each client's last one; 0 before the first, shape (k,)."""
        gap: Ints = np.where(self.step < 0, 0, steps - self.step)
        return gap


def blank() -> Ledger:
    """Return the ledger of a client that was never there."""
    zero = np.zeros((), dtype=np.int64)
    none = np.array(-1, dtype=np.int64)
    return Ledger(none, zero, zero, zero, zero, zero, none, zero, zero, np.zeros(()))
