"""What came of a claim: a verdict, the sentence that gives the reason, and the numbers."""

from dataclasses import dataclass
from enum import StrEnum

from driftfold.studies.intervals import Interval


class Verdict(StrEnum):
    """What measured values say about a claim."""

    HOLDS = "holds"
    HOLDS_ONLY = "holds only"
    FAILS = "does not hold"
    UNDECIDED = "not decided"
    NOT_TESTED = "not tested"

    @property
    def tested(self) -> bool:
        """Whether there was anything to judge by."""
        return self is not Verdict.NOT_TESTED


@dataclass(frozen=True)
class Evidence:
    """One number behind a verdict."""

    what: str
    interval: Interval


@dataclass(frozen=True)
class Finding:
    """The verdict on a claim.

    Attributes
    ----------
    verdict
        What the values say.
    reason
        Why, in one sentence; of `HOLDS_ONLY` it says with what.
    evidence
        The numbers.
    """

    verdict: Verdict
    reason: str
    evidence: tuple[Evidence, ...] = ()
