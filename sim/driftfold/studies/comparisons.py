"""Rules by which claims are judged: what is smaller, what is the same, what lies in a band."""

from collections.abc import Mapping, Sequence

import numpy as np

from driftfold.studies.base import Experiment, Match, Published
from driftfold.studies.intervals import Interval, average, geometric_mean, mean
from driftfold.studies.values import NotMeasured, Sample, Values
from driftfold.studies.verdict import Evidence, Finding, Verdict

_ONE_SEED = "one seed has no interval"
_GRAVITY = (Verdict.NOT_TESTED, Verdict.FAILS, Verdict.UNDECIDED, Verdict.HOLDS_ONLY, Verdict.HOLDS)


def ratio(one: Sample, other: Sample) -> Interval:
    """Return the geometric mean of one / other over the seeds that both have."""
    return geometric_mean((one / other).values)


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
    """Judge that the mean over seeds lies in a band; undecided where only its interval does.

    >>> in_band("gap", Sample((1, 2), np.array([0.02, 0.03])), 0.015, 0.06).verdict
    <Verdict.HOLDS: 'holds'>
    """
    found = average(sample.values)
    match = Published("", 0, low, low, high).compare(found)
    verdict, place = {
        "met": (Verdict.HOLDS, "inside"),
        "open": (Verdict.UNDECIDED, "with its interval partly inside"),
        "missed": (Verdict.FAILS, "outside"),
    }[match or "missed"]
    reason = f"{what} is {place} [{low:.3g}, {high:.3g}]"
    return Finding(verdict, reason, (Evidence(what, found),))


def as_published(values: Values, experiment: Experiment, arms: Sequence[str] = ()) -> Finding:
    """Judge that the values with a band lie in it; "holds only" says how many do."""
    places: dict[Match, list[str]] = {"met": [], "open": [], "missed": []}
    evidence = []
    for row in experiment.published:
        if row.low is None or (arms and row.arm not in arms):
            continue
        metric = row.metric or experiment.metric
        found = average(values.sample(experiment.name, row.arm, row.round, metric).values)
        match = row.compare(found) or "missed"
        what = f"{experiment.arm(row.arm).label}, {metric} after {row.round}"
        places[match].append(what)
        if match != "met":
            evidence.append(Evidence(f"{what} (published {row.value:.3g})", found))
    return _of_published(places, tuple(evidence))


def _of_published(places: Mapping[Match, list[str]], evidence: tuple[Evidence, ...]) -> Finding:
    met, near, missed = (len(places[match]) for match in ("met", "open", "missed"))
    total = met + near + missed
    if met == total:
        return Finding(Verdict.HOLDS, f"all {total} published values are met")
    parts = [f"{met} of {total} published values are met"]
    parts += [f"{near} more are in reach of the seeds' interval"] if near else []
    parts += [f"{missed} {'is' if missed == 1 else 'are'} missed"] if missed else []
    if not missed:
        verdict = Verdict.UNDECIDED
    elif met + near == 0:
        verdict = Verdict.FAILS
    else:
        verdict = Verdict.HOLDS_ONLY
    return Finding(verdict, ", ".join(parts), evidence)


def grows(
    values: Values, experiment: Experiment, arms: Sequence[tuple[str, float]], round: int
) -> Finding:
    """Judge that a metric grows along arms: its slope in log-log coordinates, seed by seed."""
    samples = [values.sample(experiment.name, arm, round, experiment.metric) for arm, _ in arms]
    seeds = sorted(set.intersection(*(set(sample.seeds) for sample in samples)))
    x = np.log10([size for _, size in arms])
    slopes = [
        float(np.polyfit(x, np.log10([s.values[s.seeds.index(seed)] for s in samples]), 1)[0])
        for seed in seeds
    ]
    what = f"{experiment.title}: slope"
    if not seeds:
        raise NotMeasured(f"the arms of {experiment.name} share no seed")
    found = mean(slopes)
    evidence = (Evidence(what, found),)
    if not found.known:
        return Finding(Verdict.UNDECIDED, f"{what} is {found.centre:.3g}; {_ONE_SEED}", evidence)
    if found.low > 0:
        return Finding(Verdict.HOLDS, f"{what} is above 0", evidence)
    if found.high < 0:
        return Finding(Verdict.FAILS, f"{what} is below 0", evidence)
    return Finding(Verdict.UNDECIDED, f"the interval of {what} holds 0", evidence)


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
