"""From values to verdicts."""

from dataclasses import replace

from driftfold.studies.base import Claim, Study
from driftfold.studies.values import NotMeasured, Values
from driftfold.studies.verdict import Finding, Verdict


def judge(study: Study, values: Values, *, small: bool = False) -> list[tuple[Claim, Finding]]:
    """Judge every claim of a study; what was not measured is not tested.

    Where runs that a claim needs have no result, because they failed or are not over, its reason
    says how many. A claim is not tested, either, if of something that it compares there is nothing
    at all, wherever that was to be run.

    Of the small form only those experiments count that keep their published size.
    """
    smaller = [
        e.name for e in study.experiments if small and (e.small is None or e.small.is_smaller)
    ]
    return [(claim, _judged(claim, values.without(smaller))) for claim in study.claims]


def _judged(claim: Claim, values: Values) -> Finding:
    values = values.afresh()
    try:
        found = claim.judge(values)
    except NotMeasured as missing:
        return Finding(Verdict.NOT_TESTED, str(missing) + _told(values))
    if gone := _gone(values):
        said = f"there is no result at all of {', '.join(gone)}"
        return Finding(Verdict.NOT_TESTED, said + _told(values), found.evidence)
    return replace(found, reason=found.reason + _told(values))


def _told(values: Values) -> str:
    """How many runs are missing."""
    missed = values.missed()
    if not missed:
        return ""
    all_of_them = sum(key[:2] in values.asked for key in values.wanted)
    first = "/".join(map(str, missed[0]))
    return f"; {len(missed)} of {all_of_them} runs that it needs have no result, {first} the first"


def _gone(values: Values) -> list[str]:
    """Arms asked for that have no result in any experiment in which they were to be run."""
    wanted = {arm for experiment, arm, _ in values.wanted if (experiment, arm) in values.asked}
    there = {arm for experiment, arm, _ in values.series if (experiment, arm) in values.asked}
    return sorted(wanted - there)
