"""Clocks that clients of one group share."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, MinLen

from driftfold.arrays import Floats, Ints
from driftfold.drift.clock import Clock, Readings
from driftfold.drift.timeline import Timeline
from driftfold.errors import CapabilityError
from driftfold.registry import register


@register("by_group")
@dataclass(frozen=True)
class ByGroup(Clock):
    """Clients of a group meet a schedule together, one group after the other.

    What a client's drift is towards is its group: of labels the class that it moves to most, of
    corruptions the corruption, of domains the domain it ends in, of swaps the pair of classes. So
    drift is correlated with whatever else follows these groups, such as participation by labels.
    Groups 0, 10, 20 steps late are the incremental drift of Chen et al. (FedCCFA, NeurIPS 2024).

    Attributes
    ----------
    start
        Steps that the clocks of each group stand still at first; with fewer entries than groups
        they are taken in turn.
    phase
        What they show at step 0, in steps of the schedule.
    pace
        Steps of the schedule that pass in one of the stream.
    of
        `drift`: groups as above. `number`: client i is of group i mod the number of entries.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(4, steps=100, seconds=60.0, seed=Seed(1), groups=np.array([2, 0, 1, 3]))
    >>> ByGroup(start=(0, 10, 20)).readings(timeline).start
    array([20.,  0., 10.,  0.])
    """

    start: Annotated[tuple[Annotated[float, Ge(0)], ...], MinLen(1)] = (0.0,)
    phase: Annotated[tuple[float, ...], MinLen(1)] = (0.0,)
    pace: Annotated[tuple[Annotated[float, Gt(0)], ...], MinLen(1)] = (1.0,)
    of: Literal["drift", "number"] = "drift"

    def readings(self, timeline: Timeline) -> Readings:
        """Return the clocks; raises `CapabilityError` when the drift has no groups."""
        groups = timeline.groups if self.of == "drift" else np.arange(timeline.clients)
        if groups is None:
            raise CapabilityError(
                "clock 'by_group' follows what clients' drifts are towards, but this drift has no "
                "such groups; write of = 'number', or choose another clock"
            )
        return Readings(_of(self.start, groups), _of(self.pace, groups), _of(self.phase, groups))


def _of(values: tuple[float, ...], groups: Ints) -> Floats:
    each: Floats = np.array(values, np.float64)[groups % len(values)]
    return each
