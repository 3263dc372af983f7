"""What the archive forgets by itself: jobs that are over for long, and old idempotency keys."""

from sqlalchemy import Connection, delete, select, update

from driftfold_api.archive.accepting import KEEP
from driftfold_api.archive.base import Wish
from driftfold_api.archive.group_tables import group_keys
from driftfold_api.archive.reading import OVER, there
from driftfold_api.archive.tables import idempotency, jobs

BATCH = 100  # jobs that one transaction marks
KEYS = 1000  # idempotency keys that one removes


def retire(connection: Connection, before: float) -> int:
    """Delete some of the jobs that were over before a time, and return how many.

    Their rows go like those of any deleted job.
    """
    old = list(
        connection.scalars(
            select(jobs.c.id)
            # A job is not over before it is made: the oldest ids are enough to look at.
            .where(jobs.c.id < first_id(before), jobs.c.state.in_(OVER))
            .where(jobs.c.finished < before, there())
            .order_by(jobs.c.id)
            .limit(BATCH)
        )
    )
    connection.execute(update(jobs).where(jobs.c.id.in_(old)).values(wish=Wish.DELETE))
    connection.execute(delete(idempotency).where(idempotency.c.job.in_(old)))
    return len(old)


def sweep(connection: Connection, now: float) -> bool:
    """Remove some idempotency keys that count no more; whether there may be others."""
    more = False
    for keys in (idempotency, group_keys):
        old = select(keys.c.key).where(keys.c.created < now - KEEP).limit(KEYS)
        more |= connection.execute(delete(keys).where(keys.c.key.in_(old))).rowcount == KEYS
    return more


def first_id(moment: float) -> str:
    """Return an id that is before those of all jobs made after a time.

    >>> first_id(1_700_000_000.0)
    '018bcfe5-6800-7000-8000-000000000000'
    """
    digits = f"{max(0, int(moment * 1000)):012x}"
    return f"{digits[:8]}-{digits[8:]}-7000-8000-000000000000"
