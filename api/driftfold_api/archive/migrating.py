"""Bringing the tables of an archive up to date."""

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from driftfold_api.archive.base import ArchiveError
from driftfold_api.archive.database import Database
from driftfold_api.archive.tables import metadata

HEAD = "0006"
"""The revision that `tables` describes."""
FOLDER = Path(__file__).parent / "migrations"


def migrate(connection: Connection, database: Database) -> None:
    """Bring the tables up to date, inside the transaction of a connection.

    Raises
    ------
    ArchiveError
        A later version of driftfold has made them.
    """
    if revision_of(connection) == HEAD:
        return
    database.lock_schema(connection)
    found = revision_of(connection)  # whoever had the lock before may have done it
    if found == HEAD:
        return

    # Slow to import, and needed once in the life of an archive.
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(FOLDER)
    known = {revision.revision for revision in script.walk_revisions()}
    if found is not None and found not in known:
        raise ArchiveError(
            f"the archive has tables of revision {found}, and this version of driftfold knows "
            f"those up to {HEAD}: a later version has used it; use that one, or another archive"
        )
    steps = EnvironmentContext(
        Config(), script, fn=lambda at, _: script._upgrade_revs(HEAD, at), destination_rev=HEAD
    )
    with steps:
        steps.configure(connection=connection, target_metadata=metadata)
        steps.run_migrations()


def revision_of(connection: Connection) -> str | None:
    """Return the revision of the tables; None where there are none."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found
