"""Tables across experiments: arms of the same name as rows, experiments as columns."""

from dataclasses import dataclass, replace
from itertools import compress
from typing import Literal

from driftfold.studies.intervals import Interval, average, mean
from driftfold.studies.values import NotMeasured, Values


@dataclass(frozen=True)
class Overview:
    """One number of each run, its mean from a round on, for several arms and experiments.

    Attributes
    ----------
    title
        What is shown.
    metric, first
        Which value is averaged, from which round on.
    columns
        Names of experiments, by how the table calls them.
    rows
        Names of arms that all of them have, by how the table calls them.
    against
        The arm from which differences are shown, seed by seed, in place of values; "": none.
    factor
        Of the numbers shown: 100 makes percents of shares, and points of their differences.
    scale
        Of the plot: "log" for what is positive, and may be small.
    """

    title: str
    metric: str
    first: int
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, str], ...]
    against: str = ""
    factor: float = 1.0
    scale: Literal["log", "linear"] = "log"

    def measured(self, values: Values) -> "Overview":
        """Return the same with those columns only of which anything was measured."""
        columns = [
            any(e is not None for e in column) for column in zip(*self.entries(values), strict=True)
        ]
        return replace(self, columns=tuple(compress(self.columns, columns)))

    def entries(self, values: Values) -> list[list[Interval | None]]:
        """Return mean and interval over the seeds, by row and column; None where not measured."""
        return [
            [self._entry(values, experiment, arm) for _, experiment in self.columns]
            for _, arm in self.rows
        ]

    def _entry(self, values: Values, experiment: str, arm: str) -> Interval | None:
        try:
            found = values.late(experiment, arm, self.first, self.metric)
            if not self.against:
                return average(self.factor * found.values)
            rest = values.late(experiment, self.against, self.first, self.metric)
            return mean(self.factor * (found - rest).values)
        except NotMeasured:
            return None
