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
    cadence, partial = spec.cadence, spec.faults.on_interrupt == "partial"
    force = isinstance(cadence, Flow) and cadence.beyond == "force"
    if not (partial or force):
        return
    if (found := _obstacle(spec)) is not None:
        why, change = found
        asks = ["faults.on_interrupt is 'partial'"] if partial else []
        asks += ["cadence.beyond is 'force', which calls for steps done so far"] if force else []
        rest = ["on_interrupt to 'lose' or 'suspend'"] if partial else []
        rest += ["beyond to 'drop' or 'clip'"] if force else []
        raise CapabilityError(
            f"{' and '.join(asks)}, and {why}; {change}, or set {' and '.join(rest)}"
        )
    if isinstance(cadence, Flow) and force and not (partial and cadence.max_staleness):
        raise CapabilityError(
            f"cadence '{kind_of(cadence)}' has clients send the steps they have done when their "
            "answer is about to be older than max_staleness; give a max_staleness of at least 1, "
            "and faults.on_interrupt = 'partial', which says what such an answer is; or choose "
            "beyond 'drop' or 'clip'"
        )


def _obstacle(spec: "JobSpec") -> tuple[str, str] | None:
    """Why a part of a client's work is no answer here, and what to change; None where it is one."""
    algorithm, cadence = spec.algorithm, spec.cadence
    if isinstance(cadence, Immediate) and cadence.mixes == "model":
        return (
            "cadence 'immediate' mixes models: an end point has no share of a way",
            "set mixes = 'delta'",
        )
    while isinstance(algorithm, Wrapper):
        if (why := algorithm.needs_whole_work()) is not None:
            kind = kind_of(algorithm)
            return f"'{kind}' takes no part of a client's work: {why}", f"leave '{kind}' out"
        algorithm = algorithm.algorithm
    if not isinstance(algorithm, PartialWork):
        able = [name for name, kind in kinds("algorithm").items() if issubclass(kind, PartialWork)]
        return (
            f"the first of its local steps are no answer of algorithm '{kind_of(algorithm)}'",
            f"choose algorithm {', '.join(map(repr, able))}",
        )
    if not isinstance(algorithm.combine, WeightedSum):
        return (
            "the share of the work that was done enters the weights of a sum, while combine is "
            f"'{kind_of(algorithm.combine)}'",
            "choose combine 'weighted_sum'",
        )
    return None
