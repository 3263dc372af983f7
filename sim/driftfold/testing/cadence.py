"""Conformance of a cadence kind."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from driftfold.checkpoint.memory import MemoryStore
from driftfold.registry import kind_of
from driftfold.result import Result
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.telemetry.base import Record, RecordSink
from driftfold.telemetry.memory import Memory
from driftfold.testing.expect import expect
from driftfold.world.cadence import Cadence

TABLE: Mapping[str, Any] = {
    "task": {
        "kind": "pca",
        "rank": 1,
        "data": {"kind": "gaussian_blocks", "clients": 12, "samples": 6, "dimension": 4},
    },
    "algorithm": {"kind": "rfedsvrg", "steps": 2, "batch": 3},
    "participation": {"kind": "diurnal", "slot": 40.0, "duty": 0.5},
    "latency": {"kind": "lognormal", "per_sample": 0.3},
    "horizon": {"rounds": 12},
    "evaluate_every": 1,
}
"""An experiment in which clients come and go, with two phases and few clients."""


class _Stop(RecordSink):
    """Ends the run in the round that leads to a version."""

    def __init__(self, version: int) -> None:
        self.version = version

    def emit(self, record: Record) -> None:
        if record.kind == "round" and record.version >= self.version:
            raise KeyboardInterrupt


def check_cadence(cadence: Cadence, table: Mapping[str, Any] = TABLE) -> None:
    """Raise `AssertionError` unless `cadence` keeps its contract in the experiment `table`.

    `table` describes the experiment but for the cadence, with a horizon in rounds. Checked: an
    advance is one server step; answers are judged; `chooses` gives a reason or
    None; the run repeats itself; values do not change what happens (other step sizes, the same
    events); and a run that was stopped half-way and resumed is the undisturbed one.

    >>> from driftfold.world.cadences import Synchronous
    >>> check_cadence(Synchronous(cohort=4))
    """
    kind = kind_of(cadence)
    reason = cadence.chooses()
    expect(reason is None or bool(reason), f"{kind}: chooses() gave {reason!r}")
    whole, records = _run(cadence, table)
    expect(
        whole.ended == "rounds",
        f"{kind}: the run ended by {whole.ended!r} after {whole.rounds} rounds; give an experiment "
        "that lasts for its horizon",
    )
    first, _ = _run(cadence, {**table, "horizon": {"rounds": 1}})
    expect(
        first.rounds == 1,
        f"{kind}: the first advance took {first.rounds} server steps; it returns after each",
    )
    times = [r.time for r in records]
    expect(times == sorted(times), f"{kind}: records go back in time: {times}")
    _check_outcomes(kind, whole)
    again, _ = _run(cadence, table)
    expect(_trained(again) == _trained(whole), f"{kind}: a second run was another one")
    algorithm = {**table["algorithm"], "step_size": 1e-3}
    other, _ = _run(cadence, {**table, "algorithm": algorithm})
    expect(
        other.event_digest == whole.event_digest and other.model_digest != whole.model_digest,
        f"{kind}: with other values other things happened; look at tensors through "
        "server.decide() only",
    )
    half = max(2, whole.rounds // 2)
    kept = {**table, "checkpoint_every": max(1, half // 2)}
    store, stop = MemoryStore(), _Stop(half + 1)
    with suppress(KeyboardInterrupt):
        _run(cadence, kept, stop, store)
    resumed, _ = _run(cadence, kept, None, store)
    expect(resumed.resumed_from is not None, f"{kind}: no snapshot was taken by round {half}")
    expect(
        _trained(resumed) == _trained(whole),
        f"{kind}: resumed from version {resumed.resumed_from} the run is another one; keep no "
        "state outside the server",
    )


def _check_outcomes(kind: str, result: Result) -> None:
    counts = result.counts
    expect(counts["arrived"] > 0, f"{kind}: nobody's answer was ever used")
    expect(
        counts["invited"] >= counts["declined"],
        f"{kind}: {counts['declined']} of {counts['invited']} invited clients declined",
    )
    settled = counts["accepted"] + counts["rejected"] + counts["failed"]
    expect(
        settled <= counts["arrived"],
        f"{kind}: {counts['arrived']} answers arrived, but {settled} were judged",
    )


def _run(
    cadence: Cadence,
    table: Mapping[str, Any],
    stop: RecordSink | None = None,
    store: MemoryStore | None = None,
) -> tuple[Result, list[Record]]:
    sink = Memory()
    spec = replace(from_mapping(table), cadence=cadence)
    sinks = [sink] if stop is None else [sink, stop]
    result = run(spec, sinks=sinks, store=store, resume=store is not None)
    return result, sink.records


def _trained(result: Result) -> tuple[Any, ...]:
    return (
        result.event_digest, result.metrics_digest, result.evaluation_digest,
        result.model_digest, dict(result.counts), result.time,
    )  # fmt: skip
