"""The debug engine: slow, and it tells everything that is wrong with an algorithm."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from driftfold.algorithms.base import Endpoint, LocalResult, Tangent
from driftfold.compute.base import Compute, Engine, Stack
from driftfold.compute.loop import LoopEngine
from driftfold.errors import ManifoldError, RunError
from driftfold.registry import register
from driftfold.tasks.base import Problem
from driftfold.trees import leaves, map_leaves


class DebugEngine(Engine):
    """Runs the loop engine on read-only inputs and checks every result.

    It checks that the payload is of the phase's kind, that downloads and memories were not changed
    in place, that end points are on the manifold and tangent vectors in the tangent space of the
    point sent down, that a second run gives the same bits.
    """

    strict = True

    def __init__(self, problem: Problem, tolerance: float) -> None:
        self._problem = problem
        self._loop = LoopEngine(problem)
        self._tolerance = tolerance

    def run(self, work: Stack) -> LocalResult[Any]:
        """Results of the stack, checked."""
        for tree in (*work.downloads, work.memory):
            map_leaves(_lock, tree)
        result = self._loop.run(work)
        again = self._loop.run(work)
        if not all(
            np.array_equal(a, b, equal_nan=True)
            for a, b in zip(leaves(result.payload), leaves(again.payload), strict=True)
        ):
            raise RunError(
                f"{_name(work)} gave different bits when run twice on the same input; draw random "
                "numbers only from view.stream(purpose), addressed by view.clients and "
                "view.dispatches"
            )
        self._check_payload(work, result.payload)
        return result

    def _check_payload(self, work: Stack, payload: Any) -> None:
        if not isinstance(payload, work.phase.payload_kind):
            raise RunError(
                f"{_name(work)} sent a {type(payload).__name__}; it declares "
                f"{work.phase.payload_kind.__name__}"
            )
        manifold = self._problem.manifold
        if isinstance(payload, Endpoint):
            off = manifold.off_point(payload.point)
            self._refuse(work, off, "an end point that is not on the manifold")
        if isinstance(payload, Tangent):
            base = np.stack([d.point for d in work.downloads])
            off = manifold.off_tangent(base, payload.vector)
            scale = 1 + manifold.norm(base, payload.vector)
            self._refuse(work, off / scale, "a vector outside the tangent space of its base point")

    def _refuse(self, work: Stack, off: Any, what: str) -> None:
        worst = int(np.argmax(off))
        if np.ravel(off)[worst] > self._tolerance:
            raise ManifoldError(
                f"{_name(work)}: client {work.clients[worst]} sent {what}: off by "
                f"{np.ravel(off)[worst]:.2e}, wanted at most {self._tolerance:.0e}"
            )


def _name(work: Stack) -> str:
    return type(work.phase).__name__


def _lock(leaf: Any) -> Any:
    leaf.flags.writeable = False
    return leaf


@register("debug")
@dataclass(frozen=True)
class Debug(Compute):
    """One client at a time, twice, with every result checked.

    Attributes
    ----------
    tolerance
        How far a point may be off its manifold, or a vector off its tangent space.
    """

    tolerance: float = 1e-9

    def engine(self, problem: Problem) -> Engine:
        """Return the engine for `problem`."""
        return DebugEngine(problem, self.tolerance)
