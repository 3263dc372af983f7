"""Rates of an earlier run, as controls: whether it matters who gets which rate, and when."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Len

from driftfold.arrays import Floats, Ints
from driftfold.errors import DataError, SpecError
from driftfold.rates.base import Meeting, Rate
from driftfold.rates.recording import recorded_rates
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.tasks.streams.problem import StreamProblem


@register("recorded")
@dataclass(frozen=True)
class Recorded(Rate):
    """Rates that another run's clients had. The run is found by its digest, not by its place.

    It is looked for in the folders that the environment variable DRIFTFOLD_RUNS names.

    Attributes
    ----------
    run
        Digest of its specification, as result.json has it.
    order
        "same": each client at each step as it was. "shuffled": at each step the clients exchange
        their rates, by chance. "mean": everybody always has the mean of all, the rate that matches
        an adaptive run.
    """

    run: Annotated[str, Len(32, 32)]
    order: Literal["same", "shuffled", "mean"] = "same"

    def begin(self, problem: StreamProblem) -> None:
        """Nothing. Raises `DataError` where the run is not found, or has no rates to give."""
        recorded_rates(self.run)

    def meet(self, problem: StreamProblem, memory: Any, meeting: Meeting) -> tuple[Floats, Any]:
        """Look them up.

        Raises `DataError` for a client that was not there at that step, which leaves it out here,
        too; and `SpecError`, which ends the run, for a step at which nobody was. The order "mean"
        needs neither.
        """
        table = _table(self.run, self.order, problem.fleet.seed)
        keys = zip(meeting.clients.tolist(), meeting.steps.tolist(), strict=True)
        return np.array([table.rate(*key) for key in keys]), memory


class _Table:
    def __init__(self, run: str, order: str, seed: Seed) -> None:
        self._run = run
        self._clients, self._steps, self._rates = recorded_rates(run)
        self._order, self._seed = order, seed

    def rate(self, client: int, step: int) -> float:
        if self._order == "mean":
            return self._mean
        found = self._known.get((client, step))
        if found is not None:
            return found
        if step in self._met:
            raise DataError(
                f"the run {self._run} recorded no rate of client {client} at step {step}, at which "
                "it did not take part to the end; it has none here either"
            )
        raise SpecError(
            f"the run {self._run} recorded no rates at step {step}; it recorded "
            f"{len(self._met)} steps, the last of them {max(self._met)}: give this run the same "
            'task, cadence and horizon, or take order = "mean"'
        )

    @cached_property
    def _mean(self) -> float:
        return float(self._rates.mean())

    @cached_property
    def _met(self) -> set[int]:
        """Steps at which somebody was there."""
        return set(self._steps.tolist())

    @cached_property
    def _known(self) -> dict[tuple[int, int], float]:
        rates = self._rates if self._order == "same" else self._shuffled()
        keys = zip(self._clients.tolist(), self._steps.tolist(), strict=True)
        return dict(zip(keys, rates.tolist(), strict=True))

    def _shuffled(self) -> Floats:
        stream, made = self._seed.stream("shuffled rates"), self._rates.copy()
        for step in np.unique(self._steps):
            rows: Ints = np.flatnonzero(self._steps == step)
            order = stream.subsets(0, int(step), len(rows), len(rows))
            made[rows] = self._rates[rows[order]]
        return made


_tables: dict[tuple[str, str, int], _Table] = {}


def _table(run: str, order: str, seed: Seed) -> _Table:
    """The table of a run: read once a process, for the few runs that one process compares with."""
    key = run, order, seed.value
    if key not in _tables:
        _tables.clear()
        _tables[key] = _Table(run, order, seed)
    return _tables[key]
