"""Rules by which claims are judged: what is smaller, what is the same, what lies in a band."""

import math
from collections.abc import Sequence

import numpy as np

from driftfold.studies.base import Experiment
from driftfold.studies.intervals import Interval, geometric_mean, mean
from driftfold.studies.values import Sample, Values, ratios
from driftfold.studies.verdict import Evidence, Finding, Verdict

_ONE_SEED = "one seed has no interval"
_GRAVITY = (Verdict.NOT_TESTED, Verdict.FAILS, Verdict.UNDECIDED, Verdict.HOLDS_ONLY, Verdict.HOLDS)


def ratio(one: Sample, other: Sample) -> Interval:
    """Return the geometric mean of one / other over the seeds that both have."""
    return mean(ratios(one, other)).raised()


def smaller(what: str, one: Sample, other: Sample) -> Finding:
    """Judge that one is smaller than the other: the ratio's whole interval lies below 1.

    >>> a, b = Sample((1, 2), np.array([1.0, 1.1])), Sample((1, 2), np.array([2.0, 2.3]))
    >>> smaller("a / b", a, b).verdict
    <Verdict.HOLDS: 'holds'>
    """
    found = ratio(one, other)
    evidence = (Evidence(what, found),)
    if not found.known:
        return Finding(Verdict.UNDECIDED, f"{what} is {found.centre:.3g}; {_ONE_SEED}", evidence)
    if found.high < 1:
        return Finding(Verdict.HOLDS, f"{what} is below 1", evidence)
    if found.low > 1:
        return Finding(Verdict.FAILS, f"{what} is above 1", evidence)
    return Finding(Verdict.UNDECIDED, f"the interval of {what} holds 1", evidence)


def ordered(
    values: Values,
    experiment: Experiment,
    arms: Sequence[str],
    round: int,
    metric: str = "",
) -> Finding:
    """Judge that arms come in this order after a round, the smallest value first."""
    key = metric or experiment.metric
    samples = [values.sample(experiment.name, arm, round, key) for arm in arms]
    labels = [experiment.arm(arm).label for arm in arms]
    pairs = zip(labels, labels[1:], samples, samples[1:], strict=False)
    found = [smaller(f"{a} / {b}", one, other) for a, b, one, other in pairs]
    said = " < ".join(labels) + f" after {round} rounds"
    return together(said, *found)


def same(what: str, one: Sample, other: Sample, margin: float) -> Finding:
    """Judge that two are the same up to a factor: the ratio's interval lies inside the margin.

    >>> a, b = Sample((1, 2), np.array([1.0, 2.0])), Sample((1, 2), np.array([1.01, 2.02]))
    >>> same("a / b", a, b, margin=1.1).verdict
    <Verdict.HOLDS: 'holds'>
    """
    found = ratio(one, other)
    evidence = (Evidence(what, found),)
    inside = f"within 1/{margin:g} and {margin:g}"
    if not found.known:
        return Finding(Verdict.UNDECIDED, f"{what} is {found.centre:.3g}; {_ONE_SEED}", evidence)
    if 1 / margin <= found.low and found.high <= margin:
        return Finding(Verdict.HOLDS, f"{what} is {inside}", evidence)
    if found.high < 1 / margin or found.low > margin:
        return Finding(Verdict.FAILS, f"{what} is not {inside}", evidence)
    return Finding(Verdict.UNDECIDED, f"the interval of {what} is not {inside}", evidence)


def in_band(what: str, sample: Sample, low: float, high: float) -> Finding:
    """Judge that the geometric mean over seeds lies in a band.

    >>> in_band("gap", Sample((1, 2), np.array([0.02, 0.03])), 0.015, 0.06).verdict
    <Verdict.HOLDS: 'holds'>
    """
    found = geometric_mean(sample.values)
    inside = low <= found.centre <= high
    return Finding(
        Verdict.HOLDS if inside else Verdict.FAILS,
        f"{what} is {'inside' if inside else 'outside'} [{low:.3g}, {high:.3g}]",
        (Evidence(what, found),),
    )


def as_published(values: Values, experiment: Experiment, arms: Sequence[str] = ()) -> Finding:
    """Judge that the values with a band lie in it; "holds only" names those that do."""
    met: list[str] = []
    missed: list[str] = []
    evidence = []
    for row in experiment.published:
        if row.low is None or (arms and row.arm not in arms):
            continue
        metric = row.metric or experiment.metric
        found = geometric_mean(values.sample(experiment.name, row.arm, row.round, metric).values)
        what = f"{experiment.arm(row.arm).label}, {metric} after {row.round}"
        (met if row.met_by(found.centre) else missed).append(what)
        if not row.met_by(found.centre):
            evidence.append(Evidence(f"{what} (published {row.value:.3g})", found))
    total = len(met) + len(missed)
    if not missed:
        return Finding(Verdict.HOLDS, f"all {total} published values are met")
    if not met:
        return Finding(Verdict.FAILS, f"none of {total} published values is met", tuple(evidence))
    return Finding(
        Verdict.HOLDS_ONLY,
        f"{len(met)} of {total} published values are met; not met: {'; '.join(missed)}",
        tuple(evidence),
    )


def together(said: str, *findings: Finding) -> Finding:
    """Judge that all of several findings hold: the gravest verdict counts."""
    verdict = min((f.verdict for f in findings), key=_GRAVITY.index)
    evidence = tuple(row for f in findings for row in f.evidence)
    if verdict is Verdict.HOLDS:
        return Finding(verdict, said, evidence)
    reasons = [f.reason for f in findings if f.verdict is not Verdict.HOLDS]
    return Finding(verdict, "; ".join(reasons), evidence)


def minimum(values: Values, experiment: str, arm: str, metric: str) -> Sample:
    """Return the smallest value that each run ever had."""
    runs = {key[2]: s for key, s in values.series.items() if key[:2] == (experiment, arm)}
    least = {
        seed: float(np.nanmin(s.values[metric])) for seed, s in runs.items() if metric in s.values
    }
    values.sample(experiment, arm, 0, metric)  # tells who asks for what nobody measured
    seeds = tuple(sorted(least))
    return Sample(seeds, np.array([least[seed] for seed in seeds]))


def decades(factor: float) -> float:
    """Return a factor in powers of ten.

    >>> decades(2.0)
    0.301...
    """
    return math.log10(factor)
