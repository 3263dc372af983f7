"""A curve: a metric of one job over its rounds, so that less is better."""

import math
from bisect import bisect_right
from collections.abc import Mapping


class Curve:
    """Values by rounds, which come in order; what is no number is worse than any.

    Examples
    --------
    >>> curve = Curve.of({0: 4.0, 10: 2.0, 20: 3.0})
    >>> curve.best(20), curve.mean(20), curve.mean(19), curve.mean(21)
    (2.0, 3.0, 3.0, None)
    """

    def __init__(self) -> None:
        self.rounds: list[int] = []
        self._sums: list[float] = []
        self._bests: list[float] = []

    @classmethod
    def of(cls, values: Mapping[int, float]) -> "Curve":
        """Return the curve with these values."""
        curve = cls()
        for round_, value in values.items():
            curve.add(round_, value)
        return curve

    def add(self, round_: int, value: float) -> None:
        """Take in the value at a round; of one that is there already nothing changes."""
        if self.rounds and round_ <= self.rounds[-1]:
            return
        value = math.inf if math.isnan(value) else value
        self.rounds.append(round_)
        self._sums.append(value + (self._sums[-1] if self._sums else 0.0))
        self._bests.append(min(value, self._bests[-1] if self._bests else math.inf))

    def cut(self, round_: int) -> None:
        """Forget what comes after a round: how far a job got before it stopped is chance."""
        keep = bisect_right(self.rounds, round_)
        del self.rounds[keep:], self._sums[keep:], self._bests[keep:]

    def best(self, round_: int) -> float:
        """Return the best value up to a round."""
        return self._bests[bisect_right(self.rounds, round_) - 1]

    def mean(self, round_: int) -> float | None:
        """Return the mean of the values up to a round; None for a job that has not reached it."""
        if not self.rounds or self.rounds[-1] < round_:
            return None
        count = bisect_right(self.rounds, round_)
        return self._sums[count - 1] / count if count else None
