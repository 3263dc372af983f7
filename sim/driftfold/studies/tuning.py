"""Tuning: settings that an arm takes from whichever candidate did best in runs that come before.

The rule is fixed before any value is known: the candidate with the highest mean over all tuning
experiments and their seeds. A candidate counts where it has a finite value in each of them; of
equals the first counts. Candidates' runs are known by their digests, as all cells of a study are.
"""

import math
from dataclasses import dataclass

import numpy as np

from driftfold.studies.values import NotMeasured, Values


@dataclass(frozen=True)
class Candidate:
    """One of several ways to set an arm.

    Attributes
    ----------
    arm
        The arm of the tuning experiments that tries it.
    settings
        What the tuned arm is set to if it is the best.
    """

    arm: str
    settings: tuple[str, ...]


@dataclass(frozen=True)
class Tuned:
    """Where the best candidate is looked for, and by what.

    Attributes
    ----------
    experiments
        Names of the tuning experiments, over which means are taken.
    candidates
        In an order in which the middle one is a sound choice where nothing was measured.
    round, metric
        Of the value that is to be high.
    """

    experiments: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    round: int
    metric: str

    def scores(self, values: Values) -> tuple[float, ...]:
        """Return each candidate's mean; NaN for one without a finite value somewhere.

        >>> Tuned(("tune",), (Candidate("slow", ()),), 10, "accuracy").scores(Values())
        (nan,)
        """
        return tuple(self._score(values, candidate.arm) for candidate in self.candidates)

    def settings(self, values: Values) -> tuple[str, ...]:
        """Return the settings of the best candidate, of the middle one where there is no value."""
        return self.candidates[self.best(values)].settings

    def best(self, values: Values) -> int:
        """Return the number of the best candidate, of the middle one where there is no value."""
        scores = self.scores(values)
        known = [i for i, score in enumerate(scores) if not math.isnan(score)]
        if not known:
            return (len(scores) - 1) // 2
        return max(known, key=lambda i: (scores[i], -i))

    def _score(self, values: Values, arm: str) -> float:
        try:
            means = [
                float(np.mean(values.sample(name, arm, self.round, self.metric).values))
                for name in self.experiments
            ]
        except NotMeasured:
            return math.nan
        score = float(np.mean(means))
        return score if math.isfinite(score) else math.nan
