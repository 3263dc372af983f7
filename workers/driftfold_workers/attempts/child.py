"""The process that runs one attempt: ``python -m driftfold_workers.attempts.child PIPE PARENT``.

It reads its order, one line, from standard input and tells what happens on the pipe whose file
descriptor it is given. Further lines of input confirm snapshots; its input's end means that its
supervisor is gone. Where it can be, it is forked from a template instead (see `template`).
"""

import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import IO, NoReturn

from driftfold.checkpoint.base import Snapshot
from driftfold.errors import (
    CheckpointError,
    DataError,
    ManifoldError,
    RunError,
    SpecError,
)
from driftfold.run import run
from driftfold.spec import from_mapping, load_builtins, load_plugins, to_mapping
from driftfold.torch_lazily import load_torch
from driftfold_workers.artefacts.confirmed import Confirmation, ConfirmedStore
from driftfold_workers.artefacts.data_paths import refuse_foreign_paths
from driftfold_workers.artefacts.rounds import Rounds
from driftfold_workers.artefacts.runs import Runs, attempt_name, job_of
from driftfold_workers.artefacts.with_rounds import WithRounds
from driftfold_workers.attempts.blame import is_machines_fault, reason_of
from driftfold_workers.attempts.guardian import (
    die_with,
    go_first_when_memory_is_short,
    limit_cpu,
    limit_memory,
    name_process,
)
from driftfold_workers.attempts.messages import Begun, Done, Failed, Message, Stopped
from driftfold_workers.attempts.order import Order
from driftfold_workers.attempts.pipe_sink import PipeSink, send
from driftfold_workers.attempts.rhythm import Rhythm
from driftfold_workers.jobs.needs import computes_with_torch, needs_of

NAME = "driftfold-job"
"""What `ps` and `top` call it: forked ones have the command line of their template."""
FINAL = (SpecError, DataError, ManifoldError, RunError)
"""Errors that are facts about the experiment: whoever runs it again meets them again."""


def main() -> None:
    """Run the one attempt that this process is for, and exit."""
    load_builtins()
    live(int(sys.argv[1]), int(sys.argv[2]))


def live(pipe: int, parent: int) -> NoReturn:
    """Carry out the order that comes, as a child of `parent`, and exit."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda number, frame: stop.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the supervisor to hear
    os.set_inheritable(pipe, False)  # no process that a plug-in starts shall hold it open
    name_process(NAME)
    go_first_when_memory_is_short()
    line = sys.stdin.buffer.readline()
    if line:
        die_with(parent)  # not before: one that is forked has been adopted by now
        order = Order.from_line(line)
        confirmation = Confirmation()
        listener = (sys.stdin.buffer, confirmation)
        threading.Thread(target=_listen, args=listener, daemon=True).start()
        send(pipe, attempt(order, pipe, confirmation, stop))
    # Not sys.exit: threads and exit handlers of plug-ins must not hold the slot.
    os._exit(0)


def attempt(order: Order, pipe: int, confirmation: Confirmation, stop: threading.Event) -> Message:
    """Carry out an order; return what came of it."""
    try:
        limit_memory(order.memory)
        _divert_output(Path(order.output))
        runs = Runs.at(order.runs)
        try:
            load_plugins(order.plugins)
        except SpecError as error:  # of this worker, not of the job
            return Failed(str(error), traceback.format_exc(), final=False, machine=True)
        return _run(order, runs, pipe, confirmation, stop)
    except BaseException as error:
        trace = "".join(traceback.format_exception(error))
        with suppress(OSError):  # a full disk takes no traceback
            sys.stderr.write(trace)
        machine = is_machines_fault(error)
        final = isinstance(error, FINAL) and not machine
        hint = f"; {order.memory_hint}" if isinstance(error, MemoryError) else ""
        return Failed(reason_of(error) + hint.rstrip("; "), trace, final, machine)
    finally:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()


def _run(
    order: Order, runs: Runs, pipe: int, confirmation: Confirmation, stop: threading.Event
) -> Message:
    spec = from_mapping(order.spec)
    refuse_foreign_paths(spec, order.data)
    if computes_with_torch(needs_of(spec)):
        load_torch()  # else its import would be the job's
    send(pipe, Begun(time.process_time()))
    limit_cpu(order.cpu)
    table = to_mapping(spec)
    runs.configure(order.job, table)
    name, rhythm = attempt_name(order.job, order.epoch), Rhythm()
    rounds = Rounds(runs.of(order.job), name)
    result = run(
        spec,
        sinks=[PipeSink(pipe, runs, order.job, rhythm), rounds],
        store=WithRounds(ConfirmedStore(runs.checkpoints(order.job), confirmation), rounds),
        name=name,
        past=_past(order, runs, rounds),
        stop=stop.is_set,
        checkpoint=lambda: confirmation.known and rhythm.due(),
    )
    if result.ended == "stopped":
        return Stopped()
    told = result.to_json()
    runs.publish(order.job, table, told, result.model, rounds)
    return Done(told)


def _past(order: Order, runs: Runs, rounds: Rounds) -> Snapshot | None:
    """Return the snapshot to go on from, if there is one, and take over its rounds."""
    if order.checkpoint is None:
        return None
    owner = job_of(order.checkpoint.partition(":")[0])  # another job if this one tries it again
    try:
        past = runs.load(order.checkpoint)
        rounds.go_on_from(past, None if owner == order.job else runs.of(owner))
    except CheckpointError as error:
        # That costs time and nothing else: the log drops the records that it has already.
        print(f"the run begins anew: {error}", file=sys.stderr)
        return None
    return past


def _divert_output(file: Path) -> None:
    """Let what plug-ins print, and what crashes leave behind, go to a file of the job."""
    file.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    output = os.open(file, flags, 0o644)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    faulthandler.enable()


def _listen(orders: IO[bytes], confirmation: Confirmation) -> None:
    for line in orders:
        confirmation.confirm(line.decode().strip())
    os._exit(1)  # the supervisor is gone


if __name__ == "__main__":
    main()
