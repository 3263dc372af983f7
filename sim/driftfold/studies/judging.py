"""From values to verdicts."""

from driftfold.studies.base import Claim, Study
from driftfold.studies.values import NotMeasured, Values
from driftfold.studies.verdict import Finding, Verdict


def judge(study: Study, values: Values, *, small: bool = False) -> list[tuple[Claim, Finding]]:
    """Judge every claim of a study; what was not measured is not tested.

    Of the small form only those experiments count that keep their published size.
    """
    smaller = [
        e.name for e in study.experiments if small and (e.small is None or e.small.is_smaller)
    ]
    return [(claim, _judged(claim, values.without(smaller))) for claim in study.claims]


def _judged(claim: Claim, values: Values) -> Finding:
    try:
        return claim.judge(values)
    except NotMeasured as missing:
        return Finding(Verdict.NOT_TESTED, str(missing))
