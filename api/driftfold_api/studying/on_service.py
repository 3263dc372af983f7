"""The cells of a study as jobs of a service, with their results in the same folders."""

import json
import time
import uuid
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path

from driftfold.folder import MODEL, RESULT, SPEC
from driftfold.studies.cells import Cell
from driftfold.studies.crew import Advanced, Ended, Event, Started
from driftfold.studies.logbook import Note, clear, read_note
from driftfold.studies.orders import Outcome
from driftfold.telemetry.jsonl import JsonLines
from driftfold.telemetry.reader import LOG
from driftfold_api.client import Client
from driftfold_api.errors import Refused
from driftfold_api.models import JobDetail
from driftfold_workers.artefacts.runs import CONFIG
from driftfold_workers.jobs.job import State

POLL_EVERY = 0.5  # seconds
_UNSEEN = "which the workers of a service do not see; run this experiment without --service"
WATCHED = 16  # jobs asked about at a time: workers take the oldest first


@dataclass(frozen=True)
class OnService:
    """Submits cells, and fetches what came of them. A study that is cut short finds its jobs again.

    Attributes
    ----------
    client
        Talks to the service.
    root
        The study's folder.
    """

    client: Client
    root: Path

    def work(self, cells: list[Cell]) -> Generator[Event[Cell], None, None]:
        """Submit all cells, the first ones first, and yield what happens until all are over."""
        jobs: dict[str, tuple[Cell, str]] = {}
        begun: set[str] = set()
        for cell in cells:
            if cell.reads:
                yield Ended(cell, Outcome("failed", f"it reads the run {cell.reads}, {_UNSEEN}"))
                continue
            try:
                jobs[cell.place] = cell, self._job(cell)
            except Refused as refusal:
                yield Ended(cell, Outcome("failed", str(refusal)))
        while jobs:
            for cell, job in list(jobs.values())[:WATCHED]:
                known = self.client.get(job)
                if known.state.final:
                    del jobs[cell.place]
                    yield Ended(cell, self._outcome(cell, known))
                elif known.state is State.RUNNING:
                    if job not in begun:
                        begun.add(job)
                        yield Started(cell)
                    yield Advanced(cell, known.progress.rounds)
            if jobs:
                time.sleep(POLL_EVERY)

    def _job(self, cell: Cell) -> str:
        """Return the id of the cell's job: the one noted, unless it failed, or a new one."""
        folder = cell.folder(self.root)
        note = read_note(folder)
        if note is not None and note.job and note.spec == cell.digest:
            try:
                if self.client.get(note.job).state not in (State.FAILED, State.CANCELED):
                    return note.job
            except Refused:  # the service has forgotten it
                pass
        if note is None or note.spec != cell.digest or note.job or not note.key:
            clear(folder)
            note = Note(cell.digest, software="", key=str(uuid.uuid4()))
            note.write(folder)  # before it is used: whoever is killed meanwhile submits no second
        job = self.client.submit(cell.spec, name=cell.name, idempotency_key=note.key)
        replace(note, job=job.id).write(folder)
        return job.id

    def _outcome(self, cell: Cell, job: JobDetail) -> Outcome:
        if job.state is not State.SUCCEEDED:
            return Outcome("failed", f"job {job.id} {job.state}: {job.reason}")
        folder = cell.folder(self.root)
        result = self.client.result(job.id)
        wall, used = (float(result["timing"].get(name, 0.0)) for name in ("wall", "cpu"))
        self._fetch_log(job.id, folder)
        for name, artefact in ((SPEC, CONFIG), (MODEL, MODEL)):
            (folder / name).write_bytes(self.client.artefact(job.id, artefact))
        note = Note(cell.digest, software="", seconds=used, job=job.id)
        note.write(folder)
        (folder / RESULT).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
        return Outcome("done", seconds=wall)

    def _fetch_log(self, job: str, folder: Path) -> None:
        (folder / LOG).unlink(missing_ok=True)
        log, after = JsonLines(folder), 0
        try:
            while True:
                part = self.client.records(job, after=after)
                for record in part.records:
                    log.emit(replace(record, detail=None))
                if part.complete and part.last == after:
                    return
                after = part.last
        finally:
            log.close()
