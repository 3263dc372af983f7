"""The same cohorts again and again."""

from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Gt

from driftfold.arrays import Ints
from driftfold.fleet import Fleet
from driftfold.registry import register
from driftfold.selection.base import Free, Selection


@register("repeated")
@dataclass(frozen=True)
class Repeated(Selection[Any]):
    """Another rule whose draws come again after a number of dispatches.

    As in the released scripts of Fed-ADE (arXiv 2603.01040), which draw the cohorts of a step's R
    rounds once and use them at every step: of 100 clients, 10 a round, 60 to 71 are ever there with
    R = 10. While everybody is available the cohorts are the same; else those who are not there are
    replaced.

    Attributes
    ----------
    selection
        The rule.
    every
        Dispatches after which the draws come again: the rounds of a step.
    """

    selection: Selection[Any]
    every: Annotated[int, Gt(0)] = 10

    def begin(self, fleet: Fleet) -> Any:
        """Begin as the rule."""
        return self.selection.begin(fleet)

    def choose(
        self, state: Any, fleet: Fleet, pool: Ints, k: int, dispatch: int
    ) -> tuple[Ints, Any]:
        """Choose with an earlier dispatch's draws."""
        return self.selection.choose(state, fleet, pool, k, dispatch % self.every)

    def find(self, state: Any, fleet: Fleet, free: Free, k: int, dispatch: int) -> tuple[Ints, Any]:
        """Find with an earlier dispatch's draws."""
        return self.selection.find(state, fleet, free, k, dispatch % self.every)
