"""How long cells take: measured from a few rounds, and added up for some cores.

Times are those of the processor, so that they tell the same while other programs run.
"""

import hashlib
import heapq
import json
from collections.abc import Iterable
from dataclasses import dataclass
from time import process_time
from typing import Any

from driftfold.algorithms.wrapped import Wrapper
from driftfold.spec import JobSpec, to_mapping
from driftfold.telemetry.base import Record, RecordSink

_ROUNDS = 2  # to measure at least, after the first
_GIVEN = ("fixed_rate", "recorded")  # rates that cost nothing


@dataclass(frozen=True)
class Rate:
    """Seconds of a processor core that the parts of a run take.

    Attributes
    ----------
    setup
        Until the first round: data, first model, optimum, first evaluation.
    round, evaluation
        A round; measuring the model.
    """

    setup: float
    round: float
    evaluation: float

    def expected(self, spec: JobSpec) -> float:
        """Return the seconds of a whole run; a horizon in seconds counts as one round.

        >>> from driftfold.spec import load_spec
        >>> Rate(setup=1.0, round=0.01, evaluation=0.1).expected(load_spec("pca-synthetic"))
        21.0
        """
        rounds = spec.horizon.rounds or 1
        return self.setup + self.round * rounds + self.evaluation * (rounds // spec.evaluate_every)


class Stopwatch(RecordSink):
    """Takes the times of a run's records, until there are enough."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = self._last = process_time()
        self._ready: float | None = None
        self._spent = {"round": 0.0, "evaluation": 0.0}
        self._counts = {"round": 0, "evaluation": 0}

    def emit(self, record: Record) -> None:
        """Book the time since the record before to this one."""
        now = process_time()
        if self._ready is None and record.version > 0:
            self._ready = self._last
        if record.kind in self._spent and record.version > 1:  # the first round warms up
            self._spent[record.kind] += now - self._last
            self._counts[record.kind] += 1
        self._last = now

    @property
    def over(self) -> bool:
        """Whether enough has been seen."""
        enough = self._counts["round"] >= _ROUNDS and self._ready is not None
        return enough and process_time() - (self._ready or 0.0) >= self._seconds

    def rate(self) -> Rate:
        """Return what was measured."""
        each = {k: self._spent[k] / max(self._counts[k], 1) for k in self._spent}
        ready = self._last if self._ready is None else self._ready
        return Rate(ready - self._began, each["round"], each["evaluation"])


def pace_key(spec: JobSpec) -> str:
    """Return what specifications share that run at one pace: sizes and algorithm, mostly."""
    table = to_mapping(spec)
    for part, field in (("task", "partition"), ("algorithm", "step_size")):
        table[part].pop(field, None)
    for drift in table["task"].get("drift", ()):
        drift.pop("schedule", None)
    rate = table["algorithm"].get("rate")
    if isinstance(rate, dict) and rate.get("kind") in _GIVEN:
        del table["algorithm"]["rate"]
    table["algorithm"] = _without_reals(table["algorithm"])
    parts = [table[name] for name in ("task", "algorithm", "compute", "metrics", "cadence")]
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()


def _without_reals(part: Any) -> Any:
    """What is left without real numbers, which say how far steps go, and not how many there are."""
    if isinstance(part, dict):
        return {k: _without_reals(v) for k, v in part.items() if not isinstance(v, float)}
    return [_without_reals(v) for v in part] if isinstance(part, list) else part


def workload(spec: JobSpec) -> float:
    """Return a rough measure of work, to order and weigh cells of which nothing was measured."""
    algorithm = spec.algorithm
    while isinstance(algorithm, Wrapper):
        algorithm = algorithm.algorithm
    return float(spec.horizon.rounds or 1) * float(getattr(algorithm, "steps", 1))


def makespan(seconds: Iterable[float], cores: int) -> float:
    """Return when the last of some cells ends, each on the first core that is free, longest first.

    >>> makespan([3.0, 2.0, 2.0, 1.0], cores=2)
    4.0
    """
    free = [0.0] * cores
    for length in sorted(seconds, reverse=True):
        heapq.heapreplace(free, free[0] + length)
    return max(free)
