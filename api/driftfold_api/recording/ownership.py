"""Ownership: a job store belongs to one archive, for whatever that has may be trimmed there."""

from driftfold_api.archive.base import Archive
from driftfold_workers.jobs.store import ForeignStore
from driftfold_workers.window.window import RedisWindow


async def check_owner(window: RedisWindow, archive: Archive, *, take: bool = False) -> None:
    """Raise `ForeignStore` unless the job store is the archive's; one that is nobody's becomes so.

    `take` takes it over from an archive that is lost.
    """
    owner = await window.own(archive.id, take=take)
    if owner != archive.id:
        raise ForeignStore(
            f"the job store belongs to the archive {owner}, and this one is {archive.id}: start "
            "the service with that archive, or with another job store; if that archive is lost, "
            "`driftfold serve --adopt` takes its jobs over"
        )
