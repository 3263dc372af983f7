"""The loop engine: one client at a time, without a client axis.

It is what a simulator does that knows nothing of stacks: the reference for the stacked engine.
"""

from dataclasses import dataclass
from typing import Any

from driftfold.algorithms.base import LocalResult
from driftfold.compute.base import Compute, Engine, Stack
from driftfold.registry import register
from driftfold.tasks.base import Problem
from driftfold.trees import rows, stack


class LoopEngine(Engine):
    """Runs each client by itself."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def run(self, work: Stack) -> LocalResult[Any]:
        """Results of the stack, client by client."""
        results = [self._run_one(work, i) for i in range(len(work.clients))]
        return LocalResult(
            payload=stack([r.payload for r in results]),
            memory=stack([r.memory for r in results]),
            metrics={k: stack([r.metrics[k] for r in results]) for k in results[0].metrics},
        )

    def _run_one(self, work: Stack, i: int) -> LocalResult[Any]:
        download = work.downloads[0 if work.shared else i]
        view = self._problem.view(work.clients[i], work.dispatches[i], work.times[i])
        memory = None if work.memory is None else rows(work.memory, i)
        return work.phase.local(download, view, memory, work.steps)


@register("loop")
@dataclass(frozen=True)
class Loop(Compute):
    """One client at a time."""

    def engine(self, problem: Problem) -> Engine:
        """Return the engine for `problem`."""
        return LoopEngine(problem)
