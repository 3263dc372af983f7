"""Labels that change their meaning."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, final

import numpy as np
from annotated_types import Ge, Gt, MinLen

from driftfold.arrays import Ints
from driftfold.drift.base import ConceptCourse, ConceptDrift
from driftfold.drift.pool import Pool
from driftfold.drift.schedule import Schedule
from driftfold.drift.schedules.step import Step
from driftfold.drift.timeline import Timeline
from driftfold.errors import SpecError
from driftfold.registry import register
from driftfold.rng import Stream


@register("label_swaps")
@dataclass(frozen=True)
class LabelSwaps(ConceptDrift):
    """With probability w a sample has the other of two labels: each client swaps a pair of classes.

    P(x) stays as it is, so that nothing but labels can show it. By default pairs go by the client's
    number mod 10: below 3 the first, below 6 the second, else the third, and one sudden swap comes
    in the middle: Chen et al., "Classifier Clustering and Feature Alignment for Federated Learning
    under Distributed Concept Drift" (FedCCFA, NeurIPS 2024). A schedule that comes back to 0 undoes
    the swap.

    Attributes
    ----------
    schedule
        How w moves.
    pairs
        Pairs of classes.
    bounds
        Client i has the first pair whose bound is above i mod the last bound; with (1, ..., m) pair
        i mod m.
    assigned
        `number`: as above; `drawn`: a uniformly random pair for each client.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=10, steps=100, seconds=60.0, seed=Seed(1))
    >>> course = LabelSwaps().bind(timeline, Pool(10, prior=np.full(10, 0.1)))
    >>> labels = np.tile(np.arange(7), (2, 1))
    >>> course.relabel(labels, np.array([0, 3]), np.array([50, 50]))
    array([[0, 2, 1, 3, 4, 5, 6],
           [0, 1, 2, 4, 3, 5, 6]])
    """

    schedule: Schedule = field(default_factory=Step)
    pairs: Annotated[tuple[tuple[Annotated[int, Ge(0)], Annotated[int, Ge(0)]], ...], MinLen(1)] = (
        (1, 2),
        (3, 4),
        (5, 6),
    )
    bounds: tuple[Annotated[int, Gt(0)], ...] = (3, 6, 10)
    assigned: Literal["number", "drawn"] = "number"

    def bind(self, timeline: Timeline, pool: Pool) -> ConceptCourse:
        """Return the course of all clients; a client's group is the number of its pair."""
        self._check(pool.classes)
        everyone, count = np.arange(timeline.clients), len(self.pairs)
        if self.assigned == "drawn":
            which = timeline.stream("pair").integers(everyone, 0, 1, count)[:, 0]
        else:
            which = np.searchsorted(self.bounds, everyone % self.bounds[-1], side="right")
        path = self.schedule.path(timeline.of(timeline.part, which))
        return Swapping(path, np.array(self.pairs)[which], timeline.stream("swaps"))

    def _check(self, classes: int) -> None:
        for one, other in self.pairs:
            if not one != other or max(one, other) >= classes:
                raise SpecError(
                    f"drift 'label_swaps' got the pair ({one}, {other}); give two different "
                    f"classes of 0 to {classes - 1}"
                )
        if self.assigned == "number":
            rising = list(self.bounds) == sorted(set(self.bounds))
            if len(self.bounds) != len(self.pairs) or not rising:
                raise SpecError(
                    f"drift 'label_swaps' got the bounds {list(self.bounds)} for "
                    f"{len(self.pairs)} pairs; give one bound for each pair, in ascending order"
                )


@final
@dataclass(frozen=True, eq=False)
class Swapping(ConceptCourse):
    """Each client's swap, sample by sample.

    Attributes
    ----------
    pairs
        The two classes of each client, shape (N, 2).
    draws
        Stream of the samples that are swapped, addressed by client and step.
    """

    pairs: Ints
    draws: Stream

    def relabel(self, labels: Ints, clients: Ints, steps: Ints) -> Ints:
        """Labels as they are meant, shape (k, n)."""
        w = self.path.weight(clients, steps)[:, None]
        swapped = self.draws.uniform(clients, steps, labels.shape[1]) < w
        one, other = self.pairs[clients, :1], self.pairs[clients, 1:]
        turned = np.where(labels == one, other, np.where(labels == other, one, labels))
        return np.where(swapped, turned, labels)
