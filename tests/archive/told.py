"""What tests have jobs tell."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from driftfold_api.archive.base import Archive, Wanted
from driftfold_workers.jobs.excerpt import Excerpt
from driftfold_workers.jobs.job import Job, LifecycleEvent, State

WANTED = Wanted({"task": {"kind": "pca"}, "seed": 7, "label": "Frühling"}, ["task:pca"], "häß", 40)


def lines(first: int, last: int, note: str = "") -> list[bytes]:
    """Records `first` to `last`, each a JSON text."""
    return [json.dumps({"seq": seq, "note": note}).encode() for seq in range(first, last + 1)]


def event(number: int, kind: str, **facts: Any) -> LifecycleEvent:
    return LifecycleEvent(number, kind, 1.8e9 + number, facts)


def running(job: Job, **facts: Any) -> Job:
    told = {"attempt": 1, "epoch": 1, "worker": "anne", "started": job.created + 1.0}
    return replace(job, state=State.RUNNING, **{**told, **facts})


def excerpt(
    job: Job, first: int = 1, records: Sequence[bytes] = (), events: Sequence[LifecycleEvent] = ()
) -> Excerpt:
    return Excerpt(job, first, records, events)


async def accepted(archive: Archive, wanted: Wanted = WANTED) -> Job:
    job, new = await archive.accept(wanted)
    assert new
    return job
