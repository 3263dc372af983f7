"""Whether work that is broken off means something as an answer."""

from typing import TYPE_CHECKING

from driftfold.algorithms.partial_work import PartialWork
from driftfold.algorithms.wrapped import Wrapper
from driftfold.combinations.weighted_sum import WeightedSum
from driftfold.errors import CapabilityError
from driftfold.registry import kind_of, kinds
from driftfold.world.cadences.flow import Flow
from driftfold.world.cadences.immediate import Immediate

if TYPE_CHECKING:
    from driftfold.spec.job import JobSpec


def check_interrupts(spec: "JobSpec") -> None:
    """Raise `CapabilityError` where a part of the work would be sent and has no meaning."""
    algorithm, cadence = spec.algorithm, spec.cadence
    partial = spec.faults.on_interrupt == "partial"
    if (
        isinstance(cadence, Flow)
        and cadence.beyond == "force"
        and not (partial and cadence.max_staleness)
    ):
        raise CapabilityError(
            f"cadence '{kind_of(cadence)}' has clients send the steps they have done when their "
            "answer is about to be older than max_staleness; give a max_staleness of at least 1, "
            "and faults.on_interrupt = 'partial', which says what such an answer is; or choose "
            "beyond 'drop' or 'clip'"
        )
    if not partial:
        return
    if isinstance(cadence, Immediate) and cadence.mixes == "model":
        raise CapabilityError(
            "faults.on_interrupt is 'partial', and cadence 'immediate' mixes models: an end point "
            "has no share of a way; set mixes = 'delta', or on_interrupt to 'lose' or 'suspend'"
        )
    while isinstance(algorithm, Wrapper):
        if (why := algorithm.needs_whole_work()) is not None:
            kind = kind_of(algorithm)
            raise CapabilityError(
                f"faults.on_interrupt is 'partial', and '{kind}' takes no part of a client's work: "
                f"{why}; leave '{kind}' out, or set on_interrupt to 'lose' or 'suspend'"
            )
        algorithm = algorithm.algorithm
    if not isinstance(algorithm, PartialWork):
        able = [name for name, kind in kinds("algorithm").items() if issubclass(kind, PartialWork)]
        raise CapabilityError(
            f"faults.on_interrupt is 'partial', and the first of its local steps are no answer of "
            f"algorithm '{kind_of(algorithm)}'; choose algorithm {', '.join(map(repr, able))}, or "
            "on_interrupt 'lose' or 'suspend'"
        )
    if not isinstance(algorithm.combine, WeightedSum):
        raise CapabilityError(
            "faults.on_interrupt is 'partial', where the share of the work that was done enters "
            f"the weights of a sum, and combine is '{kind_of(algorithm.combine)}'; choose combine "
            "'weighted_sum', or on_interrupt 'lose' or 'suspend'"
        )
