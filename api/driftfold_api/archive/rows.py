"""Jobs and lifecycle events as rows."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row

from driftfold_api.archive.base import Wish
from driftfold_api.models import Attempt
from driftfold_workers.jobs.canonical import to_json
from driftfold_workers.jobs.job import Job, LifecycleEvent, State
from driftfold_workers.jobs.terms import Terms
from driftfold_workers.jobs.usage import Usage


def to_row(job: Job) -> dict[str, Any]:
    """Return the row of a job of which nothing has happened yet."""
    return {
        "id": job.id,
        "name": job.name,
        "spec": to_json(job.spec),
        "needs": to_json(job.needs),
        "horizon_rounds": job.horizon_rounds,
        "created": job.created,
        "seq": job.seq,
        "events": 0,
        "terms": to_json(job.terms.to_table()),
        "job_group": job.group,
        "origin": None if job.origin is None else to_json(job.origin),
        **changing(job),
    }


def changing(job: Job) -> dict[str, Any]:
    """Return what of a job changes in its life, beside its log."""
    return {
        "state": str(job.state),
        "reason": plain(job.reason),
        "started": job.started,
        "finished": job.finished,
        "attempt": job.attempt,
        "epoch": job.epoch,
        "worker": plain(job.worker),
        "rounds": job.rounds,
        "checkpoint": job.checkpoint,
        "result": None if job.result is None else json.dumps(job.result, default=dict),
        "dead": job.dead,
        "diverged": job.diverged,
        "used_cpu": job.used.cpu,
        "used_wall": job.used.wall,
    }


def to_job(row: Row[Any]) -> Job:
    """Return the job of a row."""
    return Job(
        id=row.id,
        spec=json.loads(row.spec),
        needs=tuple(json.loads(row.needs)),
        state=State(row.state),
        reason=row.reason,
        name=row.name,
        created=row.created,
        started=row.started,
        finished=row.finished,
        attempt=row.attempt,
        epoch=row.epoch,
        worker=row.worker,
        seq=row.seq,
        rounds=row.rounds,
        horizon_rounds=row.horizon_rounds,
        checkpoint=row.checkpoint,
        result=None if row.result is None else json.loads(row.result),
        terms=Terms.from_table(json.loads(row.terms)),
        group=row.job_group,
        origin=None if row.origin is None else json.loads(row.origin),
        dead=row.dead,
        diverged=row.diverged,
        retried_by=row.retried_by or "",
        pausing=row.wish == Wish.PAUSE and row.state in (State.QUEUED, State.RUNNING),
        used=Usage(row.used_cpu, row.used_wall),
    )


def event_row(job: str, event: LifecycleEvent) -> Mapping[str, Any]:
    """Return the row of a lifecycle event."""
    return {
        "job": job,
        "number": event.number,
        "kind": event.kind,
        "time": event.time,
        "facts": to_json(event.facts),
    }


def to_event(row: Row[Any]) -> LifecycleEvent:
    """Return the lifecycle event of a row."""
    return LifecycleEvent(row.number, row.kind, row.time, json.loads(row.facts))


def attempt_row(job: str, attempt: Attempt) -> dict[str, Any]:
    """Return the row of an attempt."""
    ended = None if attempt.ended is None else attempt.ended.timestamp()
    moments = {"started": attempt.started.timestamp(), "ended": ended}
    return {"job": job, **attempt.model_dump(), **moments}


def to_attempt(row: Row[Any]) -> Attempt:
    """Return the attempt of a row."""
    ended = None if row.ended is None else datetime.fromtimestamp(row.ended, UTC)
    facts = {name: value for name, value in row._mapping.items() if name != "job"}
    return Attempt(**{**facts, "started": datetime.fromtimestamp(row.started, UTC), "ended": ended})


def plain(text: str) -> str:
    r"""Return text that every database takes: PostgreSQL has no NUL.

    >>> plain("out of\x00memory")
    'out of�memory'
    """
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
