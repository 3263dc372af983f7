"""Whether the parts of an experiment fit together, as far as that shows without any data."""

from typing import TYPE_CHECKING

from driftfold.errors import CapabilityError
from driftfold.registry import kind_of, kinds

if TYPE_CHECKING:
    from driftfold.spec.job import JobSpec


def check_capabilities(spec: "JobSpec") -> None:
    """Raise `CapabilityError` when the estimator needs a probability that nobody can know."""
    if not spec.estimator.needs_probability:
        return
    estimator, participation = kind_of(spec.estimator), spec.participation
    if not participation.knows_probability:
        known = [name for name, kind in kinds("participation").items() if kind.knows_probability]
        raise CapabilityError(
            f"estimator '{estimator}' needs the true probabilities, but participation "
            f"'{kind_of(participation)}' does not know them; choose participation "
            f"{', '.join(map(repr, known))}, or an estimator that counts, such as 'inclusive'"
        )
    why = spec.cadence.chooses()
    if why is not None:
        raise CapabilityError(
            f"estimator '{estimator}' needs the probability that a client contributes, but {why}; "
            "leave the choice to the participation model (for s of N clients: kind 'uniform'), or "
            "choose an estimator that counts, such as 'inclusive'"
        )
