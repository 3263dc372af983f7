"""Tables of an experiment: ours and the published value, by arm and round."""

from dataclasses import dataclass

from driftfold.studies.base import Experiment, Match, Published
from driftfold.studies.intervals import Interval, average
from driftfold.studies.values import NotMeasured, Values


@dataclass(frozen=True)
class Entry:
    """One place of a table.

    Attributes
    ----------
    ours
        Mean over seeds with its interval; None where it was not measured.
    published
        What the paper says, if anything.
    match
        How ours compares with the published value; None where there is nothing to compare.
    """

    ours: Interval | None
    published: Published | None
    match: Match | None


@dataclass(frozen=True)
class Table:
    """One metric of an experiment.

    Attributes
    ----------
    metric
        Which.
    rounds
        The columns.
    rows
        For each arm its label and one entry a round.
    """

    metric: str
    rounds: tuple[int, ...]
    rows: tuple[tuple[str, tuple[Entry, ...]], ...]


def tables(experiment: Experiment, values: Values) -> list[Table]:
    """Return a table for each metric."""
    return [_table(experiment, values, metric) for metric in experiment.metrics]


def _table(experiment: Experiment, values: Values, metric: str) -> Table:
    entries = {
        (arm.name, round): _entry(experiment, values, arm.name, round, metric)
        for arm in experiment.arms
        for round in experiment.read_at
    }
    rounds = tuple(
        round
        for round in experiment.read_at
        if any(entries[arm.name, round].ours is not None for arm in experiment.arms)
    )
    return Table(
        metric,
        rounds,
        tuple(
            (arm.label, tuple(entries[arm.name, round] for round in rounds))
            for arm in experiment.arms
        ),
    )


def _entry(experiment: Experiment, values: Values, arm: str, round: int, metric: str) -> Entry:
    said = experiment.said(arm, round, metric)
    try:
        ours = average(values.sample(experiment.name, arm, round, metric).values)
    except NotMeasured:
        return Entry(None, said, None)
    return Entry(ours, said, None if said is None else said.compare(ours))
