"""Whether the parts of an experiment fit together, as far as that shows without any data."""

from typing import TYPE_CHECKING

from driftfold.algorithms.private import Private
from driftfold.algorithms.wrapped import layers
from driftfold.drift.base import Drift
from driftfold.drift.drifting import check_together
from driftfold.errors import CapabilityError
from driftfold.estimators.capped import Capped
from driftfold.estimators.oracle import Oracle
from driftfold.participation.bernoulli import Bernoulli
from driftfold.participation.in_slots import InSlots
from driftfold.registry import kind_of, kinds
from driftfold.spec.interrupts import check_interrupts
from driftfold.spec.parts import parts

if TYPE_CHECKING:
    from driftfold.spec.job import JobSpec


def check_capabilities(spec: "JobSpec") -> None:
    """Raise `CapabilityError` when parts presume what is not so, or have no meaning together."""
    _check_presumed(spec)
    _check_repeats(spec)
    check_interrupts(spec)
    check_together([part for _, part in parts(spec.task) if isinstance(part, Drift)])
    if spec.estimator.needs_probability:
        _check_known(spec)


def _check_known(spec: "JobSpec") -> None:
    """The estimator needs a probability that can be known."""
    estimator, participation = kind_of(spec.estimator), spec.participation
    if not participation.knows_probability:
        every = kinds("participation").items()
        known = [name for name, kind in every if kind.knows_probability is True]
        without = [name for name, kind in every if issubclass(kind, InSlots)]
        raise CapabilityError(
            f"estimator '{estimator}' needs the true probabilities, but participation "
            f"'{kind_of(participation)}', as it is here, does not know them; choose participation "
            f"{', '.join(map(repr, known))}, without a slot {', '.join(map(repr, without))}, or an "
            "estimator that counts, such as 'inclusive'"
        )
    why = spec.cadence.chooses()
    if why is not None:
        raise CapabilityError(
            f"estimator '{estimator}' needs the probability that a client contributes, but {why}; "
            "leave the choice to the participation model (for s of N clients: kind 'uniform'), or "
            "choose an estimator that counts, such as 'inclusive'"
        )


def _check_repeats(spec: "JobSpec") -> None:
    """Weights and privacy mean something where a client contributes twice to a step."""
    if not spec.cadence.repeats:
        return
    if any(isinstance(part, Private) for _, part in parts(spec.algorithm)):
        raise CapabilityError(
            f"in cadence '{kind_of(spec.cadence)}' a fast client may contribute several times to "
            "one server step, and 'private' bounds each contribution and counts one a step; choose "
            "cadence 'synchronous' or 'immediate'"
        )
    if not spec.estimator.counts_repeats:
        able = [name for name, kind in kinds("estimator").items() if kind.counts_repeats is True]
        raise CapabilityError(
            f"in cadence '{kind_of(spec.cadence)}' a fast client may contribute several times to "
            f"one server step, and estimator '{kind_of(spec.estimator)}' estimates the probability "
            f"of contributing at all; choose an estimator that counts: "
            f"{', '.join(map(repr, able))}, or cadence 'synchronous' or 'immediate'"
        )


def _check_presumed(spec: "JobSpec") -> None:
    """The algorithm builds on a bound on the probability of taking part, independently of all."""
    participation, rule = spec.participation, spec.estimator
    presuming = [
        (kind_of(layer), bound)
        for layer in layers(spec.algorithm)
        if (bound := layer.presumed_probability) is not None
    ]
    if not presuming:
        return
    who, presumed = presuming[-1]  # those outside may only pass it on
    told = f"algorithm '{who}' presumes that clients take part independently, each with a "
    told += f"probability of at most {presumed}; "
    if not isinstance(participation, Bernoulli) or participation.largest > presumed:
        largest = f" up to {participation.largest}" if isinstance(participation, Bernoulli) else ""
        raise CapabilityError(
            f"{told}participation is '{kind_of(participation)}'{largest}; choose participation "
            "'bernoulli' with no larger p, or leave out presumed_probability"
        )
    if (why := spec.cadence.chooses()) is not None:
        raise CapabilityError(f"{told}but {why}; leave out presumed_probability")
    while isinstance(rule, Capped):
        rule = rule.rule
    if not isinstance(rule, Oracle):
        raise CapabilityError(
            f"{told}the weights of estimator '{kind_of(spec.estimator)}' would tell who else takes "
            "part; choose estimator 'oracle', or leave out presumed_probability"
        )
