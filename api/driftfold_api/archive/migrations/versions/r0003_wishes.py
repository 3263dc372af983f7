"""What users wished while the job store was away, and which archive this is."""

import uuid

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns and the name of the archive; all jobs that are there were sent."""
    op.add_column("jobs", sa.Column("sent", sa.Boolean, nullable=False, server_default=sa.true()))
    op.add_column("jobs", sa.Column("wish", sa.String(8)))
    op.add_column("jobs", sa.Column("lost", sa.BigInteger, nullable=False, server_default="0"))
    op.create_index(
        "jobs_by_wish",
        "jobs",
        ["wish"],
        sqlite_where=sa.text("wish IS NOT NULL"),
        postgresql_where=sa.text("wish IS NOT NULL"),
    )
    identity = op.create_table("identity", sa.Column("id", sa.String(36), primary_key=True))
    op.bulk_insert(identity, [{"id": str(uuid.uuid4())}])
