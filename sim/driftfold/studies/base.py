"""A study as data: experiments and their arms, what was published, and what is claimed.

A study asks whether the claims of a paper hold. Its experiments are grids of arm and seed; every
cell of a grid is an ordinary specification. All arms of an experiment have the same seeds, so data,
first model and participation are the same and differences can be taken seed by seed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from driftfold.studies.intervals import Interval
from driftfold.studies.overview import Overview
from driftfold.studies.tuning import Tuned
from driftfold.studies.values import Values
from driftfold.studies.verdict import Finding

Match: TypeAlias = Literal["met", "open", "missed"]
"""How a mean of ours compares with a published value: "open" is outside its band by less than the
interval."""


@dataclass(frozen=True)
class Reads:
    """That an arm needs the run of another arm, of the same experiment and seed, to be over.

    Attributes
    ----------
    arm
        Whose run it reads.
    into
        The setting that becomes the digest of that run's specification.
    """

    arm: str
    into: str = "algorithm.rate.run"


@dataclass(frozen=True)
class Arm:
    """One of the things that an experiment compares.

    Attributes
    ----------
    name
        Short; part of a folder's name.
    preset
        The preset that it runs.
    overrides
        Settings over it, as in ``--set``.
    title
        How tables and plots call it; "" takes the name.
    reads
        The run that it reads; None: no other.
    tuned
        Where settings over `overrides` come from that are found by trying; None: there are none.
    """

    name: str
    preset: str
    overrides: tuple[str, ...] = ()
    title: str = ""
    reads: Reads | None = None
    tuned: Tuned | None = None

    @property
    def label(self) -> str:
        """How tables and plots call it."""
        return self.title or self.name


@dataclass(frozen=True)
class Published:
    """One value that a paper reports, and the band in which ours counts as the same.

    Attributes
    ----------
    arm, round, metric
        What was measured when; the metric "" is the experiment's first.
    value
        What was published.
    low, high
        The band; without one the value is shown beside ours and not judged.
    """

    arm: str
    round: int
    value: float
    low: float | None = None
    high: float | None = None
    metric: str = ""

    def compare(self, ours: Interval) -> Match | None:
        """Say whether ours is in the band, reaches into it, or lies outside; None without a band.

        >>> row = Published("rfedags", 1000, 0.0213, low=0.015, high=0.06)
        >>> row.compare(Interval(0.07, 0.05, 0.09, seeds=3))
        'open'
        """
        if self.low is None or self.high is None:
            return None
        if self.low <= ours.centre <= self.high:
            return "met"
        reaches = ours.known and ours.low <= self.high and ours.high >= self.low
        return "open" if reaches else "missed"


def published(
    arm: str,
    values: Mapping[int, float],
    *,
    factor: float | None = None,
    floor: float = 0.0,
    metric: str = "",
) -> tuple[Published, ...]:
    """Return an arm's published values by round, each met within a factor.

    Below `floor`, where nothing but rounding is left, every value down there is as good as another.

    >>> [row.high for row in published("k10", {20: 0.1, 100: 3e-13}, factor=2, floor=1e-11)]
    [0.2, 1e-11]
    """
    return tuple(
        Published(
            arm,
            round,
            value,
            low=None if factor is None else 0.0 if value <= floor else value / factor,
            high=None if factor is None else max(value * factor, floor),
            metric=metric,
        )
        for round, value in values.items()
    )


@dataclass(frozen=True)
class Small:
    """The form of an experiment that runs in seconds.

    Attributes
    ----------
    preset
        In place of every arm's own; "" keeps those.
    settings
        Over every arm's own.
    seeds
        How many seeds every arm has.
    without
        Arms that are left out, because they take long.
    """

    preset: str = ""
    settings: tuple[str, ...] = ()
    seeds: int = 1
    without: tuple[str, ...] = ()

    @property
    def is_smaller(self) -> bool:
        """Whether its runs are other ones, not only fewer: they can test no claim."""
        return bool(self.preset or self.settings)


@dataclass(frozen=True)
class Experiment:
    """A grid of arms and seeds, and what is read from it.

    Attributes
    ----------
    name, title
        For folders and ``--only``; for people.
    source
        Where in the paper it is.
    arms
        What is compared.
    read_at
        Rounds whose values stand in the table.
    metrics
        Values of evaluations to show, the first one in the plot.
    scale
        Of the plot's values; "log" is for what gets small and stays positive.
    drawn
        Arms in the plot; none draws all.
    published
        Values of the paper.
    seeds
        Seeds that each arm runs with.
    small
        Its small form; None leaves the experiment out of it.
    tier
        "full" is what takes too long for the core grid.
    needs
        Data sets of the catalogue that it reads.
    note
        What a reader must know to judge the numbers.
    """

    name: str
    title: str
    source: str
    arms: tuple[Arm, ...]
    read_at: tuple[int, ...]
    metrics: tuple[str, ...] = ("gap",)
    scale: Literal["log", "linear"] = "log"
    drawn: tuple[str, ...] = ()
    published: tuple[Published, ...] = ()
    seeds: tuple[int, ...] = (1, 2, 3)
    small: Small | None = Small()
    tier: Literal["core", "full"] = "core"
    needs: tuple[str, ...] = ()
    note: str = ""

    @property
    def tuned_by(self) -> tuple[str, ...]:
        """Names of the experiments whose values set some of its arms, sorted."""
        named = {name for arm in self.arms if arm.tuned for name in arm.tuned.experiments}
        return tuple(sorted(named))

    @property
    def metric(self) -> str:
        """The metric of the plot."""
        return self.metrics[0]

    @property
    def curves(self) -> tuple[Arm, ...]:
        """The arms in the plot."""
        return tuple(arm for arm in self.arms if not self.drawn or arm.name in self.drawn)

    def as_small(self) -> "Experiment":
        """Return the small form; what was published at another size says nothing about it."""
        small = self.small
        assert small is not None
        arms = tuple(
            replace(
                arm,
                preset=small.preset or arm.preset,
                overrides=(*arm.overrides, *small.settings),
            )
            for arm in self.arms
            if arm.name not in small.without
        )
        said = () if small.is_smaller else self.published
        return replace(
            self,
            arms=arms,
            published=tuple(row for row in said if row.arm not in small.without),
            seeds=first_seeds(self.seeds, small.seeds),
            needs=() if small.preset else self.needs,
        )

    def arm(self, name: str) -> Arm:
        """Return an arm by its name."""
        return next(arm for arm in self.arms if arm.name == name)

    def said(self, arm: str, round: int, metric: str) -> Published | None:
        """Return what the paper reports for an arm, if anything."""
        wanted = (arm, round, metric)
        for row in self.published:
            if (row.arm, row.round, row.metric or self.metric) == wanted:
                return row
        return None


def first_seeds(own: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Return so many seeds: an experiment's own first, then 1, 2, ....

    >>> first_seeds((4, 5, 8), 5)
    (4, 5, 8, 1, 2)
    """
    others = (seed for seed in range(1, count + len(own) + 1) if seed not in own)
    return (*own, *others)[:count]


Judge: TypeAlias = Callable[[Values], Finding]
"""Says what the measured values mean for a claim; raises `NotMeasured` where they are missing."""


@dataclass(frozen=True)
class Claim:
    """A sentence that measured values can support or refute.

    Attributes
    ----------
    name
        Short, for people who talk about it.
    sentence
        What is claimed.
    source
        Who claims it, and where.
    judge
        The rule that turns values into a verdict, fixed before the values are known.
    """

    name: str
    sentence: str
    source: str
    judge: Judge


@dataclass(frozen=True)
class Study:
    """Experiments, and the claims that are judged by them.

    Attributes
    ----------
    name, title
        For the command; for people.
    about
        What is asked, in a few sentences.
    experiments, claims
        What is run, and what is judged.
    sources
        The papers, as a list of references.
    overviews
        Tables across experiments.
    of_rounds
        Values that rounds have and evaluations have not, and that are read, too: an evaluation then
        has their mean over the rounds so far.
    """

    name: str
    title: str
    about: str
    experiments: tuple[Experiment, ...]
    claims: tuple[Claim, ...]
    sources: tuple[str, ...] = ()
    overviews: tuple[Overview, ...] = ()
    of_rounds: tuple[str, ...] = ()
