"""Run an experiment, and resume it."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from driftfold import kernel
from driftfold.assembly import build
from driftfold.checkpoint.base import CheckpointStore, Snapshot
from driftfold.checkpoint.fingerprint import Fingerprint, take_fingerprint
from driftfold.checkpoint.url import open_store
from driftfold.compute.memories import Memories
from driftfold.compute.tickets import TicketBook
from driftfold.errors import NeverAnswers
from driftfold.folder import CHECKPOINTS, begin, finish, only_writer
from driftfold.kernel.errors import Deadlock
from driftfold.result import Result
from driftfold.spec import JobSpec, digest, loaded_plugins, packages_of
from driftfold.telemetry.base import RecordSink
from driftfold.telemetry.jsonl import JsonLines
from driftfold.telemetry.recorder import Recorder
from driftfold.trees import leaves
from driftfold.world.aggregate import Aggregator
from driftfold.world.keeper import Keeper
from driftfold.world.server import Server
from driftfold.world.story import live
from driftfold.world.tally import Tally
from driftfold.world.world import World

Ask = Callable[[], bool]


def run(
    spec: JobSpec,
    *,
    folder: Path | None = None,
    resume: bool = False,
    sinks: Sequence[RecordSink] = (),
    store: CheckpointStore | None = None,
    realtime: float | None = None,
    name: str | None = None,
    past: Snapshot | None = None,
    stop: Ask | None = None,
    checkpoint: Ask | None = None,
) -> Result:
    """Run an experiment to its horizon.

    Parameters
    ----------
    spec
        The experiment.
    folder
        Where to write ``spec.json``, ``records.jsonl``, ``result.json``, ``model.npz`` and
        snapshots; None writes nothing.
    resume
        Go on from the newest snapshot, if there is one; the result is bit for bit that of an
        undisturbed run.
    sinks
        Further receivers of the records. They cannot change the run.
    store
        Where snapshots are kept, if not in the folder.
    realtime
        Virtual seconds to let pass in a second of wall time; None goes as fast as possible.
    name
        Under which the store keeps this run's snapshots; None takes the specification's digest.
    past
        The snapshot to resume from, in place of the newest in the store.
    stop
        Asked after every server step; True takes a last snapshot and ends the run as "stopped".
    checkpoint
        Asked after every server step; True takes a snapshot, also where the specification's
        `checkpoint_every` takes none. When snapshots are taken changes no number.

    Examples
    --------
    >>> from driftfold.spec import load_spec
    >>> result = run(load_spec("pca-synthetic", overrides=["horizon.rounds=20"]))
    >>> result.ended, result.rounds
    ('rounds', 20)
    """
    from threadpoolctl import threadpool_limits

    started = perf_counter(), process_time()
    identity = digest(spec)
    with ExitStack() as held:
        held.enter_context(threadpool_limits(1))
        # Values that overflow are told where they count: as rejected updates, or as metrics.
        held.enter_context(np.errstate(over="ignore", divide="ignore", invalid="ignore"))
        world = build(spec)  # before anything is written: parts that do not fit leave nothing
        if folder is not None:
            held.enter_context(only_writer(folder))
            begin(folder, spec, resume)
            sinks = [JsonLines(folder), *sinks]
            store = store or open_store(folder / CHECKPOINTS)
        if past is None and resume and store is not None:
            past = store.latest(name or identity)
        recorder = held.enter_context(Recorder(*sinks))
        if resume and past is None:  # killed before the first snapshot: tell everything anew
            recorder.restore(Recorder().state())
        fingerprint = take_fingerprint(loaded_plugins(), packages_of(spec))
        keeper = Keeper(
            recorder,
            store,
            name or identity,
            spec.checkpoint_every,
            {"spec": identity, "seed": spec.seed},
            {"fingerprint": dict(fingerprint.facts)},
            past,
            stop,
            checkpoint,
        )
        ready = perf_counter()
        result = _simulate(spec, world, recorder, keeper, realtime)
        timing = {
            "wall": perf_counter() - started[0],
            "cpu": process_time() - started[1],
            "setup": ready - started[0],
        }
        result = result.told(
            spec_digest=identity,
            timing={**result.timing, **timing},
            resumed_from=None if past is None else past.meta["version"],
            changes=_changes(past, fingerprint),
        )
        if folder is not None:
            finish(folder, result)
    return result


def _simulate(
    spec: JobSpec, world: World, recorder: Recorder, keeper: Keeper, realtime: float | None
) -> Result:
    """Let the world live in virtual time, and say what came of it."""
    memory = spec.algorithm.memory(world.problem)
    memories = None if memory is None else Memories(memory)
    tickets = TicketBook(spec.compute.engine(world.problem), world.phases, memories)
    tally = Tally()
    aggregator = Aggregator(world, tickets, recorder, tally)

    async def main() -> Result:
        server = Server(world, tickets, aggregator, tally)
        ended = await live(server, spec.cadence, keeper)
        model = world.algorithm.model(aggregator.state)
        return Result(
            event_digest=server.trace.digest(),
            metrics_digest=recorder.metrics_digest,
            evaluation_digest=recorder.evaluation_digest,
            model_digest=_digest_of(model),
            model=model,
            metrics=aggregator.metrics,
            counts=tally.counts(),
            ended=ended,
            rounds=server.version,
            events=server.trace.count,
            time=kernel.now(),
            conventions={
                **spec.algorithm.conventions(),
                **spec.cadence.conventions(),
                **spec.faults.conventions(),
            },
            timing={"stacks": tickets.stacks, "mean_stack": tickets.mean_stack},
        )

    try:
        return kernel.run(main(), start=keeper.start, realtime=realtime)
    except Deadlock as error:
        raise NeverAnswers(
            "the server waits for clients that will never answer; give the cadence a deadline (or "
            "patience, without rounds), or the run a horizon in seconds "
            f"({str(error).splitlines()[0]})"
        ) from error


def _changes(past: Snapshot | None, present: Fingerprint) -> tuple[str, ...]:
    if past is None:
        return ()
    return tuple(Fingerprint(past.meta["fingerprint"]).changes(present))


def _digest_of(tree: Any) -> str:
    bytes_of = (np.ascontiguousarray(leaf).tobytes() for leaf in leaves(tree))
    return blake2b(b"".join(bytes_of), digest_size=16).hexdigest()
