"""The tables of the archive, as the code that is running knows them; see `migrations`."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    MetaData,
    String,
    Table,
    Text,
    false,
    text,
    true,
)

metadata = MetaData()

WISHED = "wish IS NOT NULL"

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("name", Text, nullable=False),
    Column("spec", Text, nullable=False),
    Column("needs", Text, nullable=False),
    Column("horizon_rounds", BigInteger),
    Column("created", Double, nullable=False),
    Column("state", String(16), nullable=False),
    Column("reason", Text, nullable=False),
    Column("started", Double),
    Column("finished", Double),
    Column("attempt", BigInteger, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("worker", Text, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("events", BigInteger, nullable=False),
    Column("rounds", BigInteger, nullable=False),
    Column("checkpoint", Text),
    Column("result", Text),
    Column("terms", Text, nullable=False, server_default="{}"),
    Column("job_group", String(36), nullable=False, server_default=""),
    Column("origin", Text),
    Column("dead", Boolean, nullable=False, server_default=false()),
    Column("diverged", BigInteger),
    Column("used_cpu", Double, nullable=False, server_default="0"),
    Column("used_wall", Double, nullable=False, server_default="0"),
    Column("sent", Boolean, nullable=False, server_default=true()),
    Column("wish", String(8)),
    Column("lost", BigInteger, nullable=False, server_default="0"),
    Column("retried_by", String(36)),
    Index("jobs_by_state", "state", "id"),
    Index("jobs_by_wish", "wish", sqlite_where=text(WISHED), postgresql_where=text(WISHED)),
    Index("jobs_dead", "dead", "id"),
)


def _job() -> Column[str]:
    return Column("job", ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)


attempts = Table(
    "attempts",
    metadata,
    _job(),
    Column("epoch", BigInteger, primary_key=True, autoincrement=False),
    Column("attempt", BigInteger, nullable=False),
    Column("worker", Text, nullable=False),
    Column("resumed", Boolean, nullable=False),
    Column("started", Double, nullable=False),
    Column("ended", Double),
    Column("outcome", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("first", BigInteger, nullable=False),
    Column("last", BigInteger),
)

records = Table(
    "records",
    metadata,
    _job(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("record", Text, nullable=False),
    sqlite_with_rowid=False,
)

lifecycle = Table(
    "lifecycle",
    metadata,
    _job(),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("time", Double, nullable=False),
    Column("facts", Text, nullable=False),
    sqlite_with_rowid=False,
)

idempotency = Table(
    "idempotency",
    metadata,
    Column("key", String(255), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("job", ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("created", Double, nullable=False),
)

recorder = Table(
    "recorder",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("fence", BigInteger, nullable=False),
)

identity = Table("identity", metadata, Column("id", String(36), primary_key=True))
