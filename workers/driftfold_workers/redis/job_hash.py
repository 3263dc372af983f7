"""Jobs and lifecycle events as Redis keeps them: flat fields of text."""

import json
from collections.abc import Mapping, Sequence

from driftfold_workers.jobs.canonical import to_json
from driftfold_workers.jobs.job import Job, LifecycleEvent, State
from driftfold_workers.jobs.new_id import number_of
from driftfold_workers.jobs.place import place_of
from driftfold_workers.jobs.terms import Terms
from driftfold_workers.jobs.usage import Usage

NUMBERS = {"attempt": int, "epoch": int, "seq": int, "record": int, "retry": float}
"""Facts that are no text."""


def to_hash(job: Job) -> Sequence[str | int | float]:
    """Return the fields of a job that is to be queued, names and values in turn."""
    terms = job.terms
    held = bool(terms.after) and job.started is None
    fields = {
        "number": number_of(job.id),
        "place": place_of(job.id, terms.priority),
        "spec": to_json(job.spec),
        "needs": to_json(job.needs),
        "name": job.name,
        "horizon_rounds": job.horizon_rounds,
        "created": job.created,
        "reason": "",
        "held": waits_for(terms.after) if held else None,
        "attempts": terms.attempts,
        "not_before": None if terms.not_before is None else round(terms.not_before * 1000),
        "seq": job.seq,
        "rounds": job.rounds,
        "attempt": job.attempt,
        "epoch": job.epoch,
        "worker": job.worker,
        "checkpoint": job.checkpoint,
        "started": job.started,
        "terms": to_json(terms.to_table()),
        "group": job.group or None,
        "origin": None if job.origin is None else to_json(job.origin),
        "diverged": job.diverged,
        "used_cpu": job.used.cpu or None,
        "used_wall": job.used.wall or None,
    }
    return [part for pair in fields.items() if pair[1] is not None for part in pair]  # type: ignore[misc]


def waits_for(jobs: Sequence[str]) -> str:
    """Say which jobs another one waits for.

    >>> waits_for(["0192"]), waits_for(["0192", "0193", "0194"])
    ('waits for job 0192', 'waits for job 0192 and 2 more')
    """
    return f"waits for job {jobs[0]}" + (f" and {len(jobs) - 1} more" if len(jobs) > 1 else "")


def to_job(job: str, raw: Sequence[bytes] | Mapping[bytes, bytes]) -> Job:
    """Return the job of a hash: a mapping, or the flat list that a script returns."""
    if not isinstance(raw, Mapping):
        raw = dict(zip(raw[::2], raw[1::2], strict=True))
    fields = {name.decode(): value.decode() for name, value in raw.items()}
    return Job(
        id=job,
        spec=json.loads(fields["spec"]),
        needs=tuple(json.loads(fields["needs"])),
        state=State(fields["state"]),
        reason=fields["reason"],
        name=fields["name"],
        created=float(fields["created"]),
        started=_time(fields, "started"),
        finished=_time(fields, "finished"),
        attempt=int(fields["attempt"]),
        epoch=int(fields["epoch"]),
        worker=fields["worker"],
        seq=int(fields["seq"]),
        rounds=int(fields["rounds"]),
        horizon_rounds=_number(fields, "horizon_rounds"),
        checkpoint=fields.get("checkpoint"),
        result=json.loads(fields["result"]) if "result" in fields else None,
        due=_time(fields, "due"),
        pausing="pausing" in fields,
        terms=Terms.from_table(json.loads(fields["terms"])) if "terms" in fields else Terms(),
        group=fields.get("group", ""),
        origin=json.loads(fields["origin"]) if "origin" in fields else None,
        dead="dead" in fields,
        diverged=_number(fields, "diverged"),
        used=Usage(float(fields.get("used_cpu", 0)), float(fields.get("used_wall", 0))),
        held="held" in fields,
    )


def to_event(number: bytes, raw: Mapping[bytes, bytes]) -> LifecycleEvent:
    """Return the event of an entry of the stream; empty facts are left out."""
    fields = {name.decode(): value.decode() for name, value in raw.items() if value}
    kind, time = fields.pop("kind"), float(fields.pop("time"))
    facts = {name: NUMBERS.get(name, str)(text) for name, text in fields.items()}
    return LifecycleEvent(int(number.partition(b"-")[0]), kind, time, facts)


def _number(fields: Mapping[str, str], name: str) -> int | None:
    return int(fields[name]) if fields.get(name) else None  # "" in jobs of an earlier version


def _time(fields: Mapping[str, str], name: str) -> float | None:
    return float(fields[name]) if name in fields else None
