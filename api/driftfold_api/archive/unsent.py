"""Jobs that were never sent to a job store: what users do to them happens here, at once."""

import time
from typing import Any

from sqlalchemy import Connection, insert, select, update

from driftfold_api.archive.rows import event_row
from driftfold_api.archive.tables import jobs, lifecycle
from driftfold_workers.jobs.job import Job, LifecycleEvent, State


def move(connection: Connection, job: Job, state: State, kind: str, **more: Any) -> bool:
    """Bring a job into a state, and tell it as the job store would; False where that may know it.

    And where the job is in another state by now.

    `more` are further columns.
    """
    # Whoever sends it, or moves it too, waits for this row: it is one after the other.
    mine = select(jobs.c.events).where(
        jobs.c.id == job.id, jobs.c.sent.is_(False), jobs.c.state == str(job.state)
    )
    known = connection.execute(mine.with_for_update()).scalar()
    if known is None:
        return False
    now = round(time.time(), 6)
    told = []
    if not known:
        begun = {"name": job.name} if job.name else {}
        told.append(LifecycleEvent(1, "submitted", job.created, begun))
    last = known + len(told) + 1
    told.append(LifecycleEvent(last, kind, now, {"attempt": 0, "epoch": 0, "seq": job.seq}))
    if state.final:
        more |= {"finished": now}
    values = {"state": str(state), "reason": "", "events": last, **more}
    connection.execute(update(jobs).where(jobs.c.id == job.id).values(**values))
    connection.execute(insert(lifecycle), [dict(event_row(job.id, event)) for event in told])
    return True
