"""The jury: judges the jobs of one group, each round of each once."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from driftfold_api.sweeping.curve import Curve
from driftfold_api.sweeping.stop_rule import MedianRule, TargetRule


@dataclass
class Verdicts:
    """What one sitting came to.

    Attributes
    ----------
    judged
        Last round of each job that was judged.
    stopped
        Jobs to stop, and why.
    reached
        The job that reached the target, and why all others stop; or None.
    """

    judged: dict[int, int] = field(default_factory=dict)
    stopped: dict[int, str] = field(default_factory=dict)
    reached: tuple[int, str] | None = None


class Jury:
    """Hears the values of a group's jobs, by number, and judges what it has not judged yet.

    What was judged and stays so is kept elsewhere: a jury is made anew from it. Rounds are judged
    in the order of their number, then of the jobs'. So the verdicts are the same as long as the
    same values are there; which of the others have reached a round by then depends on how fast
    workers are, unless jobs run one after the other.
    """

    def __init__(
        self,
        rule: MedianRule | TargetRule,
        judged: Mapping[int, int] | None = None,
        stopped: Mapping[int, int] | None = None,
    ) -> None:
        """Go on where another jury stopped.

        `judged` has the last round that was judged of each job, `stopped` the one at which it was
        stopped.
        """
        self.rule = rule
        self._judged = dict(judged or {})
        self._stopped = dict(stopped or {})
        self._curves: dict[int, Curve] = {}

    def hear(self, child: int, round_: int, value: float) -> None:
        """Take note of a job's metric at a round; rounds of one job come in order."""
        end = self._stopped.get(child, math.inf)
        if round_ <= end:
            curve = self._curves.setdefault(child, Curve())
            curve.add(round_, value if self.rule.goal == "min" else -value)

    def judge(self) -> Verdicts:
        """Judge all that is new."""
        verdicts = Verdicts()
        fresh = sorted(
            (round_, child)
            for child, curve in self._curves.items()
            for round_ in reversed(curve.rounds)
            if round_ > self._judged.get(child, -1)
        )
        for round_, child in fresh:
            if child in self._stopped:
                continue
            self._judged[child] = verdicts.judged[child] = round_
            if reason := self.rule.against(child, round_, self._curves):
                self._stopped[child] = round_
                verdicts.stopped[child] = reason
                self._curves[child].cut(round_)
            elif verdicts.reached is None and self._reached(child, round_):
                best = self.rule.shown(self._curves[child].best(round_))
                why = f"reached {self.rule.metric} {best} at round {round_}"
                verdicts.reached = child, why
        return verdicts

    def _reached(self, child: int, round_: int) -> bool:
        rule = self.rule
        return isinstance(rule, TargetRule) and rule.reached(child, round_, self._curves)
