"""The tables of groups: jobs that were made by one request."""

from sqlalchemy import BigInteger, Boolean, Column, Double, ForeignKey, Index, String, Table, Text

from driftfold_api.archive.tables import metadata

groups = Table(
    "groups",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("name", Text, nullable=False),
    Column("spec", Text, nullable=False),
    Column("sweep", Text, nullable=False),
    Column("stop", Text),
    Column("size", BigInteger, nullable=False),
    Column("created", Double, nullable=False),
    Column("open", Boolean, nullable=False),
    Column("ended", Text, nullable=False),
    Column("spared", BigInteger, nullable=False),
    Index("groups_open", "open", "id"),
)

children = Table(
    "children",
    metadata,
    Column("job_group", ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("job", ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("point", Text, nullable=False),
    Column("judged", BigInteger, nullable=False),
    Column("stopped", Text, nullable=False),
    sqlite_with_rowid=False,
)

group_keys = Table(
    "group_keys",
    metadata,
    Column("key", String(255), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("job_group", ForeignKey("groups.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("created", Double, nullable=False),
)
