"""Rules by which the claims of the study are judged: fixed before the values were known.

All is judged by accuracy before the update, the mean over the whole stream. In the core grid a
comparison is one of a set and a shift, of the mean over the four schedules, seed by seed. Sets that
were not to be run are left out; what is lost because runs failed is told. Of several comparisons of
one claim those count that are significant after Holm's correction, by Student's test of the
differences between seeds.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise

import numpy as np

from driftfold.studies.comparisons import ratio
from driftfold.studies.fedade.candidates import RISKS
from driftfold.studies.fedade.crowds import COUNTS, CROWD_END
from driftfold.studies.fedade.measuring import ACCURACY
from driftfold.studies.fedade.questions import BOUNDS, SOURCES
from driftfold.studies.fedade.search import JUMPS, VARIANTS
from driftfold.studies.fedade.settings import END, SCHEDULES, SETTINGS, Setting, Shift
from driftfold.studies.fedade.systems import matched_to
from driftfold.studies.intervals import CONFIDENCE, mean
from driftfold.studies.significance import (
    Comparison,
    Gain,
    Pair,
    all_larger,
    all_smaller,
    all_within,
    holm,
    some_larger,
    without,
)
from driftfold.studies.values import NotMeasured, NotRun, Sample, Values
from driftfold.studies.verdict import Evidence, Finding, Verdict

_SLOWER = ("fth", "atlas", "fed-poe", "fedccfa")
"""Systems that took longer than Fed-ADE in the paper."""

WORTH = 0.5
"""Points that are worth an adaptive rate: where all intervals stay below, it does not win."""

COLLAPSE = 10.0
"""Points below the frozen model that count as a collapse."""

_BOTH: tuple[Shift, ...] = ("label", "covariate")


def over_schedules(values: Values, setting: Setting, arm: str, metric: str = ACCURACY) -> Sample:
    """Return the mean of a system over the four schedules, by seed."""
    found = [values.sample(setting.name(s), arm, END, metric) for s in SCHEDULES]
    seeds = sorted(set.intersection(*(set(sample.seeds) for sample in found)))
    if not seeds:
        raise NotMeasured(f"no seed of {setting.short} has all four schedules")
    kept = [[s.values[s.seeds.index(seed)] for seed in seeds] for s in found]
    return Sample(tuple(seeds), np.mean(kept, axis=0))


@dataclass(frozen=True)
class Compared:
    """Comparisons of several sets, and the names of those that were lost for want of results."""

    made: list[Comparison]
    lost: list[str]


def compared(sides: Iterable[Iterable[tuple[str, Callable[[], Comparison]]]]) -> Compared:
    """Make named comparisons; those of sets that were not to be run are left out.

    Those of one group have the same two sides: raises `NotMeasured` where all of them are lost, or
    where none of any group was to be run.
    """
    made, lost = list[Comparison](), list[str]()
    first: NotMeasured | None = None
    for group in sides:
        mine, missing = list[Comparison](), list[str]()
        for name, compare in group:
            try:
                mine.append(compare())
            except NotRun as reason:
                first = first or reason
            except NotMeasured:
                missing.append(name)
        if missing and not mine:
            raise NotMeasured(f"all comparisons of two sides are lost, as {missing[0]}")
        made += mine
        lost += missing
    if not made:
        raise first or NotMeasured("no set was run")
    return Compared(made, lost)


def gains(
    values: Values, pairs: Iterable[tuple[str, str]], shifts: Sequence[Shift] = _BOTH
) -> Compared:
    """Return how far each first arm is above the second, in all sets and shifts that were run."""

    def gain(name: str, setting: Setting, one: str, other: str) -> Gain:
        both = [over_schedules(values, setting, arm) for arm in (one, other)]
        return Gain(name, *both)

    def each(one: str, other: str) -> Iterator[tuple[str, Callable[[], Comparison]]]:
        for setting in SETTINGS:
            if setting.shift in shifts:
                name = f"{one} above {other} ({setting.short})"
                yield name, partial(gain, name, setting, one, other)

    return compared(each(*pair) for pair in pairs)


def above(
    said: str, pairs: Sequence[tuple[str, str]], shifts: Sequence[Shift], values: Values
) -> Finding:
    """Judge that each first arm is above the second, in all sets and shifts."""
    found = gains(values, pairs, shifts)
    return all_larger(said, found.made, found.lost)


def above_under(
    said: str, setting: Setting, pairs: Sequence[tuple[str, str]], values: Values
) -> Finding:
    """Judge that each first arm is above the second in one setting, over its four schedules."""
    made = [
        Gain(
            f"{one} above {other} ({setting.short})",
            over_schedules(values, setting, one),
            over_schedules(values, setting, other),
        )
        for one, other in pairs
    ]
    return all_larger(said, made)


def beyond_rate(said: str, ablated: str, values: Values) -> Finding:
    """Judge that Fed-ADE is further above its own mean rate than an ablation above its own.

    So what a signal adds is told from what another mean rate does.
    """

    def gain(name: str, setting: Setting, risk: str) -> Gain:
        ade, flat, less, less_flat = (
            over_schedules(values, setting, f"{what}-{risk}")
            for what in ("ade", "matched", ablated, f"{ablated}-matched")
        )
        return Gain(name, ade - flat, less - less_flat)

    def each(risk: str) -> Iterator[tuple[str, Callable[[], Comparison]]]:
        what = f"gain over the own mean, ade-{risk} above {ablated}-{risk}"
        for setting in SETTINGS:
            name = f"{what} ({setting.short})"
            yield name, partial(gain, name, setting, risk)

    found = compared(each(risk) for risk in RISKS)
    return all_larger(said, found.made, found.lost)


def single(values: Values, experiment: str, one: str, other: str, end: int = END) -> Gain:
    """How far an arm is above another in one experiment."""
    both = [values.sample(experiment, arm, end, ACCURACY) for arm in (one, other)]
    return Gain(f"{one} above {other} ({experiment})", *both)


def above_in(
    said: str, experiments: Sequence[str], pairs: Sequence[tuple[str, str]], values: Values
) -> Finding:
    """Judge that each first arm is above the second in each of some experiments."""
    return all_larger(said, [single(values, e, *pair) for e in experiments for pair in pairs])


def collapse(values: Values) -> Finding:
    """Judge that one rate is far below the frozen model."""
    gain = single(values, "bounds", "frozen", "one-entropy")
    moved = Sample(gain.one.seeds, gain.one.values - COLLAPSE / 100)
    beyond = Gain(f"frozen above FixLR 1, entropy, less {COLLAPSE:g}", moved, gain.other)
    said = f"frozen is above FixLR with eta = 1 and entropy by {gain.interval.centre:.3g} points"
    return all_larger(f"{said}; wanted {COLLAPSE:g}", [beyond])


def floor(values: Values) -> Finding:
    """S where nothing moves, as a share of what it is under the four schedules."""
    still = values.sample("floor", "ade-bbse", END, "signal")
    moving = over_schedules(values, SETTINGS[0], "ade-bbse", "signal")
    share = ratio(still, moving)
    evidence = (Evidence("S without drift / S under four schedules", share),)
    said = f"of the mean signal under drift {100 * share.centre:.3g} % is there without drift"
    half = Sample(moving.seeds, moving.values / 2)
    judged = all_smaller("S without drift is below half", [Pair("S / half of S", still, half)])
    return Finding(judged.verdict, f"{said}; {judged.reason}", evidence)


def pretraining(values: Values) -> Finding:
    """Fed-ADE against both fixed rates, whatever the classes before deployment."""
    pairs = [
        single(values, "pretraining", f"{kind}-ade-{risk}", f"{kind}-{other}-{risk}")
        for kind in SOURCES
        for risk in RISKS
        for other in ("best", "ade-matched")
    ]
    return all_larger("Fed-ADE is above the tuned and the matched fixed rate", pairs)


def bounds(values: Values) -> Finding:
    """All pairs of bounds, within a point of each other."""
    pairs = [
        single(values, "bounds", f"{one}-{risk}", f"{other}-{risk}")
        for risk in RISKS
        for one, other in combinations(BOUNDS, 2)
    ]
    return all_within("bounds of the rate", pairs, 1.0)


def best_of(experiment: str, names: Sequence[str], wanted: str, values: Values) -> Finding:
    """Judge that one of several variants is the best, with both risks."""
    pairs = [
        single(values, experiment, f"{wanted}-{risk}", f"{name}-{risk}")
        for risk in RISKS
        for name in names
        if name != wanted
    ]
    return all_larger(f"{wanted} is above the others", pairs)


def some_beyond_rate(experiment: str, names: Sequence[str], values: Values) -> Finding:
    """Judge that some variant is above the fixed rate equal to its own mean."""
    pairs = [
        single(values, experiment, f"{name}-{risk}", f"{name}-matched-{risk}")
        for risk in RISKS
        for name in names
    ]
    return some_larger("above their own mean rate", pairs, WORTH)


def clients(values: Values) -> Finding:
    """Judge that the gain over the frozen model grows with the fleet."""

    def gain(n: int) -> Sample:
        pair = single(values, "clients", f"{n}-ade-entropy", f"{n}-frozen", CROWD_END)
        return pair.one - pair.other

    pairs = [
        Gain(f"gain over frozen, {more:,} clients above {less:,}", gain(more), gain(less))
        for less, more in pairwise(COUNTS)
    ]
    return all_larger("the gain grows with the number of clients", pairs)


def fewer_gradients(values: Values) -> Finding:
    """Gradients are counted, not drawn: they are the same with every seed."""
    setting = SETTINGS[0].name("lin")
    mine = values.sample(setting, "ade-bbse", END, "gradients")
    rows = {
        other: mean((mine - values.sample(setting, other, END, "gradients")).values)
        for other in _SLOWER
    }
    below = [name for name, row in rows.items() if row.centre < 0]
    told = f"fewer than {' and '.join(below) or 'none'}, of {', '.join(_SLOWER)}"
    met = Verdict.HOLDS if len(below) == len(_SLOWER) else Verdict.HOLDS_ONLY
    evidence = tuple(
        Evidence(f"gradients of Fed-ADE less those of {other}", row) for other, row in rows.items()
    )
    return Finding(met if below else Verdict.FAILS, told, evidence)


def fewer_seconds(values: Values) -> Finding:
    """Seconds of a core for a step of all clients, in the core grid's first setting."""
    mine = over_schedules(values, SETTINGS[0], "ade-bbse", "cpu")
    pairs = [
        Pair(
            f"seconds of Fed-ADE / {other}", mine, over_schedules(values, SETTINGS[0], other, "cpu")
        )
        for other in _SLOWER
    ]
    return all_smaller("fewer seconds of a core", pairs)


def search(values: Values) -> Finding:
    """Every adaptive arm against its own mean rate, and against the tuned fixed rate."""
    cells: list[tuple[str, Gain, Gain]] = []
    lost: list[str] = []
    for name in (f"search-{jump}" for jump in JUMPS):
        for risk in RISKS:
            for variant in VARIANTS:
                what = f"{variant}-{risk}"
                try:
                    over = single(values, name, what, f"{matched_to(variant)}-{risk}")
                    best = single(values, name, what, f"best-{risk}")
                except NotRun:
                    continue
                except NotMeasured:
                    lost.append(f"{what}, {name}")
                    continue
                cells.append((f"{what}, {name}", over, best))
    if not cells:
        raise NotMeasured("no setting of the search was run")
    by_mean = holm([over.p_value for _, over, _ in cells])
    by_both = holm([max(over.p_value, best.p_value) for _, over, best in cells])
    ahead = [
        not over.less and p <= 1 - CONFIDENCE
        for (_, over, _), p in zip(cells, by_mean, strict=True)
    ]
    won = [
        what
        for (what, over, best), p in zip(cells, by_both, strict=True)
        if p <= 1 - CONFIDENCE and not over.less and not best.less
    ]
    told = f"of {len(cells)} adaptive arms {sum(ahead)} are above their own mean rate"
    told += f", {len(won)} above the tuned fixed rate, too"
    evidence = tuple(
        Evidence(pair.what, pair.interval)
        for (_, over, best), first in zip(cells, ahead, strict=True)
        if first
        for pair in (over, best)
    )
    if won:
        finding = Finding(Verdict.HOLDS, f"{told}: {', '.join(won)}", evidence)
        return without(finding, lost, some=True)
    # An arm loses where either interval stays below what would be worth having.
    most = max(min(over.interval.high, best.interval.high) for _, over, best in cells)
    verdict = Verdict.FAILS if most < WORTH else Verdict.UNDECIDED
    reason = f"{told}; intervals of both reach up to {most:.3g} points"
    return without(Finding(verdict, reason, evidence), lost, some=True)
