"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("needs", sa.Text, nullable=False),
        sa.Column("horizon_rounds", sa.BigInteger),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("started", sa.Double),
        sa.Column("finished", sa.Double),
        sa.Column("attempt", sa.BigInteger, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("events", sa.BigInteger, nullable=False),
        sa.Column("rounds", sa.BigInteger, nullable=False),
        sa.Column("checkpoint", sa.Text),
        sa.Column("result", sa.Text),
    )
    op.create_index("jobs_by_state", "jobs", ["state", "id"])
    op.create_table(
        "attempts",
        _job(primary_key=True),
        sa.Column("epoch", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("attempt", sa.BigInteger, nullable=False),
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("resumed", sa.Boolean, nullable=False),
        sa.Column("started", sa.Double, nullable=False),
        sa.Column("ended", sa.Double),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("first", sa.BigInteger, nullable=False),
        sa.Column("last", sa.BigInteger),
    )
    op.create_table(
        "records",
        _job(primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("record", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "lifecycle",
        _job(primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("time", sa.Double, nullable=False),
        sa.Column("facts", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "idempotency",
        sa.Column("key", sa.String(255), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False),
        _job(),
        sa.Column("created", sa.Double, nullable=False),
    )
    op.create_index("ix_idempotency_job", "idempotency", ["job"])
    recorder = op.create_table(
        "recorder",
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("fence", sa.BigInteger, nullable=False),
    )
    op.bulk_insert(recorder, [{"id": 1, "fence": 0}])


def _job(*, primary_key: bool = False) -> "sa.Column[str]":
    owner = sa.ForeignKey("jobs.id", ondelete="CASCADE")
    return sa.Column("job", sa.String(36), owner, primary_key=primary_key, nullable=False)
