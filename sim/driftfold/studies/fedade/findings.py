"""What is claimed of Fed-ADE, and how it is judged: fixed before the values were known.

All is judged by accuracy before the update, the mean over the whole stream. In the core grid a
comparison is one of a set and a shift, of the mean over the four schedules, seed by seed; sets that
were not run are left out.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from driftfold.studies.base import Claim
from driftfold.studies.fedade.grids import ACCURACY
from driftfold.studies.fedade.questions import BOUNDS, COUNTS, CROWD_END, MEASURES, SOURCES, WEIGHTS
from driftfold.studies.fedade.search import FIXED, JUMPS, VARIANTS
from driftfold.studies.fedade.settings import END, SCHEDULES, SETTINGS, Setting, Shift
from driftfold.studies.fedade.systems import CALLED, RISKS
from driftfold.studies.intervals import CONFIDENCE, average
from driftfold.studies.significance import Comparison, Gain, all_larger, holm
from driftfold.studies.values import NotMeasured, Sample, Values
from driftfold.studies.verdict import Evidence, Finding, Verdict

_SLOWER = ("fth", "atlas", "fed-poe", "fedccfa")
"""Systems that took longer than Fed-ADE in the paper."""

WORTH = 0.5
"""Points that are worth an adaptive rate: where all intervals stay below, it does not win."""

COLLAPSE = 10.0
"""Points below the frozen model that count as a collapse."""


def over_schedules(values: Values, setting: Setting, arm: str, metric: str = ACCURACY) -> Sample:
    """Return the mean of a system over the four schedules, by seed."""
    found = [values.sample(setting.name(s), arm, END, metric) for s in SCHEDULES]
    seeds = sorted(set.intersection(*(set(sample.seeds) for sample in found)))
    if not seeds:
        raise NotMeasured(f"no seed of {setting.short} has all four schedules")
    kept = [[s.values[s.seeds.index(seed)] for seed in seeds] for s in found]
    return Sample(tuple(seeds), np.mean(kept, axis=0))


def gains(
    values: Values,
    pairs: Iterable[tuple[str, str]],
    shifts: Sequence[Shift] = ("label", "covariate"),
) -> list[Comparison]:
    """Return how far each first arm is above the second, in all sets and shifts that were run."""
    made: list[Comparison] = []
    missing: NotMeasured | None = None
    for one, other in pairs:
        for setting in SETTINGS:
            if setting.shift not in shifts:
                continue
            try:
                both = [over_schedules(values, setting, arm) for arm in (one, other)]
                made.append(Gain(f"{one} above {other} ({setting.short})", *both))
            except NotMeasured as reason:
                missing = missing or reason
    if not made:
        raise missing or NotMeasured("no set was run")
    return made


def _above(
    said: str, pairs: Sequence[tuple[str, str]], shifts: Sequence[Shift], v: Values
) -> Finding:
    return all_larger(said, gains(v, pairs, shifts))


def _single(values: Values, experiment: str, one: str, other: str, end: int = END) -> Gain:
    both = [values.sample(experiment, arm, end, ACCURACY) for arm in (one, other)]
    return Gain(f"{one} above {other} ({experiment})", *both)


def _collapse(values: Values) -> Finding:
    found = _single(values, "bounds", "frozen", "one-entropy").interval
    evidence = (Evidence("frozen above FixLR 1, entropy", found),)
    said = f"frozen is above FixLR with eta = 1 and entropy by {found.centre:.3g} points"
    if found.low > COLLAPSE:
        return Finding(Verdict.HOLDS, said, evidence)
    verdict = Verdict.FAILS if found.high < COLLAPSE else Verdict.UNDECIDED
    return Finding(verdict, f"{said}; wanted {COLLAPSE:g}", evidence)


def _floor(values: Values) -> Finding:
    """S where nothing moves, as a share of what it is under the four schedules."""
    still = values.sample("floor", "ade-bbse", END, "signal")
    moving = over_schedules(values, SETTINGS[0], "ade-bbse", "signal")
    share = average((still / moving).values)
    evidence = (Evidence("S without drift / S under four schedules", share),)
    said = f"of the mean signal under drift {100 * share.centre:.3g} % is there without drift"
    if not share.known:
        return Finding(Verdict.UNDECIDED, f"{said}; one seed has no interval", evidence)
    if share.low > 0.5:
        return Finding(Verdict.FAILS, said, evidence)
    return Finding(Verdict.HOLDS if share.high < 0.5 else Verdict.UNDECIDED, said, evidence)


def _pretraining(values: Values) -> Finding:
    pairs = [
        _single(values, "pretraining", f"{kind}-ade-{risk}", f"{kind}-mid-{risk}")
        for kind in SOURCES
        for risk in RISKS
    ]
    return all_larger("Fed-ADE is above FixLR (mid)", pairs)


def _bounds(values: Values) -> Finding:
    """Spread of the bounds against the gain over the matched rate."""
    best = []
    for risk in RISKS:
        found = {name: values.sample("bounds", f"{name}-{risk}", END, ACCURACY) for name in BOUNDS}
        means = {name: float(sample.values.mean()) for name, sample in found.items()}
        top, bottom = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
        best.append(Gain(f"bounds {top} above {bottom}, {CALLED[risk]}", found[top], found[bottom]))
    spreads = [(pair.what, pair.interval) for pair in best]
    small = all(found.high < 1 for _, found in spreads)
    evidence = tuple(Evidence(what, found) for what, found in spreads)
    told = ", ".join(f"{what} {found.centre:.3g}" for what, found in spreads)
    if small:
        return Finding(Verdict.HOLDS, f"less than a point between the bounds: {told}", evidence)
    large = any(found.low > 1 for _, found in spreads)
    return Finding(Verdict.FAILS if large else Verdict.UNDECIDED, told, evidence)


def _best_of(experiment: str, names: Sequence[str], wanted: str, values: Values) -> Finding:
    pairs = [
        _single(values, experiment, f"{wanted}-{risk}", f"{name}-{risk}")
        for risk in RISKS
        for name in names
        if name != wanted
    ]
    return all_larger(f"{wanted} is above the others", pairs)


def _clients(values: Values) -> Finding:
    def gain(n: int) -> Sample:
        pair = _single(values, "clients", f"{n}-ade-entropy", f"{n}-frozen", CROWD_END)
        return pair.one - pair.other

    pairs = [
        Gain(f"gain over frozen, {more:,} clients above {less:,}", gain(more), gain(less))
        for less, more in pairwise(COUNTS)
    ]
    return all_larger("the gain grows with the number of clients", pairs)


def _cheaper(values: Values) -> Finding:
    """Gradients are counted, not drawn: the first seed tells."""
    setting = SETTINGS[0].name("lin")
    mine = values.sample(setting, "ade-bbse", END, "gradients")
    rows = {}
    for other in _SLOWER:
        theirs = values.sample(setting, other, END, "gradients")
        rows[other] = Evidence(
            f"gradients of Fed-ADE less those of {other}", average((mine - theirs).values)
        )
    below = [name for name, row in rows.items() if row.interval.centre < 0]
    told = f"fewer than {' and '.join(below) or 'none'}, of {', '.join(_SLOWER)}"
    met = Verdict.HOLDS if len(below) == len(_SLOWER) else Verdict.HOLDS_ONLY
    verdict = met if below else Verdict.FAILS
    return Finding(verdict, told, tuple(rows.values()))


def _search(values: Values) -> Finding:
    """Every adaptive arm against its own mean rate, and against the best fixed rate."""
    won: list[str] = []
    evidence: list[Evidence] = []
    cells: list[tuple[str, Gain, Gain]] = []
    for jump in JUMPS:
        name = f"search-{jump}"
        for risk in RISKS:
            try:
                fixed = [values.sample(name, f"{rate}-{risk}", END, ACCURACY) for rate in FIXED]
            except NotMeasured:
                continue
            best = max(fixed, key=lambda sample: float(sample.values.mean()))
            for variant in VARIANTS:
                what = f"{variant}-{risk}, {jump}"
                arm = values.sample(name, f"{variant}-{risk}", END, ACCURACY)
                matched = values.sample(name, f"{variant}-matched-{risk}", END, ACCURACY)
                cells.append(
                    (
                        what,
                        Gain(f"{what} above matched", arm, matched),
                        Gain(f"{what} above the best fixed rate", arm, best),
                    )
                )
    if not cells:
        raise NotMeasured("no setting of the search was run")
    by_mean = holm([over.p_value for _, over, _ in cells])
    by_both = holm([max(over.p_value, above.p_value) for _, over, above in cells])
    for (what, over, above), p, q in zip(cells, by_mean, by_both, strict=True):
        if p <= 1 - CONFIDENCE and not over.less:
            evidence += [Evidence(pair.what, pair.interval) for pair in (over, above)]
            if q <= 1 - CONFIDENCE and not above.less:
                won.append(what)
    told = f"of {len(cells)} adaptive arms {len(evidence) // 2} are above their own mean rate"
    told += f", {len(won)} of these above the best of {len(FIXED)} fixed rates, too"
    if won:
        return Finding(Verdict.HOLDS, f"{told}: {', '.join(won)}", tuple(evidence))
    if evidence:
        return Finding(Verdict.HOLDS_ONLY, told, tuple(evidence))
    most = max(over.interval.high for _, over, _ in cells)
    verdict = Verdict.FAILS if most < WORTH else Verdict.UNDECIDED
    return Finding(verdict, f"{told}; intervals reach up to {most:.3g} points")


_PAPER = "the Fed-ADE paper"
_US = "us, before the run"
_BOTH: tuple[Shift, ...] = ("label", "covariate")
_LABEL: tuple[Shift, ...] = ("label",)


def _claim(
    name: str,
    sentence: str,
    source: str,
    said: str,
    pairs: Sequence[tuple[str, str]],
    shifts: Sequence[Shift] = _BOTH,
) -> Claim:
    return Claim(name, sentence, source, partial(_above, said, pairs, shifts))


CLAIMS = (
    _claim(
        "fixlr",
        "Fed-ADE is more accurate than a fixed rate in the middle of its bounds.",
        _PAPER,
        "above FixLR (mid)",
        [("ade-bbse", "mid-bbse"), ("ade-entropy", "mid-entropy")],
    ),
    _claim(
        "matched",
        "It is more accurate than a fixed rate equal to its own mean: the rate's moves help.",
        _US,
        "above FixLR (matched)",
        [("ade-bbse", "matched-bbse"), ("ade-entropy", "matched-entropy")],
    ),
    _claim(
        "shuffled",
        "It is more accurate than with its rates exchanged among clients: it matters who gets "
        "which.",
        _US,
        "above S shuffled",
        [("ade-bbse", "shuffled-bbse"), ("ade-entropy", "shuffled-entropy")],
    ),
    _claim(
        "signal-uncertainty",
        "The signal of predictions, S_unc, helps.",
        _PAPER,
        "above Fed-ADE without S_unc",
        [("ade-bbse", "no-unc-bbse"), ("ade-entropy", "no-unc-entropy")],
    ),
    _claim(
        "signal-representation",
        "The signal of features, S_rep, helps.",
        _PAPER,
        "above Fed-ADE without S_rep",
        [("ade-bbse", "no-rep-bbse"), ("ade-entropy", "no-rep-entropy")],
    ),
    _claim(
        "averaging",
        "Averaging the feature extractor helps: clients that adapt alone are less accurate.",
        _PAPER,
        "above clients alone",
        [("ade-bbse", "alone-bbse"), ("ade-entropy", "alone-entropy")],
    ),
    _claim(
        "gain",
        "Fed-ADE with the paper's risk is more accurate than the frozen model.",
        _PAPER,
        "above frozen",
        [("ade-bbse", "frozen")],
    ),
    _claim(
        "gain-entropy",
        "With the risk of the released scripts it is, too.",
        _US,
        "above frozen",
        [("ade-entropy", "frozen")],
    ),
    _claim(
        "reweighting",
        "Under label shift, reweighting the frozen model's answers by the same estimate of classes "
        "is more accurate than Fed-ADE with the paper's risk.",
        _US,
        "above Fed-ADE, BBSE",
        [("reweighting", "ade-bbse")],
        _LABEL,
    ),
    _claim(
        "baselines",
        "Fed-ADE is more accurate than FTH, UOGD, ATLAS, Fed-POE and FedCCFA.",
        _PAPER,
        "above them",
        [("ade-bbse", other) for other in ("fth", "uogd", "atlas", "fed-poe", "fedccfa")],
    ),
    Claim(
        "collapse",
        f"On digits, entropy collapses at eta = 1: more than {COLLAPSE:g} points below frozen.",
        _US,
        _collapse,
    ),
    Claim(
        "floor",
        "Without drift the signal is near 0: less than half of what it is under drift.",
        _PAPER,
        _floor,
    ),
    Claim(
        "pretraining",
        "Whatever the classes before deployment, Fed-ADE is above a fixed rate.",
        _PAPER,
        _pretraining,
    ),
    Claim(
        "bounds",
        "The bounds of the rate hardly matter: less than a point between the best and the worst.",
        _US,
        _bounds,
    ),
    Claim(
        "weights",
        "Equal weights of the two signals are the best of five rules.",
        _PAPER,
        partial(_best_of, "weights", tuple(WEIGHTS), "w1-1"),
    ),
    Claim(
        "measures",
        "The cosine is the best of four measures of similarity.",
        _PAPER,
        partial(_best_of, "measures", tuple(MEASURES), "cosine"),
    ),
    Claim("clients", "The gain grows with the number of clients.", _US, _clients),
    Claim(
        "cheaper",
        "Fed-ADE is cheaper than FTH, ATLAS, Fed-POE and FedCCFA: it computes fewer gradients.",
        _PAPER,
        _cheaper,
    ),
    Claim(
        "search",
        "There is a setting in which an adaptive rate beats both its own mean and the best fixed "
        f"rate by more than the interval, among {len(JUMPS)} kinds of jumps and {len(VARIANTS)} "
        "signals, with two risks.",
        _US,
        _search,
    ),
)
