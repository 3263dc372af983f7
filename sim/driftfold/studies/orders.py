"""What a process of the crew is asked to do: run a cell, or measure how fast one would be."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from driftfold.errors import DataError, DriftfoldError
from driftfold.folder import only_writer
from driftfold.rates.recording import VARIABLE
from driftfold.run import Ask, run
from driftfold.spec import digest, from_mapping
from driftfold.studies.logbook import Note, State, clear, read_note, software_of, state_of
from driftfold.studies.rates import Rate, Stopwatch
from driftfold.studies.telling import Tell, Telling

OUTLIVES = 30.0
"""Seconds: more than a process of a study that was killed is there."""


@dataclass(frozen=True)
class Outcome:
    """What came of an order.

    Attributes
    ----------
    ended
        "done", "stopped", "failed", or "no data".
    about
        The reason of a failure.
    seconds
        Wall time that it took now.
    rate
        What was measured, if that was asked.
    """

    ended: str
    about: str = ""
    seconds: float = 0.0
    rate: Rate | None = None


@dataclass(frozen=True)
class RunCell:
    """Run a specification in its folder, from where it stopped if it has begun.

    `reads` is the folder of a finished run that the specification names by its digest.
    """

    spec: Mapping[str, Any]
    folder: Path
    reads: Path | None = None

    def carry_out(self, stop: Ask, tell: Tell) -> Outcome:
        """Run until the end, or until `stop` answers True after a round; then go on later."""
        spec = from_mapping(self.spec)
        identity, software = digest(spec), software_of(spec)
        with only_writer(self.folder, patience=OUTLIVES):
            pass  # a process of a study that was killed may be in its last round
        before = read_note(self.folder)
        resume = state_of(self.folder, identity, software) is State.BEGUN
        if before is None or not resume or not before.software:  # a service's run has no snapshots
            clear(self.folder)
            resume, before = False, Note(identity, software)
        before.write(self.folder)
        started, used = perf_counter(), process_time()
        progress = Telling(tell)
        with _finding(self.reads):
            result = run(
                spec,
                folder=self.folder,
                resume=resume,
                sinks=[progress],
                stop=stop,
                checkpoint=progress.snapshot_due,
            )
        replace(before, seconds=before.seconds + process_time() - used).write(self.folder)
        ended = "stopped" if result.ended == "stopped" else "done"
        return Outcome(ended, seconds=perf_counter() - started)


@dataclass(frozen=True)
class Measure:
    """Measure how fast a specification runs, without a trace on the disk."""

    spec: Mapping[str, Any]
    seconds: float
    reads: Path | None = None

    def carry_out(self, stop: Ask, tell: Tell) -> Outcome:
        """Run a few rounds for about so many seconds after the start."""
        watch = Stopwatch(self.seconds)
        with _finding(self.reads):
            run(from_mapping(self.spec), sinks=[watch], stop=lambda: watch.over or stop())
        return Outcome("done", rate=watch.rate())


Order = RunCell | Measure


@contextmanager
def _finding(folder: Path | None) -> Iterator[None]:
    """Let a run find the one in `folder` by its digest, wherever else runs are looked for."""
    before = os.environ.get(VARIABLE)
    if folder is not None:
        os.environ[VARIABLE] = os.pathsep.join(filter(None, (str(folder), before)))
    try:
        yield
    finally:
        os.environ.pop(VARIABLE, None)
        if before is not None:
            os.environ[VARIABLE] = before


def carry_out(order: Order, stop: Ask, tell: Tell) -> Outcome:
    """Carry an order out; what goes wrong with it is its outcome and stops nobody else."""
    try:
        return order.carry_out(stop, tell)
    except DataError as error:
        return Outcome("no data", str(error))
    except DriftfoldError as error:
        return Outcome("failed", str(error))
    except Exception as error:
        return Outcome("failed", f"{type(error).__name__}: {error}")
