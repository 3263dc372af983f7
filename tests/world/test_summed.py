"""Sums worked out some clients at a time: the same bits, faults and memories as all at once."""

import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms.base import Algorithm, Arrivals, LocalResult
from driftfold.algorithms.summing import Summing
from driftfold.arrays import Array, Floats, Ints
from driftfold.compute import Stacked
from driftfold.compute.base import Engine
from driftfold.registry import register
from driftfold.result import Result
from driftfold.run import run
from driftfold.spec import JobSpec, from_mapping
from driftfold.tasks.base import Problem, View
from driftfold.telemetry import read_records
from driftfold.trees import node
from tests.world import toys

assert toys  # importing it registers its kinds

WIDTH = 5
BLOCK = 2 * 8 * WIDTH  # bytes that two clients send


@node
class Wide:
    point: Array


@node
class Visits:
    """How often a client was heard, as powers of two of the rounds' numbers."""

    heard: Array


@register("test-summed")
@dataclass(frozen=True)
class Summed(Algorithm[Wide]):
    """Clients send a vector made of their id and their past; some send none that is sound."""

    nan: tuple[int, ...] = ()
    raises: tuple[int, ...] = ()
    width: int = WIDTH

    def phases(self, problem: Problem) -> "Sequence[Sending]":
        return (Sending(self, problem),)

    def begin(self, problem: Problem, x: Array) -> Wide:
        if tracemalloc.is_tracing():
            tracemalloc.reset_peak()  # what an engine takes at its start, and frees at once
        return Wide(np.zeros(self.width))

    def model(self, state: Wide) -> Array:
        return state.point[:3]

    def memory(self, problem: Problem) -> Visits:
        return Visits(np.zeros(()))

    def evaluate(
        self, problem: Problem, state: Wide, memories: Any, time: float
    ) -> Mapping[str, float]:
        ids, visits = memories
        of_ids = {f"heard_{c}": float(h) for c, h in zip(ids, visits.heard, strict=True)}
        return {"sum": float(state.point.sum()), **of_ids}


@dataclass(frozen=True)
class Sending(Summing[Wide, Wide, Wide]):
    algorithm: Summed
    problem: Problem
    payload_kind = Wide
    steps = 1

    def broadcast(self, state: Wide, version: int) -> Wide:
        return state

    def local(self, download: Wide, view: View, memory: Visits, steps: int) -> LocalResult[Wide]:
        odd = view.dispatches % 2 == 1
        if (np.isin(view.clients, self.algorithm.raises) & odd).any():
            raise LookupError("no such sample")
        heard = memory.heard + 2.0**view.dispatches
        way = np.sin((1 + view.clients * heard)[:, None] * np.arange(1.0, self.algorithm.width + 1))
        way[np.isin(view.clients, self.algorithm.nan) & odd] = np.nan
        return LocalResult(Wide(download.point + way), Visits(heard), {"heard": heard})

    def summands(self, arrivals: Arrivals[Wide, Wide]) -> tuple[Array, Array | None]:
        return arrivals.payload.point, arrivals.download.point

    def advance(self, state: Wide, total: Array) -> tuple[Wide, Mapping[str, float]]:
        return Wide(state.point + total), {}

    def samples(self, clients: Ints, version: int) -> Floats:
        return np.ones(len(clients))

    def download_bytes(self) -> int:
        return 8 * self.algorithm.width

    def upload_bytes(self) -> int:
        return 8 * self.algorithm.width


def spec(clients: int = 7, **of_algorithm: Any) -> JobSpec:
    return from_mapping(
        {
            "task": {"kind": "test-quadratic", "clients": clients},
            "algorithm": {"kind": "test-summed", **of_algorithm},
            "faults": {"on_client_error": "skip", "on_bad_update": "reject"},
            "horizon": {"rounds": 4},
            "evaluate_every": 1,
        }
    )


def everything(result: Result) -> tuple[str, ...]:
    digests = (result.metrics_digest, result.evaluation_digest, result.model_digest)
    return *digests, result.event_digest


FAULTS = [{}, {"nan": (2, 6)}, {"raises": (0, 3)}, {"nan": (1,), "raises": (5, 6)}]


@pytest.mark.parametrize("faults", FAULTS, ids=str)
def test_blocks_change_nothing_whoever_gives_no_sound_result(
    faults: Mapping[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mean is over those who count, and the others' memories are as before their visit."""
    whole, blocks = tmp_path / "whole", tmp_path / "blocks"
    wanted = run(spec(**faults), folder=whole)
    monkeypatch.setattr(Engine, "payload_bytes", BLOCK)
    got = run(spec(**faults), folder=blocks)
    assert everything(got) == everything(wanted)
    assert got.metrics == wanted.metrics
    assert got.counts == wanted.counts
    said = [[(r.kind, r.values, r.note) for r in read_records(f)] for f in (whole, blocks)]
    assert said[0] == said[1]
    bad = {c for some in faults.values() for c in some}
    assert got.counts["rejected"] + got.counts["failed"] == 2 * len(bad)
    assert all(got.metrics[f"heard_{c}"] == (5.0 if c in bad else 15.0) for c in range(7))


def test_nobody_gives_a_sound_result(monkeypatch: pytest.MonkeyPatch) -> None:
    everyone = spec(nan=tuple(range(7)))
    wanted = run(everyone)
    monkeypatch.setattr(Engine, "payload_bytes", BLOCK)
    got = run(everyone)
    assert everything(got) == everything(wanted)
    assert got.counts["skipped"] == 2


def test_a_server_does_not_hold_all_payloads_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """60 payloads of 160 kB: all at once take more than their size, in blocks a fraction."""
    width, peaks, digests = 20_000, [], []
    for held in (10**9, 1_000_000):
        one = replace(spec(60, width=width), compute=Stacked(tile=2))
        monkeypatch.setattr(Engine, "payload_bytes", held)
        tracemalloc.start()
        digests.append(everything(run(one)))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert digests[0] == digests[1]
    assert peaks[0] > 60 * 8 * width > 2 * peaks[1], peaks
