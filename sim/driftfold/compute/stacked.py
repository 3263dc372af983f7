"""The stacked engine: many clients as one tensor program."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from driftfold.algorithms.base import LocalResult, Phase
from driftfold.arrays import Ints
from driftfold.compute.base import Compute, Engine, Stack
from driftfold.compute.freed_memory import keep_freed_memory
from driftfold.compute.fused import Fused, fused
from driftfold.registry import register
from driftfold.tasks.base import Problem, View
from driftfold.trees import map_leaves, rows, spread, stack


class StackedEngine(Engine):
    """Runs each tile of clients in one call with a leading client axis.

    A tile's data stay in the processor's cache over the local steps; an untiled stack of many
    clients was measured at up to twice the time. Results do not depend on the tiling. Plain
    descent is left to a fused kernel where the table (`driftfold.engines`) has one.
    """

    def __init__(self, problem: Problem, tile: int, kernels: bool = True) -> None:
        self._problem = problem
        self._tile = tile
        self._kernels = kernels
        self._fused: list[tuple[Phase[Any, Any, Any], Fused | None]] = []

    def run(self, stack: Stack) -> LocalResult[Any]:
        """Results of the stack, by a kernel or tile by tile."""
        kernel = self._kernel(stack.phase)
        if kernel is None or len(stack.clients) == 0:
            return self._run_tiles(stack)
        result, refused = kernel.run(stack)
        if not np.count_nonzero(refused):
            return self._after(stack, result)
        done, left = np.flatnonzero(~refused), np.flatnonzero(refused)
        plain = self._run_tiles(_some(stack, left))
        if not len(done):
            return plain
        descended = LocalResult(rows(result.payload, done))
        both = _joined([self._after(_some(stack, done), descended), plain])
        return _chosen(both, np.argsort(np.concatenate([done, left])))

    def _after(self, stack: Stack, descended: LocalResult[Any]) -> LocalResult[Any]:
        """What a phase does after a descent that a kernel did."""
        phase = stack.phase
        if type(phase).after is Phase.after:
            return descended
        download, view, memory = self._given(stack, slice(None))
        return phase.after(descended, download, view, memory)

    def _kernel(self, phase: Phase[Any, Any, Any]) -> Fused | None:
        for known, kernel in self._fused:
            if known is phase:
                return kernel
        kernel = fused(self._problem, phase) if self._kernels else None
        self._fused.append((phase, kernel))
        return kernel

    def _run_tiles(self, stack: Stack) -> LocalResult[Any]:
        count = len(stack.clients)
        tiles = -(-count // self._tile)
        ends = [count * i // tiles for i in range(tiles + 1)]  # of nearly equal size
        if tiles < 2:
            return _by_rows(self._run_tile(stack, slice(None)))
        whole: LocalResult[Any] | None = None
        for a, b in pairwise(ends):  # each in its place at once: parts beside the whole are twice
            part = self._run_tile(stack, slice(a, b))
            whole = whole or _room(part, count, stack.memory if stack.spare else None)
            _put(whole, part, slice(a, b))
        assert whole is not None
        return whole

    def _run_tile(self, work: Stack, tile: slice) -> LocalResult[Any]:
        return work.phase.local(*self._given(work, tile), work.steps)

    def _given(self, work: Stack, tile: slice) -> tuple[Any, View, Any]:
        """What clients of a tile have: download, data and memory."""
        clients = work.clients[tile]
        download = (
            spread(work.downloads[0], len(clients)) if work.shared else stack(work.downloads[tile])
        )
        view = self._problem.view(clients, work.dispatches[tile], work.times[tile])
        return download, view, None if work.memory is None else rows(work.memory, tile)


def _by_rows(result: LocalResult[Any]) -> LocalResult[Any]:
    """The same, each client's numbers side by side, as several tiles leave them.

    Sums over clients go in another order, and have other last bits, where a client's numbers lie
    apart, as in x[:, which].
    """
    payload, memory = (map_leaves(np.ascontiguousarray, t) for t in (result.payload, result.memory))
    return replace(result, payload=payload, memory=memory)


def _room(part: LocalResult[Any], count: int, spare: Any) -> LocalResult[Any]:
    """Room for `count` results like these; for memories that of `spare`, if there is any."""

    def empty(leaf: Any) -> Any:
        return np.empty((count, *leaf.shape[1:]), leaf.dtype)

    metrics = {k: empty(np.asarray(v)) for k, v in part.metrics.items()}
    memory = map_leaves(empty, part.memory) if spare is None else spare
    return LocalResult(map_leaves(empty, part.payload), memory, metrics)


def _put(whole: LocalResult[Any], part: LocalResult[Any], place: slice) -> None:
    """Write results to their rows."""

    def put(leaf: Any, new: Any) -> Any:
        leaf[place] = new
        return leaf

    map_leaves(put, whole.payload, part.payload)
    map_leaves(put, whole.memory, part.memory)
    for name, values in part.metrics.items():
        whole.metrics[name][place] = values


def _joined(parts: Sequence[LocalResult[Any]]) -> LocalResult[Any]:
    """Results one after the other."""
    if len(parts) == 1:
        return parts[0]
    join = lambda *leaves: np.concatenate(leaves)  # noqa: E731
    first, rest = parts[0], parts[1:]
    return LocalResult(
        payload=map_leaves(join, first.payload, *(p.payload for p in rest)),
        memory=map_leaves(join, first.memory, *(p.memory for p in rest)),
        metrics={k: np.concatenate([p.metrics[k] for p in parts]) for k in first.metrics},
    )


def _chosen(result: LocalResult[Any], order: Ints) -> LocalResult[Any]:
    """Results of clients in another order."""
    metrics = {k: v[order] for k, v in result.metrics.items()}
    return LocalResult(rows(result.payload, order), rows(result.memory, order), metrics)


def _some(work: Stack, which: Ints) -> Stack:
    """The pieces of work at some places of a stack."""
    downloads = work.downloads if work.shared else [work.downloads[i] for i in which]
    return replace(
        work,
        clients=work.clients[which],
        dispatches=work.dispatches[which],
        times=work.times[which],
        downloads=downloads,
        memory=None if work.memory is None else rows(work.memory, which),
    )


@register("stacked")
@dataclass(frozen=True)
class Stacked(Compute):
    """Many clients as one tensor program.

    Attributes
    ----------
    tile
        Clients in one tensor program; None chooses it so that a tile's data fit the cache.
    tile_bytes
        Size of a tile's data in bytes, when `tile` is None.
    kernels
        Whether compiled kernels may do plain descent; they give the same results to rounding.
    """

    tile: Annotated[int, Gt(0)] | None = None
    tile_bytes: Annotated[int, Gt(0)] = 4_000_000
    kernels: bool = True

    def engine(self, problem: Problem) -> Engine:
        """Return an engine whose tile suits the problem."""
        keep_freed_memory()
        tile = self.tile or max(1, self.tile_bytes // max(1, problem.client_bytes))
        return StackedEngine(problem, tile, self.kernels)
