"""Which job was made to try another one again."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, and an index of dead jobs."""
    op.add_column("jobs", sa.Column("retried_by", sa.String(36)))
    op.create_index("jobs_dead", "jobs", ["dead", "id"])
