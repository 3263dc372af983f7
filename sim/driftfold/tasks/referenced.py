"""Problems of samples whose F* no formula gives: a centralised solver looks for it."""

from functools import cached_property

from driftfold.data.base import ClientData
from driftfold.fleet import Fleet
from driftfold.tasks.centralised import Reference, reference
from driftfold.tasks.sampled import SampledProblem


class ReferencedProblem(SampledProblem):
    """A problem whose gap is told where it was asked for and a solver found F*."""

    def __init__(self, data: ClientData, fleet: Fleet, asked: bool) -> None:
        super().__init__(data, fleet)
        self._asked = asked

    def optimum(self) -> float | None:
        """Return F*, the least value that limited-memory BFGS finds, where it gets that far."""
        return self._found.value

    def remark(self) -> str:
        """Why there is no gap, where one was asked for."""
        return self._found.remark if self._asked else ""

    def gap(self, loss: float) -> dict[str, float]:
        """Return loss - F* under its name, or nothing."""
        best = self.optimum() if self._asked else None
        return {} if best is None else {"gap": loss - best}

    @cached_property
    def _found(self) -> Reference:
        return reference(self)
