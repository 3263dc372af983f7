"""Build a world from a specification, run it, resume it."""

from collections.abc import Sequence
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from driftfold import kernel
from driftfold.checkpoint.base import CheckpointStore, Snapshot
from driftfold.checkpoint.fingerprint import Fingerprint, take_fingerprint
from driftfold.checkpoint.url import open_store
from driftfold.compute.memories import Memories
from driftfold.compute.tickets import TicketBook
from driftfold.errors import CapabilityError, NeverAnswers
from driftfold.folder import CHECKPOINTS, begin, finish, only_writer
from driftfold.kernel.errors import Deadlock
from driftfold.participation.base import KnownProbability
from driftfold.result import Result
from driftfold.rng import Seed
from driftfold.spec import JobSpec, digest, loaded_plugins, packages_of, validate
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


def build(spec: JobSpec) -> World:
    """Load the data and put the parts of an experiment together.

    Raises `SpecError` or `CapabilityError` when they do not fit, `DataError` when data are missing.

    >>> from driftfold.spec import load_spec
    >>> build(load_spec("pca-synthetic")).fleet.size
    40
    """
    validate(spec)
    problem = spec.task.build(Seed(spec.seed))
    spec.algorithm.check(problem)
    attendance = spec.participation.attend(problem.fleet)
    if spec.estimator.needs_probability and isinstance(attendance, KnownProbability):
        why = spec.cadence.chooses()
        if why is not None:
            raise CapabilityError(
                f"the estimator needs the probability that a client contributes, but {why}; leave "
                "the choice to the participation model (for s of N clients: kind 'uniform'), or "
                "choose an estimator that counts, such as 'inclusive'"
            )
    return World(
        problem=problem,
        algorithm=spec.algorithm,
        phases=tuple(spec.algorithm.phases(problem)),
        attendance=attendance,
        delays=spec.latency.delays(problem.fleet),
        estimator=spec.estimator,
        weighing=spec.estimator.begin(problem.fleet, attendance),
        faults=spec.faults,
        horizon=spec.horizon,
        evaluate_every=spec.evaluate_every,
    )


def run(
    spec: JobSpec,
    *,
    folder: Path | None = None,
    resume: bool = False,
    sinks: Sequence[RecordSink] = (),
    store: CheckpointStore | None = None,
    realtime: float | None = None,
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
    fingerprint = take_fingerprint(loaded_plugins(), packages_of(spec))
    with ExitStack() as held:
        held.enter_context(threadpool_limits(1))
        world = build(spec)  # before anything is written: parts that do not fit leave nothing
        tickets = _tickets(world, spec)
        if folder is not None:
            held.enter_context(only_writer(folder))
            begin(folder, spec, resume)
            sinks = [JsonLines(folder), *sinks]
            store = store or open_store(folder / CHECKPOINTS)
        past = store.latest(identity) if resume and store is not None else None
        # Values that overflow are told where they count: as rejected updates, or as metrics.
        quiet = np.errstate(over="ignore", divide="ignore", invalid="ignore")
        with Recorder(*sinks) as recorder, quiet:
            if resume and past is None:  # killed before the first snapshot: tell everything anew
                recorder.restore(Recorder().state())
            tally = Tally()
            aggregator = Aggregator(world, tickets, recorder, tally)
            keeper = Keeper(
                recorder,
                store,
                identity,
                spec.checkpoint_every,
                {"spec": identity, "seed": spec.seed},
                {"fingerprint": dict(fingerprint.facts)},
                past,
            )
            ready = perf_counter()
            ended, end = _live(world, spec, tickets, aggregator, tally, keeper, realtime)
            model = world.algorithm.model(aggregator.state)
            result = Result(
                spec_digest=identity,
                metrics_digest=recorder.metrics_digest,
                evaluation_digest=recorder.evaluation_digest,
                model_digest=_digest_of(model),
                model=model,
                metrics=aggregator.metrics,
                counts=tally.counts(),
                ended=ended,
                timing={
                    "wall": perf_counter() - started[0],
                    "cpu": process_time() - started[1],
                    "setup": ready - started[0],
                    "stacks": tickets.stacks,
                    "mean_stack": tickets.stacked / tickets.stacks if tickets.stacks else 0.0,
                },
                resumed_from=None if past is None else past.meta["version"],
                changes=_changes(past, fingerprint),
                **end,
            )
        if folder is not None:
            finish(folder, result)
    return result


def _tickets(world: World, spec: JobSpec) -> TicketBook:
    memory = spec.algorithm.memory(world.problem)
    memories = None if memory is None else Memories(memory)
    return TicketBook(spec.compute.engine(world.problem), world.phases, memories)


def _live(
    world: World,
    spec: JobSpec,
    tickets: TicketBook,
    aggregator: Aggregator,
    tally: Tally,
    keeper: Keeper,
    realtime: float | None,
) -> tuple[str, dict[str, Any]]:
    async def main() -> tuple[str, dict[str, Any]]:
        server = Server(world, tickets, aggregator, tally)
        ended = await live(server, spec.cadence, keeper)
        trace = server.trace
        return ended, {
            "rounds": server.version,
            "events": trace.count,
            "event_digest": trace.digest(),
            "time": kernel.now(),
        }

    try:
        return kernel.run(main(), start=keeper.start, realtime=realtime)
    except Deadlock as error:
        raise NeverAnswers(
            "the server waits for clients that will never answer; give the cadence a deadline, or "
            f"the run a horizon in seconds ({str(error).splitlines()[0]})"
        ) from error


def _changes(past: Snapshot | None, present: Fingerprint) -> tuple[str, ...]:
    if past is None:
        return ()
    return tuple(Fingerprint(past.meta["fingerprint"]).changes(present))


def _digest_of(tree: Any) -> str:
    bytes_of = (np.ascontiguousarray(leaf).tobytes() for leaf in leaves(tree))
    return blake2b(b"".join(bytes_of), digest_size=16).hexdigest()
