"""What the finished cells of a study measured."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from driftfold.arrays import Floats, Ints


class NotMeasured(LookupError):
    """A claim asks for what no finished cell has measured."""


class NotRun(NotMeasured):
    """It was not to be run at all, so that no run can have failed."""


@dataclass(frozen=True)
class Series:
    """The evaluations of one run.

    Attributes
    ----------
    rounds
        After which rounds it was measured, ascending.
    values
        By metric, one value for each of `rounds`.
    """

    rounds: Ints
    values: Mapping[str, Floats]

    def at(self, round: int, metric: str) -> float | None:
        """Return a value, or None where nothing was measured then."""
        where = int(np.searchsorted(self.rounds, round))
        if metric not in self.values or where == len(self.rounds) or self.rounds[where] != round:
            return None
        return float(self.values[metric][where])

    def reaches(self, round: int) -> bool:
        """Whether anything was measured after this round, or a later one."""
        return len(self.rounds) > 0 and int(self.rounds[-1]) >= round


@dataclass(frozen=True)
class Sample:
    """One value for each seed.

    Attributes
    ----------
    seeds
        The seeds, ascending.
    values
        The values in the same order.
    """

    seeds: tuple[int, ...]
    values: Floats

    def __truediv__(self, other: "Sample") -> "Sample":
        """Divide seed by seed; raises `NotMeasured` where the two share no seed.

        >>> a, b = Sample((1, 2), np.array([9.0, 1.0])), Sample((2, 3), np.array([0.5, 5.0]))
        >>> a / b
        Sample(seeds=(2,), values=array([2.]))
        """
        shared, mine, theirs = self._beside(other)
        return Sample(shared, mine / theirs)

    def __sub__(self, other: "Sample") -> "Sample":
        """Subtract seed by seed, as for a ratio.

        >>> Sample((1, 2), np.array([9.0, 1.0])) - Sample((2, 3), np.array([0.5, 5.0]))
        Sample(seeds=(2,), values=array([0.5]))
        """
        shared, mine, theirs = self._beside(other)
        return Sample(shared, mine - theirs)

    def _beside(self, other: "Sample") -> tuple[tuple[int, ...], Floats, Floats]:
        shared = tuple(seed for seed in self.seeds if seed in other.seeds)
        if not shared:
            raise NotMeasured("the two arms share no seed")
        mine, theirs = (
            np.array([sample.values[sample.seeds.index(seed)] for seed in shared])
            for sample in (self, other)
        )
        return shared, mine, theirs


Key = tuple[str, str, int]
"""Experiment, arm and seed."""


@dataclass(frozen=True)
class Values:
    """All series of a study, by experiment, arm and seed.

    `wanted` are the runs that were to be made, `asked` notes which arms somebody wanted to see.

    >>> rounds = np.array([0, 10])
    >>> runs = {
    ...     ("pca", "rfedags", s): Series(rounds, {"gap": np.array([1.0, 0.1 * s])})
    ...     for s in (1, 2)
    ... }
    >>> Values(runs).sample("pca", "rfedags", 10)
    Sample(seeds=(1, 2), values=array([0.1, 0.2]))
    """

    series: Mapping[Key, Series] = field(default_factory=dict)
    wanted: frozenset[Key] = frozenset()
    asked: set[tuple[str, str]] = field(default_factory=set, compare=False, repr=False)

    @cached_property
    def _by_arm(self) -> Mapping[tuple[str, str], Mapping[int, Series]]:
        found: dict[tuple[str, str], dict[int, Series]] = {}
        for (experiment, arm, seed), series in self.series.items():
            found.setdefault((experiment, arm), {})[seed] = series
        return found

    @cached_property
    def _arms_wanted(self) -> frozenset[tuple[str, str]]:
        return frozenset(key[:2] for key in self.wanted)

    @cached_property
    def _experiments(self) -> frozenset[str]:
        return frozenset(experiment for experiment, *_ in (*self.wanted, *self.series))

    def sample(self, experiment: str, arm: str, round: int, metric: str = "gap") -> Sample:
        """Return the values of an arm after a round; raises `NotMeasured` when there are none."""
        self.asked.add((experiment, arm))
        found = {
            seed: value
            for seed, series in self._by_arm.get((experiment, arm), {}).items()
            if (value := series.at(round, metric)) is not None
        }
        if experiment not in self._experiments:
            raise NotRun(f"no result of {experiment} at its published size")
        if not found and self.wanted and (experiment, arm) not in self._arms_wanted:
            raise NotRun(f"{experiment} has no arm {arm}")
        if not found:
            raise NotMeasured(f"no {metric} of {experiment}/{arm} after round {round}")
        seeds = tuple(sorted(found))
        return Sample(seeds, np.array([found[seed] for seed in seeds]))

    def late(self, experiment: str, arm: str, first: int, metric: str = "gap") -> Sample:
        """Return each run's mean from a round on, less noisy than one round's value.

        Raises `NotMeasured` when there is none.
        """
        self.asked.add((experiment, arm))
        found = {
            seed: float(run.values[metric][run.rounds >= first].mean())
            for seed, run in self._by_arm.get((experiment, arm), {}).items()
            if metric in run.values and run.reaches(first)
        }
        if not found:
            raise NotMeasured(f"no {metric} of {experiment}/{arm} from round {first} on")
        seeds = tuple(sorted(found))
        return Sample(seeds, np.array([found[seed] for seed in seeds]))

    def without(self, experiments: Collection[str]) -> "Values":
        """Return the values of the other experiments."""
        kept = {key: series for key, series in self.series.items() if key[0] not in experiments}
        return Values(kept, frozenset(key for key in self.wanted if key[0] not in experiments))

    def afresh(self) -> "Values":
        """Return the same values, of which nobody has asked for anything yet."""
        return replace(self, asked=set())

    def missed(self) -> list[Key]:
        """Return the runs of the arms asked for that were to be made and have no result."""
        return sorted(k for k in self.wanted if k[:2] in self.asked and k not in self.series)

    def runs(self, experiment: str, arm: str) -> list[Series]:
        """Return the series of an arm, by seed."""
        return [self.series[key] for key in sorted(self.series) if key[:2] == (experiment, arm)]
