"""All of one class."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Floats
from driftfold.drift.pool import Pool
from driftfold.drift.target import LabelTarget
from driftfold.drift.timeline import Timeline
from driftfold.errors import SpecError
from driftfold.registry import register


@register("one_class")
@dataclass(frozen=True)
class OneClass(LabelTarget):
    """Samples of one class only: the strongest label shift there is.

    Attributes
    ----------
    label
        The class of all clients; `number`: client i has class i mod K; `drawn`: a uniformly random
        one for each client.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=3, steps=100, seconds=60.0, seed=Seed(1))
    >>> OneClass().shares(timeline, Pool(2, prior=np.full(2, 0.5))).tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    """

    label: Annotated[int, Ge(0)] | Literal["number", "drawn"] = "number"

    def shares(self, timeline: Timeline, pool: Pool) -> Floats:
        """Share of each class for each client, shape (N, K); `SpecError` if there is no class."""
        everyone = np.arange(timeline.clients)
        if self.label == "number":
            labels = everyone % pool.classes
        elif self.label == "drawn":
            labels = timeline.stream("class").integers(everyone, 0, 1, pool.classes)[:, 0]
        else:
            if self.label >= pool.classes:
                raise SpecError(
                    f"label target 'one_class' got label = {self.label}, but classes are numbered "
                    f"0 to {pool.classes - 1} here; choose one of them"
                )
            labels = np.full(timeline.clients, self.label)
        return np.eye(pool.classes)[labels]
