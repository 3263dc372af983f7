"""Many comparisons at once: which of them are significant, and which arms are the same.

Two arms are compared seed by seed, with Student's t: by the logarithm of their ratio where values
are gaps, which differ by factors (`Pair`), or by their difference where they are shares, in points
(`Gain`). Of many comparisons some seem significant by chance; Holm's correction keeps the
probability that any one does so below 5 %. That all of several ratios lie inside a margin needs no
correction: every single one has to (Berger's intersection-union test).

Holm, S.: "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
Statistics 6, 1979. Berger, R. L.: "Multiparameter hypothesis testing and acceptance sampling",
Technometrics 24, 1982.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from driftfold.arrays import Floats
from driftfold.studies.comparisons import ratio, same
from driftfold.studies.intervals import CONFIDENCE, Interval, cumulative, mean
from driftfold.studies.values import Sample
from driftfold.studies.verdict import Evidence, Finding, Verdict

_SHOWN = 6  # comparisons that a reason names


@dataclass(frozen=True)
class Comparison(ABC):
    """Two arms to compare: by name, one sample and the other."""

    what: str
    one: Sample
    other: Sample

    @property
    @abstractmethod
    def interval(self) -> Interval:
        """How the one is to the other."""

    @property
    @abstractmethod
    def p_value(self) -> float:
        """Two-sided p of "they are the same"; 1 where one seed tells no spread."""

    @property
    @abstractmethod
    def less(self) -> bool:
        """Whether the one is the smaller."""


class Pair(Comparison):
    """Their ratio, for values that differ by factors."""

    @property
    def ratio(self) -> Interval:
        """One over the other: geometric mean over the seeds."""
        return ratio(self.one, self.other)

    @property
    def interval(self) -> Interval:
        """The ratio."""
        return self.ratio

    @property
    def p_value(self) -> float:
        """Two-sided p of "the ratio is 1"."""
        return p_value(np.log10((self.one / self.other).values))

    @property
    def less(self) -> bool:
        """Whether the ratio is below 1."""
        return self.ratio.centre < 1


class Gain(Comparison):
    """Their difference in points, for values that are shares.

    >>> one, other = Sample((1, 2), np.array([0.8, 0.81])), Sample((1, 2), np.array([0.79, 0.79]))
    >>> gain = Gain("gain", one, other)
    >>> round(gain.interval.centre, 6), gain.less
    (1.5, False)
    """

    @property
    def interval(self) -> Interval:
        """One less the other, times 100: the mean over the seeds."""
        return mean(100 * (self.one - self.other).values)

    @property
    def p_value(self) -> float:
        """Two-sided p of "the difference is 0"."""
        return p_value((self.one - self.other).values)

    @property
    def less(self) -> bool:
        """Whether the difference is below 0."""
        return self.interval.centre < 0


def p_value(differences: Floats) -> float:
    """Two-sided p-value of Student's test that the mean of `differences`, shape (n,), is 0.

    >>> round(p_value(np.array([1.0, 2.0, 3.0])), 4)
    0.0742
    """
    n = len(differences)
    if n < 2:
        return 1.0
    centre, spread = float(differences.mean()), float(differences.std(ddof=1))
    if spread == 0:
        return 1.0 if centre == 0 else 0.0
    return 2 * (1 - cumulative(abs(centre) / spread * math.sqrt(n), n - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number, after Holm.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    corrected, largest = [1.0] * len(p_values), 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * p_values[i]))
        corrected[i] = largest
    return corrected


def all_smaller(said: str, pairs: Sequence[Comparison]) -> Finding:
    """Judge that in every pair the first is smaller, each significantly after Holm's correction.

    "Holds only" where some are significantly smaller; it names what is not. It fails where none is
    and at least one is significantly larger.
    """
    smaller, larger, others = sorted_out(pairs)
    return _all(said, pairs, smaller, larger, others)


def all_larger(said: str, pairs: Sequence[Comparison], lost: Sequence[str] = ()) -> Finding:
    """Judge that in every pair the first is larger, as `all_smaller` does.

    `lost` are comparisons that could not be made: it holds without them only.
    """
    smaller, larger, others = sorted_out(pairs)
    return without(_all(said, pairs, larger, smaller, others), lost)


def without(finding: Finding, lost: Sequence[str], *, some: bool = False) -> Finding:
    """What a finding is worth where some comparisons could not be made: it says so.

    What holds for all holds only for the others; that it holds for `some` is not refuted by them.

    >>> found = without(Finding(Verdict.HOLDS, "above: all 3 comparisons"), ["a above b (digits)"])
    >>> print(found.verdict, "|", found.reason)
    holds only | above: all 3 comparisons; 1 more lost, for want of results: a above b (digits)
    """
    if not lost:
        return finding
    weaker = {Verdict.FAILS: Verdict.UNDECIDED} if some else {Verdict.HOLDS: Verdict.HOLDS_ONLY}
    names, more = ", ".join(lost[:_SHOWN]), len(lost) - _SHOWN
    names += f" and {more} more" if more > 0 else ""
    reason = f"{finding.reason}; {len(lost)} more lost, for want of results: {names}"
    return replace(finding, verdict=weaker.get(finding.verdict, finding.verdict), reason=reason)


def none_smaller(said: str, pairs: Sequence[Comparison]) -> Finding:
    """Judge that in no pair the first is significantly smaller, after Holm's correction."""
    smaller, _, _ = sorted_out(pairs)
    evidence = tuple(Evidence(pair.what, pair.interval) for pair in smaller)
    if not smaller:
        told = f"{said}: none of {len(pairs)} comparisons is significant the other way round"
        return Finding(Verdict.HOLDS, told)
    told = f"significantly the other way round in {len(smaller)} of {len(pairs)} comparisons: "
    return Finding(Verdict.FAILS, told + _names(smaller), evidence)


def all_same(said: str, pairs: Sequence[Pair], margin: float) -> Finding:
    """Judge that all pairs are the same up to a factor: the interval of every ratio is inside.

    "Holds only" where that is so of some; it names the others.
    """
    found = [same(pair.what, pair.one, pair.other, margin) for pair in pairs]
    evidence = tuple(row for finding in found for row in finding.evidence)
    verdicts = [finding.verdict for finding in found]
    inside = verdicts.count(Verdict.HOLDS)
    told = f"{said} within 1/{margin:g} and {margin:g}"
    if inside == len(pairs):
        return Finding(Verdict.HOLDS, f"{told}: all {inside} pairs", evidence)
    outside, rest = (
        [pair for pair, own in zip(pairs, verdicts, strict=True) if own is verdict]
        for verdict in (Verdict.FAILS, Verdict.UNDECIDED)
    )
    told += f": {inside} of {len(pairs)} pairs"
    told += f"; not so: {_names(outside)}" if outside else ""
    told += f"; not decided: {_names(rest)}" if rest else ""
    if inside:
        return Finding(Verdict.HOLDS_ONLY, told, evidence)
    return Finding(Verdict.FAILS if outside else Verdict.UNDECIDED, told, evidence)


def some_larger(said: str, pairs: Sequence[Comparison], worth: float) -> Finding:
    """Judge that in some pair the first is larger, significantly after Holm's correction.

    It fails where every interval ends below `worth`, the least difference that is worth having.
    """
    _, larger, _ = sorted_out(pairs)
    told = f"{said}: {len(larger)} of {len(pairs)} comparisons"
    if larger:
        evidence = tuple(Evidence(pair.what, pair.interval) for pair in larger)
        return Finding(Verdict.HOLDS, f"{told}: {_names(larger)}", evidence)
    evidence = tuple(Evidence(pair.what, pair.interval) for pair in pairs)
    if not all(pair.interval.known for pair in pairs):
        return Finding(Verdict.UNDECIDED, f"{told}; one seed has no interval", evidence)
    most = max(pair.interval.high for pair in pairs)
    verdict = Verdict.FAILS if most < worth else Verdict.UNDECIDED
    return Finding(
        verdict, f"{told}; intervals reach up to {most:.3g}, worth is {worth:g}", evidence
    )


def all_within(said: str, pairs: Sequence[Gain], margin: float) -> Finding:
    """Judge that all differences are smaller than a margin in points: every interval is inside.

    It fails where some are significantly larger than the margin, after Holm's correction for all of
    them, in either direction.
    """
    beyond = [
        Gain(pair.what, Sample(pair.one.seeds, pair.one.values + sign * margin / 100), pair.other)
        for pair in pairs
        for sign in (-1, 1)
    ]
    smaller, larger, _ = sorted_out(beyond)
    places = {id(pair): i for i, pair in enumerate(beyond)}
    outside = {places[id(pair)] // 2 for pair in larger if places[id(pair)] % 2 == 0}
    outside |= {places[id(pair)] // 2 for pair in smaller if places[id(pair)] % 2 == 1}
    found = [pair.interval for pair in pairs]
    evidence = tuple(Evidence(pair.what, pair.interval) for pair in pairs)
    if outside:
        names = _names([pairs[i] for i in sorted(outside)])
        return Finding(Verdict.FAILS, f"{said}: more than {margin:g} apart: {names}", evidence)
    inside = sum(one.known and -margin < one.low and one.high < margin for one in found)
    told = f"{said}: {inside} of {len(pairs)} intervals are within {margin:g} points"
    return Finding(Verdict.HOLDS if inside == len(pairs) else Verdict.UNDECIDED, told, evidence)


def sorted_out(
    pairs: Sequence[Comparison],
) -> tuple[list[Comparison], list[Comparison], list[Comparison]]:
    """Return pairs whose first is significantly smaller, significantly larger, and the others."""
    smaller, larger, others = list[Comparison](), list[Comparison](), list[Comparison]()
    corrected = holm([pair.p_value for pair in pairs])
    for pair, p in zip(pairs, corrected, strict=True):
        if p > 1 - CONFIDENCE:
            others.append(pair)
        elif pair.less:
            smaller.append(pair)
        else:
            larger.append(pair)
    return smaller, larger, others


def _all(
    said: str,
    pairs: Sequence[Comparison],
    wanted: Sequence[Comparison],
    against: Sequence[Comparison],
    rest: Sequence[Comparison],
) -> Finding:
    evidence = tuple(Evidence(pair.what, pair.interval) for pair in pairs)
    if len(wanted) == len(pairs):
        return Finding(Verdict.HOLDS, f"{said}: all {len(pairs)} comparisons", evidence)
    told = f"{said}: {len(wanted)} of {len(pairs)} comparisons"
    told += f"; significantly the other way round: {_names(against)}" if against else ""
    told += f"; not decided: {_names(rest)}" if rest else ""
    if wanted:
        return Finding(Verdict.HOLDS_ONLY, told, evidence)
    return Finding(Verdict.FAILS if against else Verdict.UNDECIDED, told, evidence)


def _names(pairs: Sequence[Comparison]) -> str:
    shown = [f"{pair.what} {pair.interval.centre:.3g}" for pair in pairs[:_SHOWN]]
    more = len(pairs) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
